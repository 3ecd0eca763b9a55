import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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
  /** Each in the words of the port, what the agent hears of it, and what whoever scrapes reads. */
  const TOLD: readonly (readonly [(metrics: Metrics) => void, readonly string[], string])[] = [
    [
      (to) => to.verdict('INITIAL', 'collected', 'PINLESS'),
      ['collections.verdicts:1|c|#path:INITIAL,verdict:collected'],
      'collections_verdicts_total{path="INITIAL",verdict="collected",reason="PINLESS"} 1',
    ],
    [
      (to) => to.attempt('ACH', 'ACHSENT'),
      ['collections.attempts:1|c|#rail:ACH,result:ACHSENT'],
      'collections_attempts_total{rail="ACH",result="ACHSENT"} 1',
    ],
    [
      (to) => to.job('janitor', 'done', 0.25),
      ['collections.job.duration_ms:250|d|#queue:janitor,end:done'],
      'collections_job_duration_seconds_sum{queue="janitor",end="done"} 0.25',
    ],
    [
      (to) => to.httpRequest({ method: 'GET', route: '/v1/{user_id}', status: 200 }, 0.5),
      ['collections.http.request.duration_ms:500|d|#method:GET,route:/v1/{user_id},status:200'],
      'collections_http_request_duration_seconds_sum{method="GET",route="/v1/{user_id}",status="200"} 0.5',
    ],
    [
      (to) => to.lockBusy('RETRY'),
      ['collections.lock.busy:1|c|#path:RETRY'],
      'collections_lock_busy_total{path="RETRY"} 1',
    ],
    [
      (to) => to.processorBreaker('open'),
      ['collections.processor.breaker.open:1|g'],
      'collections_processor_breaker_open 1',
    ],
    [
      (to) => to.runStopped('retry'),
      ['collections.runs.stopped:1|c|#process:retry'],
      'collections_runs_stopped_total{process="retry"} 1',
    ],
    [
      (to) => to.runFinished('scheduled', 42),
      ['collections.run.duration_ms:42000|d|#process:scheduled'],
      'collections_run_duration_seconds_sum{process="scheduled"} 42',
    ],
    [
      (to) => to.membershipApplied('SUB_PAUSED', 'changed', 'paused'),
      ['collections.membership.events:1|c|#type:SUB_PAUSED,result:changed'],
      'collections_membership_events_total{type="SUB_PAUSED",result="changed",reason="paused"} 1',
    ],
    [
      (to) => to.membershipApplied('CANCEL', 'changed', 'cancelled'),
      ['collections.membership.events:1|c|#type:CANCEL,result:changed', 'memberships.user.cancelled:1|c'],
      'collections_membership_events_total{type="CANCEL",result="changed",reason="cancelled"} 1',
    ],
    [
      (to) => to.gatewayEvent('apple_iap', 'applied'),
      ['collections.gateway.events:1|c|#gateway:apple_iap,result:applied'],
      'collections_gateway_events_total{gateway="apple_iap",result="applied"} 1',
    ],
    [(to) => to.floatOverpaid(), ['collections.floats.overpaid:1|c'], 'collections_floats_overpaid_total 1'],
    [
      (to) => to.subscriptionOverpaid(),
      ['collections.subscriptions.overpaid:1|c'],
      'collections_subscriptions_overpaid_total 1',
    ],
    [
      (to) => to.achReturnRate('overall', 0.0125),
      ['collections.ach.return_rate:0.0125|g|#class:overall'],
      'collections_ach_return_rate{class="overall"} 0.0125',
    ],
    [
      (to) => to.streamRecord('users', 'stored'),
      ['collections.stream.records:1|c|#stream:users,fate:stored'],
      'collections_stream_records_total{stream="users",fate="stored"} 1',
    ],
    [
      (to) => to.streamLag('users', 'shard-1', 2_500),
      ['collections.stream.lag_ms:2500|g|#stream:users,shard:shard-1'],
      'collections_stream_lag_seconds{stream="users",shard="shard-1"} 2.5',
    ],
    [
      (to) => to.runUnderWay('retry', 7_200_000),
      ['collections.run.under_way_ms:7200000|g|#process:retry'],
      'collections_run_under_way_seconds{process="retry"} 7200',
    ],
    [
      (to) => to.inboxOldest('payments', 90_000),
      ['collections.inbox.oldest_ms:90000|g|#stream:payments'],
      'collections_inbox_oldest_seconds{stream="payments"} 90',
    ],
    [(to) => to.quarantineSize(3), ['collections.quarantine.events:3|g'], 'collections_quarantine_events 3'],
    [(to) => to.refundsRefused(2), ['collections.refunds.refused:2|g'], 'collections_refunds_refused 2'],
  ];

  it.each(TOLD)('%s', async (tell, told, scraped) => {
    tell(metrics);
    await eventually('it has arrived', () => heard.length >= told.length);
    agent.send('that is all', agent.address().port, '127.0.0.1');
    await eventually('nothing else comes', () => heard.includes('that is all'));
    expect(heard).toEqual([...told, 'that is all']);
    expect((await metrics.text()).split('\n')).toContain(scraped);
  });

  it('are documented by their names there', () => {
    const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
    for (const [, told] of TOLD)
      for (const line of told) expect(page).toContain(`\`${line.slice(0, line.indexOf(':'))}\``);
  });

  it('say nothing of a figure that there is no more', async () => {
    metrics.achReturnRate('overall', null);
    metrics.streamLag('users', 'shard-1', null);
    metrics.membershipApplied('CANCEL', 'no-op', 'user-missing');
    await eventually('the event has arrived', () => heard.length > 0);
    expect(heard).toEqual(['collections.membership.events:1|c|#type:CANCEL,result:no-op']);
  });

  it('do not mind an agent that cannot be found', async () => {
    const lost = alsoToDatadog(createMetrics(), { host: 'nobody.invalid' });
    lost.membershipApplied('CANCEL', 'changed', 'cancellation-pending');
    expect(await lost.text()).toContain('collections_membership_events_total{type="CANCEL"');
  });
});
