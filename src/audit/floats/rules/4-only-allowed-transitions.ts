import { instantText } from '../../instant.ts';
import type { FloatRule } from '../float-case.ts';
import { later, statusesTold, thenOrLater, walk } from '../walk.ts';
import type { Statuses } from '../walk.ts';

/** Each row of the log must be possible after those before it, and the float's status after the last one. */
export const onlyAllowedTransitions: FloatRule = function* ({ row, log }) {
  for (const { row: entry, before, after } of walk(log)) {
    if (after.size > 0) continue;
    const what = `${entry.outcome}${entry.method === null ? '' : ` by ${entry.method}`}`;
    yield `the log tells of ${what} at ${instantText(entry.runTime)}, when the float was ${either(before)}`;
  }
  if (row === null) return;
  const told = statusesTold(log);
  const newest = log.at(-1);
  // Every change has a stamp: with that of the newest row nothing has happened since, with a later one something has.
  const possible =
    newest === undefined ? thenOrLater(told) : row.lastRunTime === newest.runTime ? told : later(told);
  if (!possible.has(row.status)) yield `is ${row.status}, which by its log it cannot be`;
};

const either = (statuses: Statuses): string => [...statuses].sort().join(' or ');
