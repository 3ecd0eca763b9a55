import { daysBetween, utcDay } from '../../calendar.ts';
import { byInstant, plusMs } from '../../instant.ts';
import type { Attempt } from '../../record.ts';
import type { FloatCase, FloatLimits, FloatRule } from '../float-case.ts';
import { logBefore } from '../float-case.ts';
import type { LogRow } from '../float-record.ts';
import { NOT_PRESENTED } from '../float-record.ts';

/** A worker that decided just before midnight may begin just after it; so long it may take. */
const DECIDED_WITHIN_MS = 60_000;
const FAILURES_TO_STOP_AT = 2;

/** What may be tried again and again. The stages of the due date come once, whatever the float's past. */
const REPEATED: readonly string[] = ['RETRY', 'WEBHOOK'];
const BY_HAND = 'SUPPORT';

/** No attempt past a limit, counted in the log as it was when the attempt was begun. */
export const withinTheLimits: FloatRule = function* (float, { floatLimits }) {
  for (const attempt of float.attempts) {
    const past = attemptsIn(logBefore(float, attempt));
    const details = [
      ...failedAchDebits(attempt, past, floatLimits),
      ...webhooksOfTheDay(attempt, past, floatLimits),
      ...daysPastDue(attempt, float, floatLimits),
      ...failuresInARow(attempt, float, past, floatLimits),
    ];
    for (const detail of details) yield `attempt ${attempt.id} of ${attempt.process} ${detail}`;
  }
};

/** What the log tells of one attempt, oldest first. What was never presented uses up no limit. */
type Told = readonly [LogRow, ...LogRow[]];

function attemptsIn(log: readonly LogRow[]): Told[] {
  const told = new Map<string, [LogRow, ...LogRow[]]>();
  for (const row of log) {
    if (row.attemptId === null || row.remark === NOT_PRESENTED) continue;
    const rows = told.get(row.attemptId);
    if (rows === undefined) told.set(row.attemptId, [row]);
    else rows.push(row);
  }
  return [...told.values()];
}

function* failedAchDebits(
  { rail, process }: Attempt,
  past: readonly Told[],
  { failedAch }: FloatLimits,
): Generator<string> {
  if (rail !== 'ACH' && !REPEATED.includes(process)) return;
  const failed = past.filter((rows) =>
    rows.some(({ method, outcome }) => method === 'ACH' && outcome === 'RETURNED'),
  ).length;
  if (failed >= failedAch) yield `was opened after ${failed} failed ACH debits, ${failedAch} are allowed`;
}

function* webhooksOfTheDay(
  { process, openedAt }: Attempt,
  past: readonly Told[],
  { webhooksPerDay }: FloatLimits,
): Generator<string> {
  if (process !== 'WEBHOOK') return;
  const counts = daysOf(openedAt).map(
    (day) => past.filter(([first]) => first.process === 'WEBHOOK' && first.runDate === day).length,
  );
  const fewest = Math.min(...counts);
  if (fewest >= webhooksPerDay)
    yield `was opened after ${fewest} attempts of signals that day, ${webhooksPerDay} are allowed`;
}

function* daysPastDue(
  { process, openedAt }: Attempt,
  { row }: FloatCase,
  limits: FloatLimits,
): Generator<string> {
  if (row === null || !REPEATED.includes(process)) return;
  const days = Math.min(...daysOf(openedAt).map((day) => daysBetween(row.dueDate, day)));
  if (days > limits.daysPastDue) yield `was opened ${days} days past due, ${limits.daysPastDue} are allowed`;
}

function* failuresInARow(
  attempt: Attempt,
  float: FloatCase,
  past: readonly Told[],
  { twoFailures }: FloatLimits,
): Generator<string> {
  if (!twoFailures || attempt.process === BY_HAND) return;
  const newestFirst = past
    .map((rows) => rows.at(-1) ?? rows[0])
    .sort((a, b) => byInstant(b.runTime, a.runTime));
  const succeeded = newestFirst.findIndex(({ outcome }) => outcome !== 'RETURNED');
  const failures = succeeded === -1 ? newestFirst.length : succeeded;
  if (failures >= FAILURES_TO_STOP_AT && !isReauthorised(float, attempt, newestFirst[0]))
    yield `was opened after ${failures} failures in a row without the member's new word`;
}

const isReauthorised = (float: FloatCase, attempt: Attempt, newest: LogRow | undefined): boolean =>
  logBefore(float, attempt).some(
    ({ process, method, runTime }) =>
      process === BY_HAND && method === null && runTime > (newest?.runTime ?? 0n),
  );

/** The day on which an attempt was opened, and that of the decision before it. */
const daysOf = (openedAt: bigint): string[] => [openedAt, plusMs(openedAt, -DECIDED_WITHIN_MS)].map(utcDay);
