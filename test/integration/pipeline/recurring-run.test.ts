import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeRecurring } from '../../../src/adapters/dynamodb/recurring-items.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { AccountId, RecurringId } from '../../../src/domain/recurring/recurring.ts';
import type { CollectionStep } from '../../../src/ports/steps.ts';
import { day } from '../../support/floats.ts';
import { keepWorking } from '../../support/keep-working.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import type { RecurringDesk } from '../../support/recurring-desk.ts';
import { recurringDesk } from '../../support/recurring-desk.ts';
import { recurring } from '../../support/recurring.ts';
import { debits } from '../../support/world.ts';

const STEPS: readonly CollectionStep[] = ['locked', 'intent-written', 'charged', 'outcome-written'];

let system: Pipeline;
let desk: RecurringDesk;
beforeAll(async () => {
  // One at a time: who dies takes nobody along who was to die elsewhere.
  system = await pipeline({ COLLECTION_CONCURRENCY: '1' });
  desk = recurringDesk(system.here);
  system.here.now = TICK;
  for (const list of ['payments', 'reminders'] as const)
    await system.here.store.recurring.noteDueSince(list, day('2026-11-01'));
});
afterAll(() => system.close());

describe('runs of recurring payments', () => {
  it('tell of what is coming, and charge what was told of, with a receipt each', async () => {
    const due = await desk.subscription({}, { nextReminderDate: day('2026-11-16') });
    const accountId = due.accountId;
    const soon = await desk.subscription(
      {},
      {
        accountId,
        sku: 'sku-2',
        nextReminderDate: day('2026-11-15'),
        periodDate: day('2026-11-23'),
        nextPaymentDate: day('2026-11-23'),
      },
    );
    const worker = await system.worker();
    const reminders = await system.over((await system.start('recurring-reminders')).runId);
    expect(reminders.report).toMatchObject({ records: 2, byVerdict: { notified: { count: 2 } } });
    const payments = await system.over((await system.start('recurring-payments')).runId);
    expect(payments.report).toMatchObject({ records: 1, byVerdict: { collected: { count: 1 } } });
    await worker.stop();
    expect(await desk.told(due)).toHaveLength(2);
    expect((await desk.receipts(due)).map(({ sku, periodDate }) => [sku, periodDate])).toEqual([
      ['sku-1', '2026-11-16'],
    ]);
    expect(debits(await desk.ledger(due))).toBe(1);
    expect(await desk.row(soon)).toMatchObject({ nextReminderDate: null, nextPaymentDate: '2026-11-23' });
  });

  it('with workers that are killed at every step are completed: one debit, one receipt each', async () => {
    const victims = await Promise.all(STEPS.map(() => desk.subscription()));
    const soon = { nextReminderDate: day('2026-11-16'), nextPaymentDate: day('2026-11-23') };
    const told = await desk.subscription({}, { ...soon, periodDate: day('2026-11-23') });
    const crashPoints = [
      ...STEPS.map((step, index) => ({ step, userId: victims[index]!.accountId })),
      { step: 'locked' as const, userId: told.accountId },
    ].map((point) => ({ ...point, signal: 'SIGKILL' as const }));
    const tick = plusMs(TICK, 60_000);
    const reminders = system.over((await system.start('recurring-reminders', tick)).runId);
    const payments = system.over((await system.start('recurring-payments', tick)).runId);
    const deaths = await keepWorking(system, crashPoints, Promise.all([reminders, payments]));
    expect(deaths).toBe(crashPoints.length);

    expect((await reminders).report).toMatchObject({ records: 1, byVerdict: { notified: { count: 1 } } });
    expect(await desk.told(told)).toHaveLength(1);
    expect((await payments).report).toMatchObject({ records: 4, byVerdict: { collected: { count: 4 } } });
    for (const subscription of victims) {
      expect(debits(await desk.ledger(subscription))).toBe(1);
      expect(await desk.row(subscription)).toMatchObject({ nextPaymentDate: '2026-12-16' });
      expect((await desk.receipts(subscription)).map(({ number }) => number)).toEqual([1]);
    }
    expect(await system.audit()).toEqual([]);
  });
});

describe('2,000 payments on one day', () => {
  const DUE = 2_000;

  it('are read page by page and handed over once each', async () => {
    const date = day('2026-11-14');
    const items = Array.from({ length: DUE }, (_, n) =>
      recurring({
        accountId: `crowd-${n % 400}` as AccountId,
        recurringId: `sub-${n}` as RecurringId,
        nextPaymentDate: date,
        periodDate: date,
      }),
    ).map((subscription) => ({ PutRequest: { Item: writeRecurring(subscription, 'by the test') } }));
    const { client, tables } = system.here.store;
    for (let start = 0; start < DUE; start += 25) {
      const RequestItems = { [tables.recurring]: items.slice(start, start + 25) };
      await client.send(new BatchWriteItemCommand({ RequestItems }));
    }
    // Nobody works on the payments themselves.
    const pages = await system.worker({ env: { QUEUES: 'recurring-pages', PAGE_SIZE: '300' } });
    const { runId } = await system.start('recurring-payments', plusMs(TICK, 120_000));
    const run = await eventually('the first pass is over', async () => {
      const found = await system.runs.get(runId);
      return found !== null && found.pass > 1 && found;
    });
    await pages.stop();
    expect(run).toMatchObject({ due: DUE, enqueued: DUE, status: 'running' });
    const queue = system.queues.get('recurring-payments');
    const jobs = await queue.getJobs(['waiting', 'delayed', 'prioritized']);
    expect(new Set(jobs.map(({ data }) => (data as { subscriptionId: string }).subscriptionId)).size).toBe(
      DUE,
    );
    // Seven pages of 300 at most, and one for each day that has nothing.
    const read = await system.queues.get('recurring-pages').getCompletedCount();
    expect(read).toBeGreaterThanOrEqual(DUE / 300);
  });
});
