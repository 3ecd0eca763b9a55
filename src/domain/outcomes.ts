import type { AchReturn } from './ach/settlement.ts';
import { RETURNABLE_DAYS } from './ach/settlement.ts';
import type { CloseReason, PauseContinuation, RefusalReason } from './decision.ts';
import type { Instant } from './instant.ts';
import { plusDays } from './instant.ts';
import { isLeaving, whyLeft } from './leaving.ts';
import type { Cents } from './money.ts';
import { sayMoney } from './money.ts';
import { nextPeriod } from './next-period.ts';
import type { PathRules } from './paths.ts';
import type { ChargeBack } from './payment-outcome.ts';
import type { CollectionPolicy } from './policy.ts';
import type { BillingStatus, Rail, Subscription } from './subscription.ts';
import { PAUSE_PENDING_RESUME } from './subscription.ts';

/* What each thing that happens to a record writes into it. `last_run_date` is not here: the store stamps it. */

/** What the processor told about a charge that it took or declined. */
export interface Receipt {
  readonly rail: Rail;
  readonly confirmationId: string;
  readonly accountMask: string | null;
  readonly cardMask: string | null;
}

/** Reads like `62: insufficient funds`; the code alone, or a general word, where there is no more. */
export const declineText = (code: string | null, message: string | null): string =>
  [code, message].filter((part) => part !== null && part !== '').join(': ') || 'declined';

/** An intent is stored before anything is sent. A member who pays by hand has not been tried by us before it succeeds. */
export function opened<S extends Subscription>(record: S, rules: PathRules, now: Instant): S {
  return {
    ...record,
    ...processOf(record, rules),
    initialRunDate: rules.automatic ? (record.initialRunDate ?? now) : record.initialRunDate,
    isPendingDowngrade: rules.automatic ? false : record.isPendingDowngrade,
  };
}

export function collected<S extends Subscription>(
  record: S,
  rules: PathRules,
  receipt: Receipt,
  now: Instant,
): S {
  return {
    ...taken(record, rules, receipt, now),
    billingStatus: 'COMPLETED',
    completionDate: now,
    usioError: '',
  };
}

/** Accepted by the bank's network; whether the money comes is known some banking days later: nothing is over until then. */
export function sent<S extends Subscription>(record: S, rules: PathRules, receipt: Receipt, now: Instant): S {
  return {
    ...taken(record, rules, receipt, now),
    billingStatus: 'ACHSENT',
    completionDate: null,
    usioError: '',
  };
}

export function declined<S extends Subscription>(
  record: S,
  rules: PathRules,
  transactionId: string,
  text: string,
): S {
  return {
    ...record,
    ...processOf(record, rules),
    billingStatus: declinedStatus(record.billingStatus, rules),
    transactionId,
    usioError: text,
  };
}

const PAYMENT_COMPLETED = 'payment-completed';

/**
 * Clears `payment-completed` when the record is no longer paid. Others are told of an `updated_event` only when it
 * changes, so the next completion must set it anew.
 */
const notCompleted = ({ updatedEvent }: Subscription): string =>
  updatedEvent === PAYMENT_COMPLETED ? '' : updatedEvent;

/** The bank has paid what was sent. A return may still come, up to sixty days later. */
export function achCompleted<S extends Subscription>(record: S, now: Instant): S {
  return {
    ...record,
    process: record.process ?? 'NOT_IDENTIFIED',
    billingStatus: 'COMPLETED',
    // A member who has left stays so: should the money come back, it is not asked for again.
    updatedEvent: whyLeft(record) === null ? PAYMENT_COMPLETED : record.updatedEvent,
    completionDate: now,
    usioError: '',
  };
}

/** The bank took the money back, or never had it: the record is owed again, unless it is too old to be asked for. */
export function achReturned<S extends Subscription>(
  record: S,
  { returnCode, message }: Pick<AchReturn, 'returnCode' | 'message'>,
  { oldSubscriptionDays }: Pick<CollectionPolicy, 'oldSubscriptionDays'>,
  now: Instant,
): S {
  const wasForGood =
    record.completionDate !== null && record.completionDate < plusDays(now, -RETURNABLE_DAYS);
  const isTooOld = wasForGood || record.billingDate <= plusDays(now, -oldSubscriptionDays);
  return {
    ...record,
    process: record.process ?? 'NOT_IDENTIFIED',
    billingStatus: isTooOld ? 'STALE' : 'ERROR',
    updatedEvent: notCompleted(record),
    completionDate: isTooOld ? now : null,
    usioError: declineText(returnCode ?? 'returned', message),
  };
}

/** The money was given back, and no run asks for it again. */
export function refunded<S extends Subscription>(record: S, now: Instant): S {
  return {
    ...record,
    process: record.process ?? 'NOT_IDENTIFIED',
    billingStatus: 'REFUNDED',
    completionDate: now,
  };
}

