import type { CalendarDate } from '../../domain/calendar-date.ts';
import { sayMoney } from '../../domain/money.ts';
import type { RecurringStatus, RecurringSubscription } from '../../domain/recurring/recurring.ts';
import type { RecurringCause } from '../../domain/recurring/transitions.ts';
import type { Attempt, AttemptRecord } from '../../ports/pipeline.ts';
import type { RecurringLogEntry } from '../../ports/recurring.ts';
import { resolvedText, unansweredText } from '../explain-texts.ts';

/* What happens to recurring payments, in words; beside what they have in common with others (`explain-texts.ts`). */

/** The short answer. */
const STATUS_TEXTS: Record<RecurringStatus, (one: RecurringSubscription, today: CalendarDate) => string> = {
  ACTIVE: ({ nextPaymentDate, nextReminderDate }, today) =>
    nextPaymentDate !== null && nextPaymentDate <= today
      ? `due since ${nextPaymentDate}, and not paid yet`
      : `paid next on ${nextPaymentDate}${nextReminderDate === null ? ', and told of' : `, told of on ${nextReminderDate}`}`,
  PAST_DUE: ({ periodDate, nextPaymentDate, error }) =>
    `owed since ${periodDate}, and tried again on ${nextPaymentDate}: ${error}`,
  FAILED: ({ periodDate, error }) =>
    `given up: the payment of ${periodDate} was declined to the last: ${error}`,
  CANCELLED: () => 'cancelled: nothing is charged any more',
};

/** While the answer to a charge is unknown, the status says less than the charge does. */
export const recurringSummary = (
  subscription: RecurringSubscription,
  open: Attempt | null,
  today: CalendarDate,
): string => (open === null ? STATUS_TEXTS[subscription.status](subscription, today) : unansweredText(open));

interface Told {
  readonly entry: RecurringLogEntry;
  readonly before: RecurringLogEntry | undefined;
  readonly attempt: AttemptRecord | undefined;
}

const CHANGE_TEXTS: Record<RecurringCause, (told: Told) => string> = {
  created: ({ entry }) =>
    `${entry.by ?? 'somebody'} began ${sayMoney(entry.paymentAmount)} for ${entry.sku} on day ${entry.paymentDay} of each month${upTo(entry)}`,
  reminded: ({ entry }) => `the account was told of the payment of ${entry.periodDate}`,
  'attempt-opened': () => 'a charge was begun',
  'attempt-succeeded': (told) => `${answerText(told)}; there is a receipt${upTo(told.entry)}`,
  'attempt-declined': (told) => `${answerText(told)}${afterDecline(told.entry)}`,
  'attempt-abandoned': ({ entry }) =>
    `the charge was given up, because the processor never knew of it${triedAgain(entry)}`,
  'period-too-old': ({ entry, before }) =>
    `the payment of ${before?.periodDate ?? 'before'} was not asked for any more${upTo(entry)}`,
  changed: ({ entry, before }) =>
    `${entry.by ?? 'somebody'} changed ${whatChanged(entry, before)}${upTo(entry)}`,
  cancelled: ({ entry }) => `${entry.by ?? 'somebody'} cancelled it`,
};

export const recurringChangeText = (told: Told): string => CHANGE_TEXTS[told.entry.cause](told);

function answerText({ attempt }: Told): string {
  const resolution = attempt?.resolution ?? null;
  return attempt === undefined || resolution === null
    ? 'the charge was answered'
    : resolvedText(attempt, resolution);
}

const upTo = ({ nextPaymentDate }: RecurringLogEntry): string =>
  nextPaymentDate === null ? '' : `; the next payment is on ${nextPaymentDate}`;

const afterDecline = (entry: RecurringLogEntry): string =>
  entry.status === 'FAILED' ? '; that was the last try' : triedAgain(entry);

const triedAgain = ({ nextPaymentDate }: RecurringLogEntry): string =>
  nextPaymentDate === null ? '' : `; tried again on ${nextPaymentDate}`;

function whatChanged(after: RecurringLogEntry, before: RecurringLogEntry | undefined): string {
  if (before === undefined) return 'it';
  const changes = [
    after.paymentAmount === before.paymentAmount
      ? []
      : [`the amount from ${sayMoney(before.paymentAmount)} to ${sayMoney(after.paymentAmount)}`],
    after.sku === before.sku ? [] : [`the SKU from ${before.sku} to ${after.sku}`],
    after.paymentDay === before.paymentDay
      ? []
      : [`the payment day from ${before.paymentDay} to ${after.paymentDay}`],
  ].flat();
  return changes.length === 0 ? 'how it is paid' : changes.join(', ');
}
