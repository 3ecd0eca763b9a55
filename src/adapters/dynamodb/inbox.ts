import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  ConditionalCheckFailedException,
  GetItemCommand,
  QueryCommand,
  TransactionCanceledException,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import type { UserId } from '../../domain/subscription.ts';
import { RecordChangedError } from '../../errors.ts';
import type {
  EventOutcome,
  EventStream,
  FlaggedPage,
  Inbox,
  InboxEvent,
  Quarantined,
  UnreadableRecord,
  WaitingPage,
} from '../../ports/inbox.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Write } from '../../ports/transaction.ts';
import type { BatchReader } from './batch-reader.ts';
import type { BatchWriter } from './batch-writer.ts';
import { duePage } from './due-page.ts';
import { INBOX, inboxItems, inboxKeys, inboxPartition, quarantineIdOf } from './inbox-items.ts';
import { InboxWrites } from './inbox-writes.ts';
import type { PipelineKey } from './item-codec.ts';
import { MembershipFlags } from './membership-flags.ts';
import type { RawItem } from './raw-item.ts';
import type { DynamoWrite, Evidence, Transactor } from './transaction.ts';
import { asWrite } from './transaction.ts';

export interface InboxOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly reader: BatchReader;
  readonly writer: BatchWriter;
  readonly transactor: Transactor;
  /** Names transactions. Must never repeat. */
  readonly ids: () => string;
}

/** In base64 it stays below the store's 400 KB for an item. */
const MAX_RAW_BYTES = 256 * 1024;
const MAX_REASON_LENGTH = 1_000;

const IN_QUARANTINE: EventOutcome = { result: 'no-op', reason: 'in-quarantine', changed: [] };

export class DynamoInbox implements Inbox {
  private readonly options: InboxOptions;
  private readonly flags: MembershipFlags;
  private readonly writes: InboxWrites;

  constructor(options: InboxOptions) {
    this.options = options;
    this.flags = new MembershipFlags(options);
    this.writes = new InboxWrites(options.table);
  }

  async store(events: readonly InboxEvent[]): Promise<void> {
    const rounds = inRounds(events).map((round) => round.map((event) => inboxItems.event.write(event)));
    await this.flags.put(events);
    for (const items of rounds) await this.options.writer.put(items);
    await this.flags.verify(events);
  }

  async earliest(stream: EventStream, userId: UserId): Promise<InboxEvent | null> {
    const { Items: [first] = [] } = await this.options.client.send(
      new QueryCommand({
        TableName: this.options.table,
        KeyConditionExpression: 'pk = :inbox',
        ExpressionAttributeValues: { ':inbox': { S: inboxPartition(stream, userId) } },
        ConsistentRead: true,
        Limit: 1,
      }),
    );
    return first === undefined ? null : inboxItems.event.read(first);
  }

  async wasApplied(event: Pick<InboxEvent, 'stream' | 'identity'>): Promise<EventOutcome | null> {
    const item = await this.item(inboxKeys.done(event));
    return item === undefined ? null : inboxItems.done.read(item).outcome;
  }

  applied(event: InboxEvent, outcome: EventOutcome, at: Instant): readonly Write[] {
    return this.application(event, inboxItems.done.write(event, 'applied', { outcome, at }), at).map(asWrite);
  }

  async saveApplied(event: InboxEvent, outcome: EventOutcome, at: Instant): Promise<void> {
    // Not an outcome to be saved: if an operator replays the event from quarantine just now, it is still to be applied.
    if (outcome.reason === IN_QUARANTINE.reason) return this.takeOut(event);
    const changeId = this.options.ids();
    const marker = inboxItems.done.write(event, 'applied', { outcome, at }, changeId);
    const evidence = this.writes.evidence(inboxKeys.done(event));
    await this.commitOnce(event, this.application(event, marker, at), changeId, evidence);
  }

