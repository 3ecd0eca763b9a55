import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoCheckpoints } from '../../../src/adapters/dynamodb/checkpoints.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { CheckpointPassedError, LockLostError } from '../../../src/errors.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { injectFaults, loseAnswer, timedOut, type Faults } from '../../support/dynamo-faults.ts';
import { at } from '../../support/records.ts';

let store: BillingStore;
let checkpoints: DynamoCheckpoints;
let faults: Faults;

beforeAll(async () => {
  store = await billingStore();
  const { client, tables } = store;
  const transactor = new Transactor({
    client,
    locksTable: tables.locks,
    timer: systemTimer,
    random: Math.random,
  });
  checkpoints = new DynamoCheckpoints({ client, table: tables.pipeline, transactor, ids: randomUUID });
  faults = injectFaults(client);
});
afterAll(() => store.drop());

/** A shard of a stream of its own, and the lease on it. */
async function leased() {
  const shard = { stream: randomUUID(), shardId: 'shardId-000000000000' };
  const lease = await store.takeLock(shard.stream);
  const stored = async () => (await checkpoints.list(shard.stream)).get(shard.shardId);
  return { shard, lease, stored };
}

describe('a checkpoint', () => {
  it('is not there before the first record', async () => {
    const { shard } = await leased();
    expect(await checkpoints.list(shard.stream)).toEqual(new Map());
  });

  it('only grows, by number and not by text', async () => {
    const sequence = fc.bigInt({ min: 1n, max: 10n ** 56n }).map(String);
    const short = fc.integer({ min: 1, max: 200 }).map(String);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(sequence, short), { minLength: 1, maxLength: 6 }), async (moves) => {
        const { shard, lease, stored } = await leased();
        let furthest = 0n;
        for (const move of moves) {
          const moved = checkpoints.advance(lease, shard, move);
          if (BigInt(move) < furthest) await expect(moved).rejects.toThrow(CheckpointPassedError);
          else await moved;
          furthest = BigInt(move) > furthest ? BigInt(move) : furthest;
          expect(await stored()).toEqual({ sequence: String(furthest), finished: false });
        }
      }),
      { numRuns: 15 },
    );
  });

  it('stays where the shard ended', async () => {
    const { shard, lease, stored } = await leased();
    await checkpoints.advance(lease, shard, '7');
    await checkpoints.finish(lease, shard);
    expect(await stored()).toEqual({ sequence: '7', finished: true });
    await expect(checkpoints.advance(lease, shard, '8')).rejects.toThrow(CheckpointPassedError);
    expect(await stored()).toEqual({ sequence: '7', finished: true });
  });

  it('of a shard without records says that it is finished and nothing was read', async () => {
    const { shard, lease, stored } = await leased();
    await checkpoints.finish(lease, shard);
    expect(await stored()).toEqual({ sequence: null, finished: true });
  });

  it('does not move on the word of somebody who lost the lease', async () => {
    const { shard, lease, stored } = await leased();
    await checkpoints.advance(lease, shard, '7');
    await store.stealLock(shard.stream);
    await expect(checkpoints.advance(lease, shard, '8')).rejects.toThrow(LockLostError);
    await expect(checkpoints.finish(lease, shard)).rejects.toThrow(LockLostError);
    expect(await stored()).toEqual({ sequence: '7', finished: false });
  });

  it('does not move on the word of somebody who gave the lease back', async () => {
    const { shard, lease, stored } = await leased();
    await store.releaseLock(shard.stream);
    await expect(checkpoints.advance(lease, shard, '8')).rejects.toThrow(LockLostError);
    expect(await stored()).toBeUndefined();
  });

  it('whose answer was lost is recognised', async () => {
    const { shard, lease, stored } = await leased();
    faults.script('TransactWriteItemsCommand', loseAnswer(timedOut()));
    await checkpoints.advance(lease, shard, '9');
    expect(await stored()).toEqual({ sequence: '9', finished: false });
  });

  it('of a shard that left the stream is forgotten, the others are not', async () => {
    const { shard, lease } = await leased();
    const other = { ...shard, shardId: 'shardId-000000000001' };
    await checkpoints.advance(lease, shard, '1');
    await checkpoints.advance(lease, other, '2');
    await checkpoints.begin(shard.stream, 'start');
    await checkpoints.forget(shard);
    expect([...(await checkpoints.list(shard.stream)).keys()]).toEqual([other.shardId]);
  });
});

describe('where a stream was begun', () => {
  it('is what was said first, whoever says something else later', async () => {
    const since = { timestamp: at('2026-11-16T00:00:00.123Z') };
    const stream = randomUUID();
    expect(await checkpoints.begin(stream, since)).toEqual(since);
    expect(await checkpoints.begin(stream, 'start')).toEqual(since);
    const another = randomUUID();
    await checkpoints.begin(another, 'start');
    expect(await checkpoints.begin(another, since)).toBe('start');
  });
});
