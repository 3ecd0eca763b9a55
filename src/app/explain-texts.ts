import type { BlockReason, NoOpReason, RefusalReason, SkipReason } from '../domain/decision.ts';
import type { FloatDecision } from '../domain/floats/float-decision.ts';
import type { Instant } from '../domain/instant.ts';
import { formatInstant } from '../domain/instant.ts';
import { sayMoney } from '../domain/money.ts';
import type { NoNotice, THREE_DAY_NOTICE } from '../domain/notice.ts';
import { declineText } from '../domain/outcomes.ts';
import type { RecurringDecision, ReminderDecision } from '../domain/recurring/recurring-decision.ts';
import type { RECURRING_REMINDER } from '../domain/recurring/reminder.ts';
import { parseRunId } from '../domain/runs.ts';
import type { BillingStatus, Rail, Subscription } from '../domain/subscription.ts';
import type { Cause } from '../domain/transitions.ts';
import type { Verdict, VerdictName } from '../domain/verdict.ts';
import { isProvisional } from '../domain/verdict.ts';
import type { Attempt, Resolution } from '../ports/pipeline.ts';
import type { CollectionRequest, RequestPath } from '../ports/requests.ts';

/*
 * What the words of the pipeline mean, for people who ask why a member was or was not charged. One table for each kind
 * of word, so that a new word does not compile without its text.
 */

/** Follows the name of the run or caller that decided. */
const VERDICT_TEXTS: Record<VerdictName, string> = {
  collected: 'charged it',
  sent: 'sent it to the bank',
  declined: 'tried to charge it and was declined',
  refused: 'did not charge it, which counts as a try',
  unknown: 'sent a charge to which no answer came',
  cancelled: 'cancelled it',
  waived: 'waived it',
  stale: 'wrote it off',
  'pause-skipped': 'skipped the paused period',
  defaulted: 'gave it up for good',
  uncollectable: 'found nothing that could be charged',
  'given-up': 'could not charge it on its day',
  notified: 'told the member of the coming charge',
  'refund-sent': 'gave the money back',
  'refund-declined': 'tried to give the money back and was refused',
  'no-op': 'had nothing to do',
  deferred: 'put it off',
  skipped: 'did not charge it',
  blocked: 'left it alone, because an earlier charge or refund has no answer yet',
  held: 'held it back to look once more',
  locked: 'did not get to it',
  failed: 'gave up',
  malformed: 'could not read it',
};

const LOST_REFUND = 'sent a refund to which no answer came';

type ReasonOf<D> = D extends { readonly reason: infer R } ? R : never;

type Reason =
  | ReasonOf<FloatDecision>
  | ReasonOf<RecurringDecision>
  | ReasonOf<ReminderDecision>
  | typeof RECURRING_REMINDER
  | NoOpReason
  | BlockReason
  | SkipReason
  | RefusalReason
  | NoNotice
  | typeof THREE_DAY_NOTICE
  | 'already-notified'
  | 'no-answer'
  | 'pause-goes-on'
  | 'pause-is-over'
  | 'record-gone'
  | 'user-busy';

