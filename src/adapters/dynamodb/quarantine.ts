import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import { compareInstants } from '../../domain/instant.ts';
import type { UserId } from '../../domain/subscription.ts';
import type {
  AppliedEvent,
  EventOutcome,
  EventRef,
  InboxEvent,
  Quarantine,
  Quarantined,
  QuarantinePage,
} from '../../ports/inbox.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { BatchReader } from './batch-reader.ts';
import { QUARANTINE_LIST, appliedPartition, inboxItems, inboxKeys, sortableSequence } from './inbox-items.ts';
import { InboxWrites } from './inbox-writes.ts';
import { keys } from './pipeline-items.ts';
import { countOf, queryPage, queryToTheEnd } from './query.ts';
import { readRows } from './read-rows.ts';
import type { DynamoWrite, Transactor } from './transaction.ts';

export interface QuarantineOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly reader: BatchReader;
  readonly transactor: Transactor;
  /** Names transactions. Must never repeat. */
  readonly ids: () => string;
}

const PAGE_SIZE = 25;

const LISTED = {
  KeyConditionExpression: 'pk = :list',
  ExpressionAttributeValues: { ':list': { S: QUARANTINE_LIST } },
};

const DROPPED: EventOutcome = { result: 'no-op', reason: 'dropped', changed: [] };

export class DynamoQuarantine implements Quarantine {
  private readonly options: QuarantineOptions;
  private readonly writes: InboxWrites;

  constructor(options: QuarantineOptions) {
    this.options = options;
    this.writes = new InboxWrites(options.table);
  }

  async size(): Promise<number> {
    return countOf(this.options.client, { TableName: this.options.table, ...LISTED });
  }

  async list(key: PageKey | null): Promise<QuarantinePage> {
    const { client, table, reader } = this.options;
    const page = await queryPage(
      client,
      {
        TableName: table,
        ...LISTED,
        ConsistentRead: true,
        Limit: PAGE_SIZE,
      },
      key,
    );
    const entries = readRows(page.items, inboxItems.quarantineEntry.read);
    const stored = new Map((await reader.get(entries.found)).map((item) => [item['pk']?.S, item]));
    const { found, malformed } = readRows(
      entries.found.map(({ pk }) => stored.get(pk)).filter((item) => item !== undefined),
      (item) => inboxItems.quarantined.read(item),
    );
    return {
      items: found.filter((held) => held !== null),
      unreadable: [...entries.malformed, ...malformed],
      nextKey: page.nextKey,
    };
  }

  async get(quarantineId: string): Promise<Quarantined | null> {
    const { Item } = await this.options.client.send(
      new GetItemCommand({
        TableName: this.options.table,
        Key: marshall(inboxKeys.quarantine(quarantineId)),
        ConsistentRead: true,
      }),
    );
    return Item === undefined ? null : inboxItems.quarantined.read(Item);
  }

  async ofUser(userId: UserId): Promise<readonly Quarantined[]> {
    const { reader } = this.options;
    const [marks] = await reader.get([keys.quarantined(userId)]);
    const found = await reader.get((marks?.['ids']?.SS ?? []).map((id) => inboxKeys.quarantine(id)));
    return found
      .map((item) => inboxItems.quarantined.read(item))
      .filter((held) => held !== null)
      .sort((a, b) => compareInstants(a.at, b.at));
  }

  async release(item: Quarantined, event: InboxEvent, at: Instant): Promise<void> {
    await this.decide(item, (changeId) => [
      ...this.writes.decide(item, inboxItems.quarantined.writeDecided(item, 'released', { at }, changeId)),
      this.writes.isNotDone(event),
      this.writes.putAlways(inboxItems.event.write(event)),
      ...(event.stream === 'users' ? [this.writes.putAlways(inboxItems.flag.write(event))] : []),
      ...this.writes.mark(item, 'DELETE'),
    ]);
  }

  async drop(
    item: Quarantined,
    by: { readonly who: string; readonly reason: string; readonly at: Instant },
  ): Promise<void> {
    const { event } = item;
    const what = { outcome: DROPPED, at: by.at };
    await this.decide(item, (changeId) => [
      ...this.writes.decide(item, inboxItems.quarantined.writeDecided(item, 'dropped', by, changeId)),
      ...(event === null ? [] : [this.writes.putAlways(inboxItems.done.write(event, 'dropped', what))]),
      ...this.writes.mark(item, 'DELETE'),
    ]);
  }

  async appliedAfter({ stream, userId, sequence }: EventRef): Promise<readonly AppliedEvent[]> {
    const found = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      KeyConditionExpression: 'pk = :applied AND sk > :sequence',
      ExpressionAttributeValues: {
        ':applied': { S: appliedPartition(stream, userId) },
        ':sequence': { S: sortableSequence(sequence) },
      },
      ConsistentRead: true,
    });
    return found.map((item) => inboxItems.applied.read(item));
  }

  private decide(
    { quarantineId }: Quarantined,
    writes: (changeId: string) => readonly DynamoWrite[],
  ): Promise<void> {
    const token = this.options.ids();
    const evidence = this.writes.evidence(inboxKeys.quarantine(quarantineId));
    return this.options.transactor.commit({ authority: 'unlocked', writes: writes(token), token, evidence });
  }
}
