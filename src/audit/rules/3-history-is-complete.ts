import { isDeepStrictEqual } from 'node:util';
import { INTENTS } from '../allowed-transitions.ts';
import type { Attempt, Change, RecordState } from '../record.ts';
import type { PlainItem } from '../source.ts';
import type { RecordCase, Rule } from '../user-case.ts';
import type { Finding } from '../violation.ts';

/** The history explains every record to an operator who asks later: it is worth that only if it is whole. */
export const historyIsComplete: Rule = function* ({ records, unreadable }): Generator<Finding> {
  yield* unreadable;
  for (const record of records) {
    const { subscriptionId } = record;
    const wrong = [...newestRow(record), ...stamps(record), ...attemptRows(record)];
    for (const detail of wrong) yield { subscriptionId, detail };
  }
};

function* newestRow({ row, changes }: RecordCase): Generator<string> {
  const newest = changes.at(-1);
  if (row === null) yield 'has history but no billing row';
  else if (newest === undefined) yield 'has no history';
  else if (newest.lastRunDate !== row.lastRunDate)
    yield `the row is of ${row.lastRunDateText}, its newest history row of ${newest.lastRunDateText}`;
  else {
    const names = differences(row, newest);
    if (names.length > 0) yield `the row and its newest history row differ in ${names.join(', ')}`;
  }
}

function differences({ item: row }: RecordState, { item: history }: Change): string[] {
  const names = new Set([...Object.keys(row), ...Object.keys(history)].filter(isShared));
  return [...names].filter((name) => !isDeepStrictEqual(valueOf(row, name), valueOf(history, name))).sort();
}

/** `data_*` says who made the change and lives in the history only. */
const isShared = (name: string): boolean => !name.startsWith('data_');

const valueOf = (item: PlainItem, name: string): unknown => item[name];

/** The key keeps two rows of one text apart; two spellings of one instant it does not. */
function* stamps({ changes }: RecordCase): Generator<string> {
  for (const [i, { lastRunDate, lastRunDateText }] of changes.entries()) {
    const before = changes[i - 1];
    if (before !== undefined && before.lastRunDate >= lastRunDate)
      yield `two changes have the stamp ${lastRunDateText}`;
  }
}

/** What the attempts tell about changes that must have left a row. */
function* attemptRows({ changes, attempts }: RecordCase): Generator<string> {
  const [first] = changes;
  if (first !== undefined && !isBornCharged(first) && attempts.some(({ id }) => id === first.attemptId))
    yield `the first history row, ${first.lastRunDateText}, is an attempt: what came before is missing`;
  for (const attempt of attempts) {
    const rows = changes.filter(({ attemptId }) => attemptId === attempt.id);
    const intents = rows.filter(({ cause }) => cause !== null && INTENTS.includes(cause)).length;
    const beganAlong = changes.some(({ openedAttemptId }) => openedAttemptId === attempt.id);
    if (intents === 0 && !beganAlong) yield `no history row tells of the intent of attempt ${attempt.id}`;
    if (attempt.resolution !== null && rows.length === intents && !wasReplaced(attempt, changes))
      yield `no history row tells of the outcome of attempt ${attempt.id}`;
  }
}

/** A charge may make its own record (a reactivation). */
const isBornCharged = ({ status }: Change): boolean => status === 'COMPLETED' || status === 'CANCELLED';

/** A card without money and the turn to the account are one change: the intent on the account tells of both. */
const wasReplaced = ({ id, rail, triggerId, resolution }: Attempt, changes: readonly Change[]): boolean =>
  rail === 'PINLESS' &&
  resolution?.status === 'FAILED' &&
  changes.some(
    (change) =>
      change.cause === 'attempt-opened' && change.attemptId !== id && change.triggerId === triggerId,
  );
