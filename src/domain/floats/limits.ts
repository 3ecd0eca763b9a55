import type { CalendarDate } from '../calendar-date.ts';
import { compareInstants } from '../instant.ts';
import type { LogEntry, Stage } from './float.ts';

/**
 * How many ACH debits came back or were not even taken, over the float's whole life. The service before us wrote
 * RETURNED of ACH debits only, and no method.
 */
export const failedAch = (log: readonly LogEntry[]): number =>
  attemptsIn(log).filter((rows) =>
    rows.some(({ method, outcome }) => method !== 'PINLESS' && outcome === 'RETURNED'),
  ).length;

/** How many attempts a stage has made that day. A return that arrives on it is no attempt: its first row counts. */
export const attemptsOn = (day: CalendarDate, stage: Stage, log: readonly LogEntry[]): number =>
  attemptsIn(log).filter(([first]) => first.process === stage && first.runDate === day).length;

/** How many of the newest attempts have failed one after the other, over any rail. */
export function failuresInARow(log: readonly LogEntry[]): number {
  const failed = newestFirst(log).map(({ outcome }) => outcome === 'RETURNED');
  const success = failed.indexOf(false);
  return success === -1 ? failed.length : success;
}

/** Support has set the float's status after the newest attempt: the member wants us to go on. */
export function isReauthorised(log: readonly LogEntry[]): boolean {
  const [newest] = newestFirst(log);
  return hasSupportSpoken(log, newest);
}

/**
 * A payment was made, or is under way, and has not come back; nor has support said since that the float is owed all the
 * same. Rows that name no attempt do not tell for sure which payment it was that came back.
 */
export const isPaidAlready = (log: readonly LogEntry[]): boolean =>
  newestFirst(log).some(
    (row) => row.attemptId !== null && row.outcome !== 'RETURNED' && !hasSupportSpoken(log, row),
  );

const hasSupportSpoken = (log: readonly LogEntry[], since: LogEntry | undefined): boolean =>
  log.some((row) => isSupportsWord(row) && (since === undefined || row.runTime > since.runTime));

const isSupportsWord = ({ process, method }: LogEntry): boolean => process === 'SUPPORT' && method === null;

type Rows = [LogEntry, ...LogEntry[]];

/**
 * The rows of each attempt, oldest first. One that never reached the processor is none: the member was not asked for
 * money, and a processor that is down would use up every member's limits at once.
 */
function attemptsIn(log: readonly LogEntry[]): Rows[] {
  const attempts = new Map<string, Rows>();
  for (const row of [...log].sort((a, b) => compareInstants(a.runTime, b.runTime))) {
    const name = attemptOf(row);
    if (name === null || row.remark === 'not-presented') continue;
    const rows = attempts.get(name);
    if (rows === undefined) attempts.set(name, [row]);
    else rows.push(row);
  }
  return [...attempts.values()];
}

/** Which attempt a row tells of; null where nothing was attempted. The service before us named none. */
function attemptOf({ attemptId, process, outcome, confirmationId, runTime }: LogEntry): string | null {
  if (attemptId !== null) return attemptId;
  if (process === 'SUPPORT' || outcome === 'DEFAULTED') return null;
  return confirmationId ?? String(runTime);
}

/** What was last heard of each attempt. */
const newestFirst = (log: readonly LogEntry[]): LogEntry[] =>
  attemptsIn(log)
    .map((rows) => rows.at(-1) ?? rows[0])
    .sort((a, b) => compareInstants(b.runTime, a.runTime));
