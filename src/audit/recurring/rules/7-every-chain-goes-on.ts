import { daysInMonth } from '../../calendar.ts';
import type { RecurringRule } from '../recurring-case.ts';
import type { RecurringChange } from '../recurring-record.ts';

/**
 * Every calendar month has one period, on the payment day or the last of the month. A payment leads to the month after
 * it, a period that is too old to some later one, and whatever else happens to none.
 */
export const everyChainGoesOn: RecurringRule = function* ({ changes }) {
  for (const [n, change] of changes.entries()) {
    const before = changes[n - 1];
    if (before === undefined) continue;
    const months = monthOf(change.periodDate) - monthOf(before.periodDate);
    if (!mayPass(change, before, months))
      yield `the period of ${before.periodDate} was followed by that of ${change.periodDate} (${change.cause})`;
    const hasMoved = change.periodDate !== before.periodDate;
    if (hasMoved && !isOnItsDay(change))
      yield `the period of ${change.periodDate} is not on day ${change.paymentDay} of its month`;
  }
};

function mayPass({ cause, status }: RecurringChange, before: RecurringChange, months: number): boolean {
  if (cause === 'period-too-old') return months > 0;
  // An account that had left when the payment was answered has no next one.
  if (cause === 'attempt-succeeded') return months === (before.status === 'CANCELLED' ? 0 : 1);
  return months === 0 || status === 'CANCELLED';
}

const monthOf = (date: string): number => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7));

function isOnItsDay({ periodDate, paymentDay }: RecurringChange): boolean {
  const [year = 0, month = 0, day = 0] = periodDate.split('-').map(Number);
  return day === Math.min(paymentDay, daysInMonth(year, month));
}
