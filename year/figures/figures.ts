import { addDays, midnightOf } from '../../src/domain/calendar-date.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import type { Run } from '../../src/ports/runs.ts';
import { daysFrom } from '../days.ts';
import type { Change } from './changes.ts';
import type { MonthOfMembers } from './membership.ts';
import { membersByMonth } from './membership.ts';
import type { Movement, MonthOfMoney } from './money.ts';
import { moneyByMonth } from './money.ts';
import type { Month } from './months.ts';
import { monthOfDate, monthsOf } from './months.ts';
import type { MonthOfOutcomes } from './outcomes.ts';
import { outcomesByMonth } from './outcomes.ts';
import type { FailedFirst, MonthOfRecovery } from './recovery.ts';
import { failedFirsts, recoveryByMonth } from './recovery.ts';
import type { MeterReading } from './returns.ts';

/** What the system has stored by the end, and the bank in its ledger. */
export interface Stored {
  readonly movements: readonly Movement[];
  readonly changes: readonly Change[];
  readonly runs: readonly Run[];
  readonly readings: readonly MeterReading[];
}

export interface YearFigures {
  readonly money: readonly MonthOfMoney[];
  readonly failedFirst: readonly FailedFirst[];
  readonly recovery: readonly MonthOfRecovery[];
  readonly members: readonly MonthOfMembers[];
  readonly outcomes: readonly MonthOfOutcomes[];
  readonly readings: readonly MeterReading[];
}

/** From the day up to, not with, the other. */
export function yearFigures(stored: Stored, from: CalendarDate, to: CalendarDate): YearFigures {
  const days = [...daysFrom(from, to)];
  const months = monthsOf(days);
  const failedFirst = failedFirsts(stored.changes);
  const ends = months.map((month) => ({ month, end: midnightOf(dayAfter(month, days)) }));
  return {
    money: moneyByMonth(stored.movements, months),
    failedFirst,
    recovery: recoveryByMonth(failedFirst, months),
    members: membersByMonth(stored.changes, ends),
    outcomes: outcomesByMonth(stored.runs, months),
    readings: stored.readings,
  };
}

function dayAfter(month: Month, days: readonly CalendarDate[]): CalendarDate {
  const last = days.findLast((date) => monthOfDate(date) === month);
  if (last === undefined) throw new Error(`no day of ${month} was lived`);
  return addDays(last, 1);
}
