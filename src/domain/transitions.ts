import type { BillingStatus } from './subscription.ts';

/**
 * Every change of a billing record's status that is allowed, by what causes it. A cause names what happened in the
 * world; a pair of statuses without a cause is illegal.
 */
export const CAUSES = [
  'attempt-opened',
  'attempt-succeeded',
  'ach-accepted',
  'attempt-declined',
  'balance-refused',
  'cancelled-by-run',
  'employee-waived',
  'gone-stale',
  'pause-skipped',
  'membership-cancelled',
  'membership-paused',
  'membership-retracted',
  'membership-unpaused',
  'account-closed',
  'ach-completed',
  'ach-returned',
  'refunded',
  'charged-back',
  'support-changed',
  'plan-changed',
  'reactivated',
  'refund-opened',
  'refund-accepted',
  'refund-declined',
  'told-aside',
] as const;
export type Cause = (typeof CAUSES)[number];

type Row = Partial<Record<BillingStatus, readonly Cause[]>>;

/**
 * The outcome of one's own attempt is legal from any stored status: the money has moved, whatever another writer that
 * takes no lock (CLOSEACCOUNT, the Go service) made of the row meanwhile. A decline then leaves the status as it is.
 */
const OWN_OUTCOME: Row = { COMPLETED: ['attempt-succeeded'], ACHSENT: ['ach-accepted'] };

/**
 * The answer to a refund changes no status: the payments service's word does. An event or the Go service may have moved
 * the row meanwhile.
 */
const REFUND_ANSWER: readonly Cause[] = ['refund-accepted', 'refund-declined'];

/** Word of a payment that is not the record's: whatever became of the record since, it stays so. */
const ASIDE: readonly Cause[] = ['told-aside'];

export const TRANSITIONS: Record<BillingStatus, Row> = {
  SCHEDULED: {
    SCHEDULED: [
      'attempt-opened',
      'attempt-declined', // a declined manual repayment leaves the status
      'membership-cancelled',
      'membership-retracted',
      'support-changed',
      'plan-changed',
      ...ASIDE,
    ],
    ...OWN_OUTCOME,
    ERROR: ['attempt-declined', 'balance-refused'],
    CANCELLED: ['cancelled-by-run', 'account-closed', 'support-changed', 'reactivated'],
    WAIVED: ['employee-waived', 'support-changed'],
    STALE: ['gone-stale'],
    PAUSED: ['membership-paused', 'support-changed'],
  },
  ERROR: {
    ERROR: [
      'attempt-opened',
      'attempt-declined',
      'balance-refused',
      'support-changed',
      ...REFUND_ANSWER,
      ...ASIDE,
    ],
    ...OWN_OUTCOME,
    SCHEDULED: ['support-changed'],
    CANCELLED: ['cancelled-by-run', 'support-changed'],
    WAIVED: ['employee-waived', 'support-changed'],
    STALE: ['gone-stale'],
  },
  PAUSED: {
    PAUSED: ['attempt-declined', 'membership-cancelled', 'support-changed', ...ASIDE],
    ...OWN_OUTCOME,
    SCHEDULED: ['membership-unpaused', 'support-changed'],
    CANCELLED: [
      'cancelled-by-run',
      'membership-unpaused',
      'account-closed',
      'support-changed',
      'reactivated',
    ],
    WAIVED: ['support-changed'],
    PAUSED_SKIPPED: ['pause-skipped'],
  },
  ACHSENT: {
    ACHSENT: ['ach-accepted', 'attempt-declined', ...ASIDE],
    COMPLETED: ['attempt-succeeded', 'ach-completed'],
    ERROR: ['ach-returned', 'charged-back'],
    REFUNDED: ['refunded'],
    STALE: ['ach-returned'], // the return came after the stale cut
  },
  COMPLETED: {
    COMPLETED: ['attempt-succeeded', 'attempt-declined', 'refund-opened', ...REFUND_ANSWER, ...ASIDE],
    ACHSENT: ['ach-accepted'],
    // Late reversals: the only ways out of a terminal status.
    ERROR: ['ach-returned', 'charged-back'],
    REFUNDED: ['refunded'],
    STALE: ['ach-returned'],
  },
  WAIVED: { WAIVED: ['attempt-declined', ...ASIDE], ...OWN_OUTCOME },
  CANCELLED: {
    CANCELLED: [
      'attempt-declined',
      // Said to the record of a reactivation that has no answer yet.
      'membership-cancelled',
      'membership-paused',
      'membership-retracted',
      'membership-unpaused',
      'account-closed',
      ...ASIDE,
    ],
    ...OWN_OUTCOME,
  },
  PAUSED_SKIPPED: { PAUSED_SKIPPED: ['attempt-declined', ...ASIDE], ...OWN_OUTCOME },
  REFUNDED: { REFUNDED: ['attempt-declined', ...REFUND_ANSWER, ...ASIDE], ...OWN_OUTCOME },
  STALE: { STALE: ['attempt-declined', ...REFUND_ANSWER, ...ASIDE], ...OWN_OUTCOME },
  // A sentinel for "no subscription at all"; no row ever holds it.
  INACTIVE: {},
};

/** In which status a record may come into being: a new period, a paused one, a charge that created its own record. */
export const BIRTH_STATUSES: readonly BillingStatus[] = ['SCHEDULED', 'PAUSED', 'COMPLETED', 'CANCELLED'];

const TERMINAL: ReadonlySet<BillingStatus> = new Set<BillingStatus>([
  'COMPLETED',
  'WAIVED',
  'CANCELLED',
  'PAUSED_SKIPPED',
  'REFUNDED',
  'STALE',
]);

export const isTerminal = (status: BillingStatus): boolean => TERMINAL.has(status);

export const causesOf = (from: BillingStatus, to: BillingStatus): readonly Cause[] =>
  TRANSITIONS[from][to] ?? [];

export const isLegal = (from: BillingStatus, to: BillingStatus, cause: Cause): boolean =>
  causesOf(from, to).includes(cause);
