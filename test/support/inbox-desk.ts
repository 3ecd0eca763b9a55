import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { BatchReader } from '../../src/adapters/dynamodb/batch-reader.ts';
import { BatchWriter } from '../../src/adapters/dynamodb/batch-writer.ts';
import { inboxPartition } from '../../src/adapters/dynamodb/inbox-items.ts';
import { DynamoInbox } from '../../src/adapters/dynamodb/inbox.ts';
import { DynamoPipeline } from '../../src/adapters/dynamodb/pipeline.ts';
import { DynamoQuarantine } from '../../src/adapters/dynamodb/quarantine.ts';
import { Transactor, fromWrite } from '../../src/adapters/dynamodb/transaction.ts';
import type { Facts } from '../../src/domain/decision.ts';
import type { SubscriptionId, UserId } from '../../src/domain/subscription.ts';
import type { EventOutcome, Inbox, InboxEvent, Quarantine } from '../../src/ports/inbox.ts';
import type { Write } from '../../src/ports/transaction.ts';
import { impatientTimer } from './impatient-timer.ts';
import { at } from './records.ts';

/** The inbox and what is seen of it elsewhere: all that the contract suite asks of a store. */
export interface InboxDesk {
  readonly inbox: Inbox;
  readonly quarantine: Quarantine;
  /** What whoever decides about the user is told. */
  membershipEvent(userId: UserId): Promise<Facts['membershipEvent']>;
  /** A change that these go along with. */
  commit(writes: readonly Write[]): Promise<void>;
}

/** Back-off takes no time here. */

export function inboxDesk(
  client: DynamoDBClient,
  tables: { readonly pipeline: string; readonly locks: string },
): InboxDesk {
  const table = tables.pipeline;
  const tools = { client, table, timer: impatientTimer, random: Math.random };
  const reader = new BatchReader(tools);
  const writer = new BatchWriter(tools);
  const transactor = new Transactor({ ...tools, locksTable: tables.locks });
  const pipeline = new DynamoPipeline({ client, table, reader, timer: impatientTimer, checkDelaysMs: [1] });
  return {
    inbox: new DynamoInbox({ client, table, reader, writer, transactor, ids: randomUUID }),
    quarantine: new DynamoQuarantine({ client, table, reader, transactor, ids: randomUUID }),
    async membershipEvent(userId) {
      const { membershipEvent } = await pipeline.readBackground({
        userId,
        subscriptionId: 'some-record' as SubscriptionId,
        triggerId: 'some-trigger',
        accountId: null,
      });
      return membershipEvent;
    },
    async commit(writes) {
      const token = randomUUID();
      const key = { pk: { S: `CHANGE#${token}` }, sk: { S: 'CHANGE' } };
      const change = {
        item: { Put: { TableName: table, Item: { ...key, changeId: { S: token } } } },
        refused: () => new Error('the change itself was refused') as never,
      };
      const evidence = { table, key, attribute: 'changeId' };
      const all = [change, ...writes.map(fromWrite)];
      await transactor.commit({ authority: 'unlocked', writes: all, token, evidence });
    },
  };
}

/** The numbers of the events that wait with this one. */
export async function waitingWith(
  { stream, userId }: Pick<InboxEvent, 'stream' | 'userId'>,
  client: DynamoDBClient,
  table: string,
): Promise<string[]> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :inbox',
      ExpressionAttributeValues: { ':inbox': { S: inboxPartition(stream, userId) } },
      ConsistentRead: true,
    }),
  );
  return Items.map((item) => item['sequence']!.S!);
}

export const newUser = (): UserId => `member-${randomUUID()}` as UserId;

export const NOW = at('2026-11-16T08:00:00Z');

export const CHANGED: EventOutcome = { result: 'changed', reason: 'cancelled', changed: ['sub-1', 'sub-2'] };
export const NOTHING: EventOutcome = { result: 'no-op', reason: 'user-missing', changed: [] };

/** An event of a stream in which each user has a shard: a position is used once. */
export function anEvent(
  userId: UserId,
  sequence: number | string,
  fields: Partial<InboxEvent> = {},
): InboxEvent {
  return {
    stream: 'users',
    shardId: userId,
    sequence: String(sequence),
    userId,
    identity: `${userId}-${sequence}`,
    type: 'CANCEL',
    data: { user_id: userId, pause_duration_months: 0, start_date: null, tier: '' },
    receivedAt: NOW,
    ...fields,
  };
}
