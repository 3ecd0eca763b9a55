import type { ChangeEvent, RecordChange, StoredRecord } from '../domain/change-event.ts';
import { changeEvent, replacedBy, textOf } from '../domain/change-event.ts';
import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import type { UserId } from '../domain/subscription.ts';
import type { Log } from '../ports/log.ts';
import type { ChangeFate } from '../ports/metrics.ts';
import type { Message, Publisher } from '../ports/publisher.ts';
import { MESSAGE_LIMITS } from '../ports/publisher.ts';
import type { Deliver } from './bridge/shard-reader.ts';

export type { ChangeFate };

/** The stream it is told to, and what is noted of it. */
export interface Telling {
  readonly publisher: Publisher;
  readonly count: (fate: ChangeFate) => void;
  readonly log: Log;
}

export interface PublishDependencies extends Telling {
  readonly owned: OwnedUsers;
}

/** What is to be told of a change, and under which key, or why it is not. */
export type Told =
  | { readonly event: ChangeEvent; readonly key: string }
  | { readonly fate: 'removed' | 'not-owned' | 'without-ids' };

/** `removed`: what was removed shortly before, of which an insert may be the other half. */
export type TellChange = (change: RecordChange, removed: readonly StoredRecord[]) => Told;

type Verdict =
  | { readonly fate: 'published'; readonly message: Message }
  | { readonly fate: Exclude<ChangeFate, 'published'> };

/** Tells others of the changes of billing records. */
export const publishChanges = ({ owned, ...telling }: PublishDependencies): Deliver<RecordChange> =>
  publishTold(telling, (change, removed) => tellBilling(change, removed, owned));

/** Tells others of the changes of a table. What cannot be told is logged and does not hold up the shard. */
export function publishTold({ publisher, count, log }: Telling, tell: TellChange): Deliver<RecordChange> {
  /** Of each shard's batch before: the two halves of a move may come in two batches. */
  const removedBefore = new Map<string, readonly StoredRecord[]>();
  return async (shardId, records) => {
    const removed = records.flatMap(({ data }) => (data.after === null && data.before ? [data.before] : []));
    const replaceable = [...(removedBefore.get(shardId) ?? []), ...removed];
    const verdicts = records.map(({ sequence, data }) => {
      const verdict = verdictOn(tell(data, replaceable));
      if (verdict.fate === 'without-ids' || verdict.fate === 'too-large')
        log.error({ shardId, sequence, reason: verdict.fate }, 'a change cannot be published');
      return verdict;
    });
    await publisher.publish(
      verdicts.flatMap((verdict) => (verdict.fate === 'published' ? [verdict.message] : [])),
    );
    for (const { fate } of verdicts) count(fate);
    if (removed.length > 0) removedBefore.set(shardId, removed);
    else removedBefore.delete(shardId);
  };
}

function tellBilling(
  { before, after }: RecordChange,
  removed: readonly StoredRecord[],
  owned: OwnedUsers,
): Told {
  if (after === null) return { fate: 'removed' };
  const key = textOf(after, 'user_id');
  if (!owns(owned, key as UserId)) return { fate: 'not-owned' };
  const event = changeEvent(before ?? replacedBy(after, removed), after);
  return event === null ? { fate: 'without-ids' } : { event, key };
}

function verdictOn(told: Told): Verdict {
  if ('fate' in told) return told;
  const message = { key: told.key, text: JSON.stringify(told.event) };
  return fits(message) ? { fate: 'published', message } : { fate: 'too-large' };
}

const fits = ({ key, text }: Message): boolean =>
  key.length <= MESSAGE_LIMITS.keyCharacters &&
  Buffer.byteLength(key) + Buffer.byteLength(text) <= MESSAGE_LIMITS.bytes;
