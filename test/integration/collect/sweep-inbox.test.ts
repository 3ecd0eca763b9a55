import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { sweepInbox } from '../../../src/app/sweep-inbox.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { InboxEvent } from '../../../src/ports/inbox.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { InboxDesk } from '../../support/inbox-desk.ts';
import { NOTHING, NOW, anEvent, inboxDesk, newUser } from '../../support/inbox-desk.ts';

const SECOND_MS = 1_000;

let store: BillingStore;
let desk: InboxDesk;

beforeAll(async () => {
  store = await billingStore();
  desk = inboxDesk(store.client, store.tables);
});
afterAll(() => store.drop());

const received = (stream: InboxEvent['stream'], secondsAgo: number): InboxEvent =>
  anEvent(newUser(), 1, { stream, receivedAt: plusMs(NOW, -secondsAgo * SECOND_MS) });

describe('the sweep of the inbox', () => {
  const metrics = createMetrics();
  const sweep = (ensure: (event: InboxEvent) => Promise<void> = async () => undefined) =>
    sweepInbox({ ...desk, clock: { now: () => NOW }, log: NO_LOG, metrics, ensure });
  const figures = async (): Promise<string[]> =>
    (await metrics.text())
      .split('\n')
      .filter((line) => /^collections_(inbox|quarantine)/.test(line))
      .map((line) => line.replace('collections_', ''));

  it('tells how long the oldest event of each stream waits, and how many are in quarantine', async () => {
    await sweep();
    const nothing = [
      'inbox_oldest_seconds{stream="users"} 0',
      'inbox_oldest_seconds{stream="payments"} 0',
      'quarantine_events 0',
    ];
    expect(await figures()).toEqual(nothing);

    const oldest = received('users', 7_200);
    const others = [received('users', 90), received('payments', 600), received('payments', 30)];
    await desk.inbox.store([oldest, ...others]);
    expect(await sweep()).toBe(3);
    expect(await figures()).toEqual([
      'inbox_oldest_seconds{stream="users"} 7200',
      'inbox_oldest_seconds{stream="payments"} 600',
      'quarantine_events 0',
    ]);

    await desk.inbox.quarantine(oldest, 'cannot be applied', NOW);
    await desk.inbox.quarantineRaw(
      { ...received('users', 0), userId: null },
      Buffer.from('?'),
      'no JSON',
      NOW,
    );
    await sweep();
    expect(await figures()).toEqual([
      'inbox_oldest_seconds{stream="users"} 90',
      'inbox_oldest_seconds{stream="payments"} 600',
      'quarantine_events 2',
    ]);

    for (const event of others) await desk.inbox.saveApplied(event, NOTHING, NOW);
    for (const item of (await desk.quarantine.list(null)).items)
      await desk.quarantine.drop(item, { who: 'somebody', reason: 'seen', at: NOW });
    await sweep();
    expect(await figures()).toEqual(nothing);
  });

  it('tells it also while no job can be added', async () => {
    const waiting = received('payments', 300);
    await desk.inbox.store([waiting]);
    await expect(sweep(() => Promise.reject(new Error('Redis is full')))).rejects.toThrow('Redis is full');
    expect(await figures()).toContain('inbox_oldest_seconds{stream="payments"} 300');
  });
});
