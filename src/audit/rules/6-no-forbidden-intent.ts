import { INTENTS, OUTCOMES } from '../allowed-transitions.ts';
import { instantText } from '../instant.ts';
import type { Attempt, Change } from '../record.ts';
import type { RecordCase, Rule } from '../user-case.ts';
import type { Finding } from '../violation.ts';

const COLLECTABLE: readonly string[] = ['SCHEDULED', 'ERROR'];
const LEAVING = 'PENDING_CANCELLATION';
const CLOSED = 'account-closed';

/** No intent while a freeze, the record's own state, or another attempt on it forbids one. */
export const noForbiddenIntent: Rule = function* ({ userId, records }, { freezes }): Generator<Finding> {
  for (const record of records) {
    const { subscriptionId } = record;
    for (const attempt of record.attempts) {
      const at = intendedAt(record, attempt);
      const freeze = freezes.forbids(at, attempt.rail, userId);
      if (freeze !== null && !goesBackAtOnce(record, attempt))
        yield {
          subscriptionId,
          detail: `attempt ${attempt.id} was opened at ${instantText(at)} during a freeze (${freeze})`,
        };
      for (const detail of [...forbiddenByRecord(record, attempt), ...openTogether(record, attempt, at)])
        yield { subscriptionId, detail };
    }
  }
};

/** What was paid in vain goes back with the record of the payment; a freeze does not hold back money that is returned. */
const goesBackAtOnce = ({ changes }: RecordCase, { id }: Attempt): boolean =>
  changes.some(({ openedAttemptId }) => openedAttemptId === id);

const intentOf = ({ changes }: RecordCase, { id }: Attempt): number =>
  changes.findIndex(
    ({ cause, attemptId, openedAttemptId }) =>
      openedAttemptId === id || (cause !== null && INTENTS.includes(cause) && attemptId === id),
  );

/**
 * When the intent was written, by the stamp of its history row. Attempts of older versions carry the time at which
 * their case was first read: a second rail after a slow decline would seem to be opened before the first ended.
 */
const intendedAt = (record: RecordCase, attempt: Attempt): bigint =>
  record.changes[intentOf(record, attempt)]?.lastRunDate ?? attempt.openedAt;

function* forbiddenByRecord(record: RecordCase, attempt: Attempt): Generator<string> {
  const intent = intentOf(record, attempt);
  if (attempt.isRefund) {
    const status = record.changes[intent]?.status;
    if (status !== undefined && status !== 'COMPLETED')
      yield `refund ${attempt.id} was begun on a record that was ${status}`;
    return;
  }
  const before: Change | undefined = record.changes[intent - 1];
  if (before === undefined) return;
  const opened = `attempt ${attempt.id} was opened on a record that was`;
  if (!COLLECTABLE.includes(before.status)) yield `${opened} ${before.status}`;
  else if (before.updatedEvent === LEAVING) yield `${opened} to be cancelled`;
  else if (before.updatedEvent === CLOSED) yield `${opened} of a closed account`;
}

/** Two at once could both be paid. */
function* openTogether(record: RecordCase, attempt: Attempt, at: bigint): Generator<string> {
  for (const other of record.attempts) {
    if (other.id === attempt.id || wasGivenUp(record, other, at)) continue;
    const otherAt = intendedAt(record, other);
    const isEarlier = otherAt < at || (otherAt === at && other.id < attempt.id);
    if (isEarlier && (other.resolution === null || other.resolution.at > at))
      yield `attempt ${attempt.id} was opened at ${instantText(at)} while attempt ${other.id} was open`;
  }
}

/** By then it had ended, and has ended once more since: the processor knew of it after all. */
function wasGivenUp({ changes }: RecordCase, { id }: Attempt, at: bigint): boolean {
  const ends = changes.filter(
    ({ attemptId, cause }) => attemptId === id && cause !== null && OUTCOMES.includes(cause),
  );
  const [first] = ends;
  return first?.cause === 'attempt-declined' && first.lastRunDate <= at && ends.length > 1;
}
