import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { alsoToDatadog } from '../../../src/adapters/metrics/dogstatsd.ts';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { eventually } from '../../support/processes.ts';
import type { Metrics } from '../../../src/ports/metrics.ts';

let agent: ReturnType<typeof createSocket>;
let metrics: Metrics;
let heard: string[];

beforeEach(async () => {
  agent = createSocket('udp4');
  heard = [];
  agent.on('message', (message) => heard.push(message.toString()));
  agent.bind(0, '127.0.0.1');
  await once(agent, 'listening');
  metrics = alsoToDatadog(createMetrics(), { host: '127.0.0.1', port: agent.address().port });
});
afterEach(() => agent.close());

describe('metrics that go to Datadog as well', () => {
  it('tell of verdicts, charges and jobs with what they were about', async () => {
    metrics.verdict('INITIAL', 'collected', 'PINLESS');
    metrics.attempt('ACH', 'ACHSENT');
    metrics.job('janitor', 'done', 0.25);
    await eventually('all have arrived', () => heard.length === 3);
    expect(heard.sort()).toEqual([
      'collections.attempts:1|c|#rail:ACH,result:ACHSENT',
      'collections.job.duration_ms:250|d|#queue:janitor,end:done',
      'collections.verdicts:1|c|#path:INITIAL,verdict:collected',
    ]);
    expect(await metrics.text()).toContain('collections_attempts_total{rail="ACH",result="ACHSENT"} 1');
  });

  it('tell of each membership that was cancelled, and of nothing else', async () => {
    metrics.membershipApplied('SUB_PAUSED', 'changed', 'paused');
    metrics.membershipApplied('CANCEL', 'no-op', 'user-missing');
    const arrived = once(agent, 'message');
    metrics.membershipApplied('CANCEL', 'changed', 'cancellation-pending');
    await arrived;
    agent.send('that is all', agent.address().port, '127.0.0.1');
    await once(agent, 'message');
    expect(heard).toEqual(['memberships.user.cancelled:1|c', 'that is all']);
    expect(await metrics.text()).toContain(
      'collections_membership_events_total{type="CANCEL",result="changed",reason="cancellation-pending"} 1',
    );
  });

  it('do not mind an agent that cannot be found', async () => {
    const lost = alsoToDatadog(createMetrics(), { host: 'nobody.invalid' });
    lost.membershipApplied('CANCEL', 'changed', 'cancellation-pending');
    expect(await lost.text()).toContain('collections_membership_events_total{type="CANCEL"');
  });
});
