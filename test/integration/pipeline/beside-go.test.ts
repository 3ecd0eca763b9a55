import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plusMs } from '../../../src/domain/instant.ts';
import { subscriptionLockKey } from '../../../src/ports/lock.ts';
import golden from '../../golden/billing-rows-written-by-go.json' with { type: 'json' };
import type { Item } from '../../support/billing-store.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';

let system: Pipeline;
let ticks = 0;
const nextTick = () => plusMs(TICK, (ticks += 1) * 1_000);

beforeAll(async () => {
  system = await pipeline({ COLLECTION_CONCURRENCY: '10' });
  await system.worker();
});
afterAll(() => system.close());

/** What Go's time.Time and its structs read. */
const GO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?Z$/;

describe('rows that Go wrote', () => {
  it('are collected by the runs, keep their keys, and are written back as Go reads them', async () => {
    const rows = golden.rows as unknown as Item[];
    for (const row of rows) {
      await system.here.bank('PUT', `/sandbox/users/${row['user_id']!.S}`, {});
      await system.here.store.putBillingRow(row);
    }
    for (const process of ['scheduled', 'retry', 'pause'] as const) {
      await system.over((await system.start(process, nextTick())).runId);
    }
    const statuses: Record<string, string> = {};
    for (const row of rows) {
      const userId = row['user_id']!.S!;
      const after = (await system.here.store.billingRow(userId, row['billing_date']!.S!))!;
      statuses[row['billing_status']!.S!] = after['billing_status']!.S!;
      for (const name of [
        'billing_date',
        'created_date',
        'completion_date',
        'initial_run_date',
        'last_run_date',
      ])
        expect(after[name]!.S).toMatch(GO_TIME);
      // Nothing that Go knows is gone, and every attribute has the type that Go gave it.
      for (const [name, value] of Object.entries(row)) {
        const isDowngradeDone = name === 'is_pending_downgrade';
        if (!isDowngradeDone) expect(Object.keys(after[name]!)).toEqual(Object.keys(value));
      }
    }
    expect(statuses).toEqual({
      SCHEDULED: 'COMPLETED',
      ERROR: 'COMPLETED',
      PAUSED: 'PAUSED_SKIPPED',
      ACHSENT: 'ACHSENT',
    });
  });
});

describe('rows that nobody can collect', () => {
  it('are reported, and the run goes on', async () => {
    const records = await system.members(8);
    const spoil: Item[] = [
      { billing_amount: { S: 'lots' } },
      { billing_amount: { S: '-4.99' } },
      { billing_amount: { N: '4.99' } },
      { billing_status: { S: 'SCHEDULED' }, term: { S: 'WEEKLY' } },
      { last_run_date: { S: 'yesterday' } },
    ];
    for (const [index, attributes] of spoil.entries()) {
      const { userId } = records[index]!;
      const item = (await system.here.store.billingRow(userId, '2026-11-16T06:00:00Z'))!;
      await system.here.store.putBillingRow({ ...item, ...attributes });
    }
    // A status that nobody knows is in no run's range.
    const odd = records[5]!;
    const item = (await system.here.store.billingRow(odd.userId, '2026-11-16T06:00:00Z'))!;
    await system.here.store.putBillingRow({ ...item, billing_status: { S: 'SLEEPING' } });

    const { report } = await system.over((await system.start('scheduled', nextTick())).runId);
    expect(report?.byVerdict.collected).toMatchObject({ count: 2 });
    const { malformed, skipped } = report!.byVerdict;
    expect((malformed?.count ?? 0) + (skipped?.count ?? 0)).toBe(5);
    expect(Object.keys(malformed!.reasons).join('\n')).toMatch(/billing_amount/);
    expect(await debitsOf(system.here, records)).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);
  });
});

describe('a lock that the Go service holds', () => {
  const putLock = (userId: string, recordVersionNumber: string) =>
    system.here.store.client.send(
      new PutItemCommand({
        TableName: system.here.store.tables.locks,
        Item: {
          PartitionKey: { S: subscriptionLockKey(userId) },
          ownerName: { S: 'go-service-1' },
          leaseDuration: { S: '500ms' },
          recordVersionNumber: { S: recordVersionNumber },
          data: { B: new TextEncoder().encode('1794816000000000000') },
        },
      }),
    );

  it('and has died with is taken over; one that lives on is left alone, and the record says so', async () => {
    const [dead, alive] = await system.members(2);
    await Promise.all([putLock(dead!.userId, 'v1'), putLock(alive!.userId, 'v1')]);
    const { runId } = await system.start('scheduled', nextTick());
    let beats = 1;
    const run = await eventually('the run is over', async () => {
      await putLock(alive!.userId, `v${(beats += 1)}`);
      const now = await system.runs.get(runId);
      return now?.status === 'complete' && now;
    });
    expect(run.report?.byVerdict).toMatchObject({
      collected: { count: 1 },
      locked: { count: 1, reasons: { 'user-busy': 1 } },
    });
    expect(await debitsOf(system.here, [dead!, alive!])).toEqual([1, 0]);
  });
});
