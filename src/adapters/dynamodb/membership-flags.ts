import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { FlaggedPage, InboxEvent } from '../../ports/inbox.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { BatchReader } from './batch-reader.ts';
import type { BatchWriter } from './batch-writer.ts';
import { unchangedIn, unlessRefused } from './conditions.ts';
import { duePage } from './due-page.ts';
import { FLAGS, inboxItems, inboxPartition, sortableSequence } from './inbox-items.ts';
import { keys } from './pipeline-items.ts';
import type { RawItem } from './raw-item.ts';

export interface FlagsOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly reader: BatchReader;
  readonly writer: BatchWriter;
  /** Names the process that lifts a flag. Must never repeat. */
  readonly ids: () => string;
}

/**
 * Members with a waiting membership event. A flag may stay too long, never go too early: a member who has cancelled would
 * be charged. It cannot change in one transaction with the inbox, because events are stored without conditions and a flag
 * that moved on must not stand against the change that an event makes. Instead:
 *
 *   store   F put the flag (without mark) ── I put the events ── V read the flag; gone or marked: put it again
 *   lift    M mark the flag with my name ── Q does an event wait? ── D delete the flag that was marked
 *
 * After `store` the flag stands until a later lift, however the two meet:
 *
 *   M before F          F took the mark away: D is refused.
 *   M after F, Q after I  Q finds the event: no D.
 *   M after F, Q before I  V comes after I. If D was made, V finds no flag; if not yet, V finds the mark. Either way the
 *                          flag is put anew after the events, without the mark, so that a late D is refused.
 *   M after V           Q comes after I and finds the event.
 *
 * V need not look again after it put the flag: a lift that marks that one asks after I. What several stores do at once
 * only takes marks away. Two lifts at once: the second mark takes the place of the first, and its owner asks for itself. A
 * bridge that dies after F leaves a flag without an event: the record is not behind the checkpoint and is delivered again.
 * One that dies after I and before V may leave an event without a flag, if it was lifted just then: as if it were still in
 * the stream, from where it is delivered again. A lift that dies before D leaves a flag too many, which the sweep lifts
 * (`flagged`).
 *
 * A put that was given up may arrive very late. A late flag is one too many. A late event was dealt with long ago, or it
 * would not have been given up without another try that put the flag as well: it is only delivered again. A mark that was
 * given up and made again may arrive after Q, on a flag that was put since: D names the flag that was marked before Q.
 *
 * An event from quarantine comes back in one transaction with its flag: F and I at once.
 */
export class MembershipFlags {
  private readonly options: FlagsOptions;

  constructor(options: FlagsOptions) {
    this.options = options;
  }

  async put(events: readonly InboxEvent[]): Promise<void> {
    await this.options.writer.put(newestOfEach(events).map(inboxItems.flag.write));
  }

  /** After the events were stored. */
  async verify(events: readonly InboxEvent[]): Promise<void> {
    const newest = newestOfEach(events);
    const found = await this.options.reader.get(newest.map(({ userId }) => keys.membership(userId)));
    const standing = new Set(found.filter((flag) => flag['lifting'] === undefined).map(({ pk }) => pk?.S));
    await this.put(newest.filter(({ userId }) => !standing.has(keys.membership(userId).pk)));
  }

  async lift(userId: UserId): Promise<void> {
    const { client, table: TableName } = this.options;
    const marked = await this.mark(userId);
    if (marked === null || (await this.hasEvent(userId))) return;
    const remove = new DeleteItemCommand({
      TableName,
      Key: marshall(keys.membership(userId)),
      ...unchangedIn(marked, ['lifting', 'sequence', 'dueAt']),
    });
    await unlessRefused(() => client.send(remove));
  }

  /** The flag with the mark on it. Null: there is none. */
  private async mark(userId: UserId): Promise<RawItem | null> {
    const { client, table: TableName, ids } = this.options;
    let marked: RawItem | null = null;
    const request = new UpdateItemCommand({
      TableName,
      Key: marshall(keys.membership(userId)),
      UpdateExpression: 'SET lifting = :me',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':me': { S: ids() } },
      ReturnValues: 'ALL_NEW',
    });
    await unlessRefused(async () => {
      marked = (await client.send(request)).Attributes ?? null;
    });
    return marked;
  }

  async page(before: Instant, key: PageKey | null): Promise<FlaggedPage> {
    const { found, ...page } = await duePage(
      this.options,
      { list: FLAGS, asOf: before, key },
      inboxItems.flag.read,
    );
    return { userIds: found, ...page };
  }

  private async hasEvent(userId: UserId): Promise<boolean> {
    const { Count = 0 } = await this.options.client.send(
      new QueryCommand({
        TableName: this.options.table,
        KeyConditionExpression: 'pk = :inbox',
        ExpressionAttributeValues: { ':inbox': { S: inboxPartition('users', userId) } } satisfies RawItem,
        ConsistentRead: true,
        Select: 'COUNT',
        Limit: 1,
      }),
    );
    return Count > 0;
  }
}

/** Of the events that flag their user, each user's newest. */
function newestOfEach(events: readonly InboxEvent[]): InboxEvent[] {
  const newest = new Map<UserId, InboxEvent>();
  for (const event of events) {
    const known = newest.get(event.userId);
    if (event.stream !== 'users') continue;
    if (known === undefined || sortableSequence(event.sequence) > sortableSequence(known.sequence))
      newest.set(event.userId, event);
  }
  return [...newest.values()];
}