const REASON_TEXTS: Record<Reason, string> = {
  'status-not-collected': 'the record is in a status that this does not collect',
  'not-due': 'it was not due yet',
  'not-stale': 'it was not old enough to be written off',
  'membership-event-unapplied': 'a change of the membership was not applied yet',
  'membership-event-quarantined': 'a change of the membership is in quarantine and waits for somebody',
  'frozen-global': 'all charging was frozen',
  'frozen-user': 'this member was frozen',
  'frozen-rail': 'the way by which the member would be charged was frozen',
  'user-missing': 'the user service does not know the member',
  'user-processing': 'the user service has not finished setting the member up',
  'user-under-investigation': 'the member is under investigation',
  'user-status-unknown': 'the user service gives the member a status that is not known here',
  'user-inactive': 'the member is not active',
  'pending-cancellation': 'the member has cancelled',
  'account-closed': 'the member has closed the account',
  'user-cancelled': 'the membership has ended, says the user service',
  'user-banned': 'the member is banned, says the user service',
  employee: 'the member is an employee',
  'too-old': 'it is too long overdue',
  'open-attempt': 'nobody knows yet whether the money has moved',
  'older-period-first': 'an older period of the member goes first, one a day',
  'initial-today': 'a period of the member was tried for the first time that day',
  'retried-today': 'it was retried that day already',
  'webhooks-today': 'signals had it tried often enough that day',
  'attempts-used-up': 'it was tried as often as is allowed',
  'ach-account-blocked': 'the bank returned an entry for good, and the account may not be debited again',
  'ach-entry-pending': 'an entry at the bank has no outcome yet',
  'ach-not-representable': 'the bank returned it with a code after which it may not be presented again',
  'ach-representments-used-up': 'it was presented to the bank as often as is allowed',
  'ach-window-over': 'the time in which it may be presented to the bank again is over',
  'ach-too-soon': 'it may not be presented to the bank again so soon',
  'no-debit-card': 'the member has no debit card, and paying by hand needs one',
  'amount-not-positive': 'there is nothing to charge',
  'balance-too-low': 'the balance was too low',
  'no-account': 'the member has no primary account',
  'has-debit-card': 'the member has a debit card, which is charged on the due date itself',
  'route-against-ach': 'a debit of the account was too likely to come back',
  'ach-attempts-used-up': 'the bank returned as many debits as is allowed',
  'too-long-past-due': 'it is too long past its due date',
  'paid-already':
    'a payment of it has not come back, and support has not said since that it is owed all the same',
  'two-failures': 'two attempts in a row have failed, and the member has not authorised another',
  'webhooks-of-the-day-used': 'signals had it tried often enough that day',
  'reminder-not-sent': 'the account has not been told of it yet',
  'status-not-reminded': 'it is in a status in which nobody is told of it',
  'already-reminded': 'the account was told before',
  recurring_payment_reminder: 'some days ahead',
  'not-scheduled': 'it is not scheduled any more',
  'another-date': 'its date was moved',
  'already-due': 'it was due already',
  three_day_notification: 'a few days ahead',
  'already-notified': 'the member was told before',
  'no-answer': 'the processor is asked again later',
  'pause-goes-on': 'the next period is paused too',
  'pause-is-over': 'the next period is billed again',
  'record-gone': 'the record was not there',
  'user-busy': 'somebody else was working on this member',
};

const RAIL_TEXTS: Record<Rail, string> = {
  PINLESS: 'over the debit card',
  ACH: 'from the bank account',
};

export const CAUSE_TEXTS: Record<Cause, string> = {
  'attempt-opened': 'a charge was begun',
  'attempt-succeeded': 'the charge was taken',
  'ach-accepted': 'the charge was accepted and is on its way through the bank',
  'attempt-declined': 'the charge was declined',
  'balance-refused': 'it was not charged for want of money',
  'cancelled-by-run': 'it was cancelled instead of charged',
  'employee-waived': 'it was waived for an employee',
  'gone-stale': 'it was written off as too old',
  'pause-skipped': 'the paused period was skipped',
  'membership-cancelled': 'the member cancelled',
  'membership-paused': 'the member paused',
  'membership-retracted': 'the member took the cancellation back',
  'membership-unpaused': 'the member resumed',
  'account-closed': 'the account was closed',
  'ach-completed': 'the bank paid',
  'ach-returned': 'the bank returned the entry',
  refunded: 'the money was given back',
  'charged-back': 'the member had the bank take the money back',
  'support-changed': 'support changed it',
  'plan-changed': 'the plan was changed',
  reactivated: 'it was cancelled, because the member came back and has a new period instead',
  'refund-opened': 'a refund was begun',
  'refund-accepted': 'the refund is on its way',
  'refund-declined': 'the refund was refused',
  'told-aside': 'there was word of another charge for it, which changes nothing here',
};

const PATH_TEXTS: Record<RequestPath, string> = {
  MANUAL_REPAYMENT: 'the payment by hand',
  BATCH: 'the batch',
  WEBHOOK: 'the income signal',
  WEBHOOK_BALANCE: 'the signal of a new account',
  FLOAT_PAYBACK: 'the payback',
  FLOAT_WEBHOOK: 'the income signal',
};

/** By what the name of a trigger begins with. */
const KIND_TEXTS: Readonly<Record<string, string>> = {
  pay: 'a payment by hand',
  payback: 'a payback',
  console: 'a payment from the console',
  batch: 'a batch',
  income: 'an income signal',
  balance: 'a signal of a new account',
  changed: 'the change',
  upgrade: 'an upgrade',
  reactivate: 'a reactivation',
  refund: 'a refund',
};

export interface Asked {
  /** Requests are forgotten after a while, their names are not. */
  readonly request: CollectionRequest | undefined;
  /** The caller whom the history names for it. */
  readonly who: string | undefined;
}

