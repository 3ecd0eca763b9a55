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

export interface PublishDependencies {
  readonly publisher: Publisher;
  readonly owned: OwnedUsers;
  readonly count: (fate: ChangeFate) => void;
  readonly log: Log;
}

type Verdict =
  | { readonly fate: 'published'; readonly message: Message }
  | { readonly fate: Exclude<ChangeFate, 'published'> };

/** Tells others of the changes of billing records. What cannot be told is logged and holds nobody up. */
export function publishChanges(dependencies: PublishDependencies): Deliver<RecordChange> {
  const { publisher, owned, count, log } = dependencies;
  /** Of each shard's batch before: the two halves of a move may come in two batches. */
  const removedBefore = new Map<string, readonly StoredRecord[]>();
  return async (shardId, records) => {
    const removed = records.flatMap(({ data }) => (data.after === null && data.before ? [data.before] : []));
    const replaceable = [...(removedBefore.get(shardId) ?? []), ...removed];
    const verdicts = records.map(({ sequence, data }) => {
      const verdict = readChange(data, replaceable, owned);
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

function readChange(
  { before, after }: RecordChange,
  removed: readonly StoredRecord[],
  owned: OwnedUsers,
): Verdict {
  if (after === null) return { fate: 'removed' };
  if (!owns(owned, textOf(after, 'user_id') as UserId)) return { fate: 'not-owned' };
  const event = changeEvent(before ?? replacedBy(after, removed), after);
  if (event === null) return { fate: 'without-ids' };
  const message = messageOf(event);
  return fits(message) ? { fate: 'published', message } : { fate: 'too-large' };
}

const messageOf = (event: ChangeEvent): Message => ({
  key: textOf(event.data, 'user_id'),
  text: JSON.stringify(event),
});

const fits = ({ key, text }: Message): boolean =>
  key.length <= MESSAGE_LIMITS.keyCharacters &&
  Buffer.byteLength(key) + Buffer.byteLength(text) <= MESSAGE_LIMITS.bytes;
