import type { CalendarDate } from './calendar-date.ts';
import { parseDate } from './calendar-date.ts';
import type { Instant } from './instant.ts';
import { msOf } from './instant.ts';
import type { Cents } from './money.ts';
import { cents } from './money.ts';
import type { UserId } from './subscription.ts';

/** Another service tells us that a member may be able to pay now. */
export type Signal = IncomeSignal | BalanceSignal;

interface SignalBase {
  /** The sender's name for it: the same when it is sent again. */
  readonly signalId: string;
  readonly userId: UserId;
}

/** Money came in. */
export interface IncomeSignal extends SignalBase {
  readonly kind: 'income';
  readonly amount: Cents;
  /** The day of the deposit where the bank's books are kept. */
  readonly date: CalendarDate;
}

/** A bank account was linked, with whatever is on it. */
export interface BalanceSignal extends SignalBase {
  readonly kind: 'balance';
  readonly isPrimary: boolean;
}

/** A smaller deposit is hardly a wage, and a debit on it would hurt. */
const INCOME_ABOVE = cents(75_00);

/** The senders' books are kept there, whatever the member's own zone is. */
const DAY_IN_CHICAGO = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Chicago' });

/** Why nothing follows from it; null when something does. */
export function whyIgnored(signal: Signal, now: Instant): string | null {
  if (signal.kind === 'balance') return signal.isPrimary ? null : 'not-primary-account';
  if (signal.amount <= INCOME_ABOVE) return 'amount-too-small';
  return signal.date === dayInChicago(now) ? null : 'not-today';
}

export function dayInChicago(now: Instant): CalendarDate {
  const date = parseDate(DAY_IN_CHICAGO.format(msOf(now)));
  if (date === null) throw new RangeError('this Node writes Canadian dates in another way');
  return date;
}
