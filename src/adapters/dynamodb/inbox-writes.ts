import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { RecordChangedError } from '../../errors.ts';
import type { InboxEvent, Quarantined } from '../../ports/inbox.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew } from './conditions.ts';
import { inboxItems, inboxKeys } from './inbox-items.ts';
import type { PipelineKey } from './item-codec.ts';
import { keys } from './pipeline-items.ts';
import type { RawItem } from './raw-item.ts';
import type { DynamoWrite, Evidence } from './transaction.ts';
import { fromWrite, unconditional } from './transaction.ts';

/*
 * The items of the inbox's transactions, and what it means when one is refused. An event is in the inbox, or done:
 *
 *   inbox ── applied ────────────────► done (applied)          delivered again: in the inbox once more, and taken out
 *     ▲ └─── quarantine ──► done (quarantined) ── drop ──► done (dropped)         of it as it is done
 *     └────── release ───────────┘
 */

const isThere: Condition = { ConditionExpression: 'attribute_exists(pk)' };

/** An event is taken into quarantine again only after an operator has put it back. */
const newOrReleased: Condition = {
  ConditionExpression: 'attribute_not_exists(pk) OR #state = :released',
  ExpressionAttributeNames: { '#state': 'state' },
  ExpressionAttributeValues: { ':released': { S: 'released' } },
};

/**
 * Also lets an event replace its own raw record that could not be read before; otherwise it could never leave the
 * inbox. While held it keeps its time, which is part of its key in the list.
 */
const newOrReleasedOrUnread = (at: AttributeValue | undefined): Condition => ({
  ConditionExpression: `${newOrReleased.ConditionExpression} OR (attribute_type(#event, :null) AND (#state <> :held OR #at = :at))`,
  ExpressionAttributeNames: { ...newOrReleased.ExpressionAttributeNames, '#event': 'event', '#at': 'at' },
  ExpressionAttributeValues: {
    ...newOrReleased.ExpressionAttributeValues,
    ':null': { S: 'NULL' },
    ':held': { S: 'held' },
    ':at': at ?? { NULL: true },
  },
});

const stillHeld: Condition = {
  ConditionExpression: '#state = :held',
  ExpressionAttributeNames: { '#state': 'state' },
  ExpressionAttributeValues: { ':held': { S: 'held' } },
};

/** Not applied, or its marker has expired (`DONE_DAYS`). */
const notApplied: Condition = {
  ConditionExpression: 'attribute_not_exists(pk) OR #as = :quarantined',
  ExpressionAttributeNames: { '#as': 'as' },
  ExpressionAttributeValues: { ':quarantined': { S: 'quarantined' } },
};

export class InboxWrites {
  private readonly table: string;

  constructor(table: string) {
    this.table = table;
  }

  /** The event is in the inbox, and goes. */
  takeFromInbox(event: InboxEvent): DynamoWrite {
    return this.deletion(inboxKeys.event(event), isThere, `${nameOf(event)} is not in the inbox any more`);
  }

  /** It goes if it is there. Only with proof that it is done. */
  clearFromInbox(event: InboxEvent): DynamoWrite {
    return this.deleteAlways(inboxKeys.event(event));
  }

  isDone(event: InboxEvent): DynamoWrite {
    return refusable(
      { ConditionCheck: { TableName: this.table, Key: marshall(inboxKeys.done(event)), ...isThere } },
      `nobody has dealt with ${nameOf(event)}`,
    );
  }

  becomesDone(event: InboxEvent, marker: RawItem): DynamoWrite {
    return this.put(marker, rowIsNew('pk'), `${nameOf(event)} was dealt with before`);
  }

  isNotDone(event: InboxEvent): DynamoWrite {
    const refusal = `${nameOf(event)} was applied when it was delivered again; it can only be dropped`;
    return this.deletion(inboxKeys.done(event), notApplied, refusal);
  }

  hold(item: Quarantined, changeId: string): DynamoWrite[] {
    const content = inboxItems.quarantined.write(item, changeId);
    const condition = item.event === null ? newOrReleased : newOrReleasedOrUnread(content['at']);
    return [
      this.put(content, condition, `${item.quarantineId} is, or was, in quarantine`),
      this.putAlways(inboxItems.quarantineEntry.write(item)),
    ];
  }

  /** Out of quarantine: `decided` is what stays on record. */
  decide(item: Quarantined, decided: RawItem): DynamoWrite[] {
    return [
      this.put(decided, stillHeld, `${item.quarantineId} is not in quarantine any more`),
      this.deleteAlways(inboxKeys.quarantineList(item)),
    ];
  }

  /**
   * Adds the event to, or takes it from, its user's set of quarantined events. Automatic charges wait while the set is
   * not empty. A set: an id that is added twice is in it once.
   */
  mark({ stream, userId, quarantineId }: Quarantined, change: 'ADD' | 'DELETE'): DynamoWrite[] {
    if (stream !== 'users' || userId === null) return [];
    const update = {
      TableName: this.table,
      Key: marshall(keys.quarantined(userId)),
      UpdateExpression: `${change} ids :id`,
      ExpressionAttributeValues: { ':id': { SS: [quarantineId] } },
    };
    return [fromWrite(unconditional({ Update: update }))];
  }

  putAlways(Item: RawItem): DynamoWrite {
    return fromWrite(unconditional({ Put: { TableName: this.table, Item } }));
  }

  /** The item that a transaction puts with its token in it. */
  evidence(key: PipelineKey): Evidence {
    return { table: this.table, key: marshall(key), attribute: 'changeId' };
  }

  private put(Item: RawItem, condition: Condition, refusal: string): DynamoWrite {
    return refusable({ Put: { TableName: this.table, Item, ...condition } }, refusal);
  }

  private deletion(key: PipelineKey, condition: Condition, refusal: string): DynamoWrite {
    return refusable({ Delete: { TableName: this.table, Key: marshall(key), ...condition } }, refusal);
  }

  private deleteAlways(key: PipelineKey): DynamoWrite {
    return fromWrite(unconditional({ Delete: { TableName: this.table, Key: marshall(key) } }));
  }
}

const refusable = (item: DynamoWrite['item'], refusal: string): DynamoWrite => ({
  item,
  refused: () => new RecordChangedError(refusal),
});

const nameOf = ({ stream, shardId, sequence }: InboxEvent): string =>
  `event ${stream}.${shardId}.${sequence}`;
