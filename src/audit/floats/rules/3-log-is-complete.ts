import { utcDay } from '../../calendar.ts';
import { instantText } from '../../instant.ts';
import type { Attempt } from '../../record.ts';
import type { FloatCase, FloatRule } from '../float-case.ts';
import type { LogRow } from '../float-record.ts';

/** Limits and the answer to an operator who asks why are read from the log: it is worth that only if it is whole. */
export const logIsComplete: FloatRule = function* (float) {
  yield* float.unreadable;
  yield* newestRow(float);
  for (const row of float.log) for (const what of wrongIn(row, float)) yield `${nameOf(row)} ${what}`;
  for (const attempt of float.attempts) yield* attemptRows(attempt, float);
};

function* newestRow({ row, log }: FloatCase): Generator<string> {
  const newest = log.at(-1);
  if (row !== null && newest !== undefined && newest.runTime > row.lastRunTime)
    yield `the float is of ${instantText(row.lastRunTime)}, its newest log row of ${instantText(newest.runTime)}`;
}

function* wrongIn(row: LogRow, { userId, attempts }: FloatCase): Generator<string> {
  if (row.userId !== userId) yield 'is of another user';
  if (row.attemptId === null) return;
  // The service before us may have had days of its own; the limits count ours.
  if (row.runDate !== utcDay(row.runTime)) yield `is counted for ${row.runDate}`;
  const attempt = attempts.find(({ id }) => id === row.attemptId);
  if (attempt === undefined) return;
  if (row.method !== attempt.rail)
    yield `tells of ${row.method ?? 'no rail'}, its attempt was by ${attempt.rail}`;
  if (row.process !== attempt.process)
    yield `is of ${row.process}, its attempt was begun by ${attempt.process}`;
}

/** What the processor answered, in the words of the log. */
const OUTCOME_OF: Readonly<Record<string, string>> = {
  COMPLETED: 'COMPLETED',
  ACHSENT: 'ACHSENT',
  FAILED: 'RETURNED',
};

function* attemptRows({ id, resolution }: Attempt, { log }: FloatCase): Generator<string> {
  const told = log.filter(({ attemptId }) => attemptId === id).map(({ outcome }) => outcome);
  if (resolution === null) {
    if (told.length > 0) yield `attempt ${id} is open, but the log tells of its outcome`;
    return;
  }
  const outcome = OUTCOME_OF[resolution.status];
  if (outcome === undefined || !told.includes(outcome))
    yield `no log row tells that attempt ${id} ended as ${resolution.status}`;
}

const nameOf = ({ runTime }: LogRow): string => `the log row of ${instantText(runTime)}`;
