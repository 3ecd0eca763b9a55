import { randomUUID } from 'node:crypto';
import { TrimmedDataAccessException } from '@aws-sdk/client-dynamodb-streams';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStreamsClient } from '../../../src/adapters/dynamodb/streams-client.ts';
import type { TableChange } from '../../../src/adapters/dynamodb/table-stream-source.ts';
import { TableStreamSource } from '../../../src/adapters/dynamodb/table-stream-source.ts';
import { IteratorExpiredError, StreamThrottledError } from '../../../src/errors.ts';
import type { ReadFrom, StreamRecord } from '../../../src/ports/stream-source.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { fail, injectFaults } from '../../support/dynamo-faults.ts';
import { eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';
import { sharedStack } from '../../support/stack.ts';

const DAY = at('2026-12-01T06:00:00Z');
const row = (userId: string, status: string) => ({
  user_id: { S: userId },
  billing_date: { S: '2026-12-01T06:00:00Z' },
  billing_status: { S: status },
});

let store: BillingStore;
const client = createStreamsClient({ region: 'us-east-1', endpoint: sharedStack().dynamodbUrl });
let source: TableStreamSource;
const lost: string[] = [];

beforeAll(async () => {
  store = await billingStore();
  const onLost = (shardId: string): void => void lost.push(shardId);
  source = new TableStreamSource({ client, table: store.tables.billing, onLost });
});
afterAll(async () => {
  client.destroy();
  await store.drop();
});

/** Everything that the table's shards hold from there on, about one user. */
async function changesOf(userId: string, from: ReadFrom): Promise<StreamRecord<TableChange>[]> {
  const found: StreamRecord<TableChange>[] = [];
  for (const { shardId } of await source.listShards()) {
    let handle = await source.read(shardId, from);
    for (;;) {
      const batch = await source.next(handle);
      found.push(...batch.records);
      if (batch.next === null || batch.records.length === 0) break;
      handle = batch.next;
    }
  }
  return found.filter(({ data }) => (data.newImage ?? data.oldImage)?.['user_id']?.S === userId);
}

describe("a table's changes", () => {
  it('come in order with the row before and after, and can be read on after any of them', async () => {
    const userId = randomUUID();
    await store.putBillingRow(row(userId, 'SCHEDULED'));
    await store.putBillingRow(row(userId, 'COMPLETED'));
    await store.removeBillingRow(userId, DAY);
    const changes = await eventually('three changes', async () => {
      const found = await changesOf(userId, 'start');
      return found.length === 3 && found;
    });
    expect(changes.map(({ data }) => [data.oldImage, data.newImage])).toEqual([
      [null, row(userId, 'SCHEDULED')],
      [row(userId, 'SCHEDULED'), row(userId, 'COMPLETED')],
      [row(userId, 'COMPLETED'), null],
    ]);
    const [first, ...rest] = changes;
    expect(await changesOf(userId, { after: first!.sequence })).toEqual(rest);
    expect(await changesOf(userId, { timestamp: at('2020-01-01T00:00:00Z') })).toEqual(changes);
    expect(await changesOf(userId, { timestamp: at('2100-01-01T00:00:00Z') })).toEqual([]);
  });

  it('that were gone before they were read are told of, and reading goes on at the oldest that is left', async () => {
    const userId = randomUUID();
    await store.putBillingRow(row(userId, 'SCHEDULED'));
    const [change] = await eventually('the change', async () => {
      const found = await changesOf(userId, 'start');
      return found.length === 1 && found;
    });
    const shards = (await source.listShards()).map(({ shardId }) => shardId);
    const faults = injectFaults(client);
    const trimmed = fail(new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} }));
    const when = ({ ShardIteratorType }: Record<string, unknown>) =>
      ShardIteratorType === 'AFTER_SEQUENCE_NUMBER';
    faults.script('GetShardIteratorCommand', trimmed, { times: Infinity, when });
    expect(lost).toEqual([]);
    expect(await changesOf(userId, { after: '1' })).toEqual([change]);
    expect(lost).toEqual(shards);
    faults.remove();
  });

  it('that are asked for too often or too late are told apart', async () => {
    const faults = injectFaults(client);
    const named = (name: string) => Object.assign(new Error('injected'), { name });
    const [first] = await source.listShards();
    const handle = await source.read(first!.shardId, 'start');
    faults.script('GetRecordsCommand', fail(named('ExpiredIteratorException')));
    await expect(source.next(handle)).rejects.toThrow(IteratorExpiredError);
    faults.script('GetRecordsCommand', fail(named('LimitExceededException')));
    await expect(source.next(handle)).rejects.toThrow(StreamThrottledError);
    faults.remove();
  });
});