  async countTry(event: InboxEvent, error: string): Promise<number> {
    try {
      const { Attributes } = await this.options.client.send(
        new UpdateItemCommand({
          TableName: this.options.table,
          Key: marshall(inboxKeys.event(event)),
          UpdateExpression: 'ADD tries :one SET lastError = :error',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':one': { N: '1' }, ':error': { S: shortened(error) } },
          ReturnValues: 'UPDATED_NEW',
        }),
      );
      return Number(Attributes?.['tries']?.N);
    } catch (failure) {
      if (!(failure instanceof ConditionalCheckFailedException)) throw failure;
      throw new RecordChangedError('the event is not in the inbox any more', { cause: failure });
    }
  }

  async quarantine(event: InboxEvent, reason: string, at: Instant): Promise<void> {
    const changeId = this.options.ids();
    const unread = await this.unreadBefore(event);
    const item = quarantinedAt(event, { reason, at: unread?.at ?? at, event, raw: null, cut: false });
    const marker = inboxItems.done.write(event, 'quarantined', { outcome: IN_QUARANTINE, at });
    const writes = [
      this.writes.takeFromInbox(event),
      this.writes.becomesDone(event, marker),
      ...this.writes.hold(item, changeId),
      ...this.writes.mark(item, 'ADD'),
      ...(unread === null || unread.userId === event.userId ? [] : this.writes.mark(unread, 'DELETE')),
    ];
    const evidence = this.writes.evidence(inboxKeys.quarantine(item.quarantineId));
    await this.commitOnce(event, writes, changeId, evidence);
  }

  async quarantineRaw(record: UnreadableRecord, raw: Uint8Array, reason: string, at: Instant): Promise<void> {
    const item = quarantinedAt(record, {
      reason,
      at,
      event: null,
      raw: Buffer.from(raw.subarray(0, MAX_RAW_BYTES)).toString('base64'),
      cut: raw.length > MAX_RAW_BYTES,
    });
    try {
      await this.keepRaw(item, this.writes.mark(item, 'ADD'));
    } catch (error) {
      // Thousands of the same user wait for an operator, and no more can be noted. One more must not stop its shard.
      if (!isTooLargeForStore(error)) throw error;
      await this.keepRaw(item, []);
    }
  }

  async waiting(before: Instant, key: PageKey | null): Promise<WaitingPage> {
    const { found, ...page } = await duePage(
      this.options,
      { list: INBOX, asOf: before, key },
      inboxItems.event.read,
    );
    return { events: found, ...page };
  }

  liftFlag(userId: UserId): Promise<void> {
    return this.flags.lift(userId);
  }

  flagged(before: Instant, key: PageKey | null): Promise<FlaggedPage> {
    return this.flags.page(before, key);
  }

  private async keepRaw(item: Quarantined, marks: readonly DynamoWrite[]): Promise<void> {
    const token = this.options.ids();
    const writes = [...this.writes.hold(item, token), ...marks];
    const evidence = this.writes.evidence(inboxKeys.quarantine(item.quarantineId));
    await unlessChanged(() =>
      this.options.transactor.commit({ authority: 'unlocked', writes, token, evidence }),
    );
  }

  private application(event: InboxEvent, marker: RawItem, at: Instant): DynamoWrite[] {
    return [
      this.writes.takeFromInbox(event),
      this.writes.becomesDone(event, marker),
      this.writes.putAlways(inboxItems.applied.write(event, at)),
    ];
  }

  /** Deals with an event that is in the inbox. If it was dealt with before, that stands and the event only goes. */
  private async commitOnce(
    event: InboxEvent,
    writes: readonly DynamoWrite[],
    token: string,
    evidence: Evidence,
  ): Promise<void> {
    const made = await unlessChanged(() =>
      this.options.transactor.commit({ authority: 'unlocked', writes, token, evidence }),
    );
    if (!made) return this.takeOut(event);
    if (event.stream === 'users') await this.liftFlag(event.userId);
  }

  /** With the proof that it is done in the same transaction: an operator may be replaying it from quarantine. */
  private async takeOut(event: InboxEvent): Promise<void> {
    const { transactor, ids } = this.options;
    const writes = [this.writes.isDone(event), this.writes.clearFromInbox(event)];
    const evidence = this.writes.evidence(inboxKeys.done(event));
    await transactor.commit({ authority: 'unlocked', writes, token: ids(), evidence });
    if (event.stream === 'users') await this.liftFlag(event.userId);
  }

  /** What is held of the same record from when it could not be read. */
  private async unreadBefore(event: InboxEvent): Promise<Quarantined | null> {
    const item = await this.item(inboxKeys.quarantine(quarantineIdOf(event)));
    const held = item === undefined ? null : inboxItems.quarantined.read(item);
    return held?.event === null ? held : null;
  }

  private async item(key: PipelineKey): Promise<RawItem | undefined> {
    const { Item } = await this.options.client.send(
      new GetItemCommand({ TableName: this.options.table, Key: marshall(key), ConsistentRead: true }),
    );
    return Item;
  }
}

/**
 * A batch of puts is made in no order and may be cut off in the middle; then a user's later event could be there without
 * the earlier one, and be applied first. So each round holds at most one event of a user, and the rounds go in order.
 */
function inRounds(events: readonly InboxEvent[]): InboxEvent[][] {
  const inOrder = new Map<string, InboxEvent>();
  const sortable = events.map((event) => ({ event, key: inboxKeys.event(event) }));
  sortable.sort((a, b) => (a.key.sk < b.key.sk ? -1 : 1));
  for (const { event, key } of sortable) inOrder.set(`${key.pk}/${key.sk}`, event);
  const rounds: InboxEvent[][] = [];
  const next = new Map<string, number>();
  for (const event of inOrder.values()) {
    const { pk } = inboxKeys.event(event);
    const round = next.get(pk) ?? 0;
    next.set(pk, round + 1);
    (rounds[round] ??= []).push(event);
  }
  return rounds;
}

function quarantinedAt(
  { stream, shardId, sequence, userId }: UnreadableRecord,
  what: Pick<Quarantined, 'reason' | 'at' | 'event' | 'raw' | 'cut'>,
): Quarantined {
  const position = { stream, shardId, sequence };
  return {
    ...position,
    ...what,
    userId,
    quarantineId: quarantineIdOf(position),
    reason: shortened(what.reason),
  };
}

const shortened = (text: string): string => text.slice(0, MAX_REASON_LENGTH);

/** An update that would make its item larger than the store takes. Nothing else of a transaction of ours is refused so. */
const isTooLargeForStore = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ValidationError');

/** False when a condition refused it. */
async function unlessChanged(change: () => Promise<void>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    if (error instanceof RecordChangedError) return false;
    throw error;
  }
}
