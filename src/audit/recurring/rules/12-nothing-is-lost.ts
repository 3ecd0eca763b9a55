import { GOES_ON } from '../allowed-recurring-transitions.ts';
import type { RecurringRule } from '../recurring-case.ts';

/** What goes on is in the indexes, on a day that is still read; what is over is in none. */
export const nothingIsLost: RecurringRule = function* ({ row }, { dueSince }) {
  const { status, nextPaymentDate, nextReminderDate, hasIndexKeys } = row;
  if (!GOES_ON.includes(status)) {
    if (nextPaymentDate !== null || nextReminderDate !== null) yield `is ${status}, but has a next day`;
    return;
  }
  if (nextPaymentDate === null) yield `is ${status}, but has no next payment`;
  if (!hasIndexKeys) yield 'lacks the time without which it is in no index';
  if (isBefore(nextPaymentDate, dueSince.payments))
    yield `is to be paid on ${nextPaymentDate}, and payments are read from ${dueSince.payments} on`;
  if (isBefore(nextReminderDate, dueSince.reminders))
    yield `is to be told of on ${nextReminderDate}, and reminders are read from ${dueSince.reminders} on`;
};

const isBefore = (date: string | null, since: string | null): boolean =>
  date !== null && since !== null && date < since;