/** What asked for a decision. */
export function triggerText(triggerId: string, { request, who }: Asked): string {
  if (request !== undefined) return `${PATH_TEXTS[request.path]} that ${request.by} asked for`;
  const run = parseRunId(triggerId);
  if (run !== null) return `the ${run.process} run of ${formatInstant(run.tick)}`;
  const [kind = ''] = triggerId.split('.', 1);
  if (!Object.hasOwn(KIND_TEXTS, kind)) return triggerId;
  return `${KIND_TEXTS[kind]}${who === undefined ? '' : ` that ${who} asked for`} (${triggerId})`;
}

export function verdictText(verdict: Verdict, by: string, attempt: Attempt | undefined): string {
  const { verdict: name, reason, until, detail } = verdict;
  const isLostRefund = name === 'unknown' && (attempt?.refundOf ?? null) !== null;
  return [
    `${by} ${isLostRefund ? LOST_REFUND : VERDICT_TEXTS[name]}: ${reasonText(reason)}`,
    ...(detail === null ? [] : [detail]),
    ...(until === null ? [] : [`worth another look from ${formatInstant(until)}`]),
    ...(isProvisional(verdict) ? ['this was not the last word'] : []),
  ].join('; ');
}

/** A processor's code, or what a job failed of, has no text of ours. */
export function reasonText(reason: string): string {
  if (Object.hasOwn(REASON_TEXTS, reason)) return REASON_TEXTS[reason as Reason];
  const [, rail, code] = /^(PINLESS|ACH)(?:-(.+))?$/.exec(reason) ?? [];
  if (rail === undefined) return reason;
  return RAIL_TEXTS[rail as Rail] + (code === undefined ? '' : `, code ${code}`);
}

export const openedText = (attempt: Attempt): string =>
  `a ${attemptText(attempt)} was begun` +
  (attempt.insteadOf === null ? '' : ', because there was no money on the card');

export function resolvedText(attempt: Attempt, resolution: Resolution): string {
  const what = `the ${attemptText(attempt)}`;
  if (resolution.status === 'FAILED') {
    return `${what} was declined: ${declineText(resolution.errorCode, resolution.errorMessage)}`;
  }
  // That the money has arrived is another service's word.
  const isOnItsWay = resolution.status === 'ACHSENT' || attempt.refundOf !== null;
  return isOnItsWay ? `${what} was accepted and is on its way through the bank` : `${what} was taken`;
}

export const attemptText = ({ amount, rail, refundOf }: Attempt): string =>
  refundOf === null ? `charge of ${sayMoney(amount)} ${RAIL_TEXTS[rail]}` : `refund of ${sayMoney(amount)}`;

/** The short answer. */
const STATUS_TEXTS: Record<BillingStatus, (record: Subscription, now: Instant) => string> = {
  SCHEDULED: ({ billingDate }, now) =>
    `not charged yet: it ${billingDate > now ? 'is' : 'was'} due on ${formatInstant(billingDate)}`,
  ACHSENT: () => 'on its way through the bank, whose word comes some banking days later',
  COMPLETED: (record) =>
    `paid${on(record)}${record.receiptPaymentType === '' ? '' : ` by ${record.receiptPaymentType}`}`,
  ERROR: ({ usioError }) => `owed: the last try failed${usioError === '' ? '' : ` with “${usioError}”`}`,
  WAIVED: (record) => `waived${on(record)}: nobody pays for it`,
  CANCELLED: (record) => `cancelled${on(record)}: it will not be charged`,
  PAUSED: () => 'paused: it will not be charged',
  PAUSED_SKIPPED: (record) => `skipped${on(record)}, because the membership was paused`,
  REFUNDED: (record) => `paid and given back${on(record)}`,
  STALE: (record) => `written off${on(record)}: it was too long overdue`,
  INACTIVE: () => 'no subscription',
};

const on = ({ completionDate }: Subscription): string =>
  completionDate === null ? '' : ` on ${formatInstant(completionDate)}`;

/** While the answer to a charge is unknown, the status says less than the charge does. */
export function summaryText(record: Subscription, open: Attempt | null, now: Instant): string {
  const status = STATUS_TEXTS[record.billingStatus](record, now);
  if (open === null) return status;
  return open.refundOf === null ? unansweredText(open) : `${status}; ${unansweredText(open)}`;
}

export const unansweredText = (open: Attempt): string =>
  `a ${attemptText(open)} was begun on ${formatInstant(open.openedAt)} and has no answer yet: ` +
  'nobody knows whether the money has moved';