/** The member had the bank take the money back. It is owed again, by a member who is banned now. */
export function chargedBack<S extends Subscription>(
  record: S,
  { code, message }: Pick<ChargeBack, 'code' | 'message'>,
): S {
  return {
    ...record,
    process: record.process ?? 'NOT_IDENTIFIED',
    billingStatus: 'ERROR',
    updatedEvent: notCompleted(record),
    completionDate: null,
    usioError: declineText(code ?? 'charged back', message),
  };
}

/** No processor was called. Counts as an attempt: the period was tried. */
export function refused<S extends Subscription>(
  record: S,
  rules: PathRules,
  refusal: { readonly reason: RefusalReason; readonly shortBy: Cents },
  now: Instant,
): S {
  return { ...opened(record, rules, now), billingStatus: 'ERROR', usioError: refusalText(refusal) };
}

const CLOSED_AS = { cancel: 'CANCELLED', waive: 'WAIVED', 'go-stale': 'STALE' } as const satisfies Record<
  string,
  BillingStatus
>;

export function closed<S extends Subscription>(
  record: S,
  rules: PathRules,
  verdict: keyof typeof CLOSED_AS,
  now: Instant,
): S {
  return { ...record, ...processOf(record, rules), billingStatus: CLOSED_AS[verdict], completionDate: now };
}

/** A member who is waived, or whose period is too old, is still a member: their chain goes on. A cancelled one ends. */
export const closingOpensNextPeriod = (reason: CloseReason): boolean =>
  reason === 'employee' || reason === 'too-old';

/** The paused period is over; what comes next is paused for a month less, or billed again. */
export function pauseSkipped<S extends Subscription>(record: S, rules: PathRules, now: Instant): S {
  return {
    ...record,
    ...processOf(record, rules),
    billingStatus: 'PAUSED_SKIPPED',
    updatedEvent: 'pause-skipped',
    completionDate: now,
  };
}

/**
 * A pause is counted in months, also that of a member who was paying for a year by hand when it began: such a period has
 * kept its term (decision 19), and a step of that term would skip a year for each month.
 */
export function periodAfterPause(
  record: Subscription,
  next: PauseContinuation,
  partition: readonly Subscription[],
  now: Instant,
): Subscription {
  const monthLater = nextPeriod({ ...record, term: 'MONTHLY' }, partition, now);
  const period = { ...monthLater, term: record.term };
  if (next.status === 'SCHEDULED') return { ...period, updatedEvent: 'pause-resume' };
  return pausedPeriod(record, period, next.monthsLeft);
}

/** Others were told when the pause began; each of its months is no news to them. */
const pausedPeriod = (record: Subscription, period: Subscription, monthsLeft: number): Subscription => ({
  ...period,
  billingStatus: 'PAUSED',
  updatedEvent: isLeaving(record) ? record.updatedEvent : '',
  pauseDurationMonths: monthsLeft,
});

/**
 * The period after one that was paid by hand. What was said about the membership while the payment was under way holds
 * for it as well; an account that was closed gets none.
 */
export function periodAfterPayment(paidFor: Subscription, period: Subscription): Subscription | null {
  switch (paidFor.billingStatus) {
    case 'CANCELLED':
      return null;
    case 'PAUSED':
      return pausedPeriod(paidFor, period, paidFor.pauseDurationMonths);
    default:
      return isLeaving(paidFor) ? { ...period, updatedEvent: paidFor.updatedEvent } : period;
  }
}

function taken<S extends Subscription>(record: S, rules: PathRules, receipt: Receipt, now: Instant): S {
  return {
    ...record,
    ...processOf(record, rules),
    initialRunDate: record.initialRunDate ?? now,
    isPendingDowngrade: false,
    updatedEvent: record.updatedEvent === PAUSE_PENDING_RESUME ? 'pause-resume' : record.updatedEvent,
    transactionId: receipt.confirmationId,
    receiptAccountMask: (receipt.rail === 'PINLESS' ? receipt.cardMask : null) ?? receipt.accountMask ?? '',
    receiptPaymentType: receipt.rail,
  };
}

const processOf = (record: Subscription, { process }: PathRules) => ({
  process: process ?? record.process ?? 'NOT_IDENTIFIED',
});

/**
 * A decline leaves the status of a record that was paid for by hand, and of one that moved on meanwhile (an account
 * that was closed).
 */
function declinedStatus(status: BillingStatus, rules: PathRules): BillingStatus {
  const isCollectable = status === 'SCHEDULED' || status === 'ERROR';
  return rules.automatic && isCollectable ? 'ERROR' : status;
}

function refusalText({
  reason,
  shortBy,
}: {
  readonly reason: RefusalReason;
  readonly shortBy: Cents;
}): string {
  switch (reason) {
    case 'no-account':
      return 'no primary account';
    case 'balance-too-low':
      return `balance too low by ${sayMoney(shortBy)}`;
  }
}
