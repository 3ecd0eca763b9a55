import { GetItemCommand, TransactWriteItemsCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { createLockClient } from '../../../src/adapters/lock/lock-client.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import type { Fence, Lock, LockClient } from '../../../src/ports/lock.ts';
import { ACQUIRED_AT, lockBench, newKey } from './lock-bench.ts';

const bench = lockBench();
const CONTENDERS = 100;
const AWAKE = 5;

/** Adds one by reading and then writing what was read and one more: two holders at once would lose an addition. */
async function addOne(client: DynamoDBClient, counter: string, fence: Fence): Promise<void> {
  const key = { PartitionKey: { S: counter } };
  const { Item: item } = await client.send(
    new GetItemCommand({ TableName: bench.table, Key: key, ConsistentRead: true }),
  );
  const next = Number(item?.['n']?.N ?? 0) + 1;
  await fence.exclusively(() =>
    client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          {
            ConditionCheck: {
              TableName: bench.table,
              Key: { PartitionKey: { S: fence.key } },
              ConditionExpression: 'ownerName = :me AND attribute_not_exists(isReleased)',
              ExpressionAttributeValues: { ':me': { S: fence.ownerName } },
            },
          },
          {
            Update: {
              TableName: bench.table,
              Key: key,
              UpdateExpression: 'SET n = :next',
              ExpressionAttributeValues: { ':next': { N: String(next) } },
            },
          },
        ],
      }),
    ),
  );
}

/** Rung when the lock may have become free. Wakes a few of those who wait, so that they race for it. */
class Bell {
  rings = 0;
  readonly #waiting: (() => void)[] = [];

  ring(): void {
    this.rings += 1;
    for (const wake of this.#waiting.splice(0, AWAKE)) wake();
  }

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

async function untilHeld(locks: LockClient, key: string, bell: Bell): Promise<Lock> {
  for (;;) {
    const { rings } = bell;
    const outcome = await locks.acquire(key);
    if ('lock' in outcome) return outcome.lock;
    // It rang while we asked: the answer may be from before.
    if (bell.rings === rings) await bell.next();
  }
}

describe('when a hundred want the same lock', () => {
  it('has exactly one holder at any instant, and everybody gets their turn', async () => {
    const key = newKey();
    const counter = `counter:${key}`;
    const client = bench.client({ maxAttempts: 10 });
    const holders = { now: 0, most: 0 };
    const owners = new Set<string>();
    const bell = new Bell();

    const contender = async (): Promise<void> => {
      const locks = createLockClient({
        client,
        table: bench.table,
        clock: { now: () => ACQUIRED_AT },
        timer: systemTimer,
        heartbeatMs: 20, // Heartbeats and releases run into each other here, if anywhere.
      });
      const lock = await untilHeld(locks, key, bell);
      holders.now += 1;
      holders.most = Math.max(holders.most, holders.now);
      owners.add(lock.fence.ownerName);
      await addOne(client, counter, lock.fence);
      expect(lock.signal.aborted).toBe(false);
      holders.now -= 1;
      bell.ring(); // Some come before the release is done, some after.
      await lock.release();
      bell.ring();
      await locks.close();
    };

    await Promise.all(Array.from({ length: CONTENDERS }, contender));
    expect(holders).toEqual({ now: 0, most: 1 });
    expect(owners.size).toBe(CONTENDERS);
    expect((await bench.row(counter))?.['n']).toEqual({ N: String(CONTENDERS) });
    expect((await bench.row(key))?.['isReleased']).toEqual({ S: '1' });
  });
});
