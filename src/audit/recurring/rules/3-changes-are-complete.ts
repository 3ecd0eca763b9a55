import { instantText } from '../../instant.ts';
import type { RecurringCase, RecurringRule } from '../recurring-case.ts';
import type { RecurringChange, RecurringRow } from '../recurring-record.ts';

/** What is told about a payment answers "why was I charged?" only if it is whole. */
export const changesAreComplete: RecurringRule = function* (subscription) {
  yield* rowIsAsTold(subscription);
  yield* outcomesAreTold(subscription);
};

/** The beginning of an attempt stamps the row and is told of by the attempt alone. */
function* rowIsAsTold({ row, changes, attempts }: RecurringCase): Generator<string> {
  const newest = changes.at(-1);
  if (row.changedDate === null) {
    if (newest !== undefined) yield 'has no stamp, but was changed';
    return;
  }
  if (newest === undefined) {
    if (attempts.length === 0)
      yield `was changed at ${instantText(row.changedDate)}, and nothing tells of it`;
    return;
  }
  if (newest.at > row.changedDate) yield 'is older than the newest change of it';
  const isNewer = row.changedDate > newest.at;
  const hasBegunSince = attempts.some(({ openedAt }) => openedAt >= newest.at - CLOCKS_NANOS);
  if (isNewer && !hasBegunSince) yield 'is newer than the newest change of it, and no attempt was begun';
  for (const name of TOLD)
    if (row[name] !== newest[name]) yield `${name} is not what the newest change tells`;
}

const CLOCKS_NANOS = 5_000_000_000n;

const TOLD = [
  'status',
  'sku',
  'amountCents',
  'paymentDay',
  'periodDate',
  'nextPaymentDate',
  'nextReminderDate',
] as const satisfies readonly (keyof RecurringRow & keyof RecurringChange)[];

function* outcomesAreTold({ attempts, changes }: RecurringCase): Generator<string> {
  for (const { id, resolution, isAbandoned } of attempts) {
    if (resolution === null) continue;
    const told = changes.filter((change) => change.attemptId === id);
    if (told.length !== 1 || told[0]?.cause !== causeOf(resolution, isAbandoned))
      yield `attempt ${id} ended as ${resolution.status}, and ${told.length} changes tell of it`;
  }
}

/** What never came to a card counts as no try, so it must not be told as a decline. */
function causeOf({ status }: { readonly status: string }, isAbandoned: boolean): string {
  if (isAbandoned) return 'attempt-abandoned';
  return status === 'FAILED' ? 'attempt-declined' : 'attempt-succeeded';
}
