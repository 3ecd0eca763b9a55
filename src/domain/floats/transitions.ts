import type { FloatStatus } from './float.ts';

/**
 * Every change of a float that is allowed, by what causes it. A cause names what happened in the world; a pair of
 * statuses without a cause is illegal.
 */
export const FLOAT_CAUSES = [
  'attempt-opened',
  'attempt-succeeded',
  'ach-accepted',
  'attempt-declined',
  'given-up-for-today',
  'account-missing',
  'limit-reached',
  'ach-completed',
  'ach-returned',
  'credit-returned',
  'told-aside',
  'support-changed',
] as const;
export type FloatCause = (typeof FLOAT_CAUSES)[number];

type Row = Partial<Record<FloatStatus, readonly FloatCause[]>>;

export const FLOAT_TRANSITIONS: Record<FloatStatus, Row> = {
  SCHEDULING: {
    // A decline of the day before leaves the due date to come; one of the member's own payment leaves everything.
    SCHEDULING: ['attempt-opened', 'attempt-declined'],
    ACHSENT: ['ach-accepted'],
    COMPLETED: ['attempt-succeeded', 'support-changed'],
    RETRY: ['attempt-declined', 'given-up-for-today', 'support-changed'],
    DEFAULTED: ['limit-reached', 'credit-returned', 'support-changed'],
  },
  // Money is under way: only the bank can say what becomes of it. An attempt that was given up, and was made all the same,
  // may be told of meanwhile; so it may when another payment has settled the float.
  ACHSENT: {
    ACHSENT: ['told-aside'],
    COMPLETED: ['ach-completed'],
    RETRY: ['ach-returned'],
    DEFAULTED: ['credit-returned'],
  },
  RETRY: {
    // Support's word changes no status here, but it is the member's new authorisation.
    RETRY: ['attempt-opened', 'attempt-declined', 'told-aside', 'support-changed'],
    ACHSENT: ['ach-accepted'],
    COMPLETED: ['attempt-succeeded', 'support-changed'],
    UNCOLLECTABLE: ['account-missing'],
    DEFAULTED: ['limit-reached', 'credit-returned', 'support-changed'],
  },
  UNCOLLECTABLE: {
    UNCOLLECTABLE: ['attempt-opened', 'attempt-declined', 'told-aside'],
    ACHSENT: ['ach-accepted'],
    COMPLETED: ['attempt-succeeded', 'support-changed'],
    RETRY: ['attempt-declined', 'support-changed'],
    DEFAULTED: ['limit-reached', 'credit-returned', 'support-changed'],
  },
  // Late reversals: a consumer has sixty days to take an ACH debit back.
  COMPLETED: { COMPLETED: ['told-aside'], RETRY: ['ach-returned'], DEFAULTED: ['credit-returned'] },
  DEFAULTED: {
    RETRY: ['support-changed'],
    // The advance came back, and an attempt was open, under way, or given up and made all the same: what the processor and
    // the bank then tell has happened, but the float stays given up. The advance may also come back after a limit was reached.
    DEFAULTED: ['attempt-declined', 'told-aside', 'credit-returned'],
    // The member has the advance, and an attempt that had been given up was made all the same: it pays what is owed.
    ACHSENT: ['ach-accepted'],
    COMPLETED: ['attempt-succeeded'],
  },
};

/** A float is recorded when it has been paid out. */
export const FLOAT_BIRTH_STATUS = 'SCHEDULING' satisfies FloatStatus;

export const floatCausesOf = (from: FloatStatus, to: FloatStatus): readonly FloatCause[] =>
  FLOAT_TRANSITIONS[from][to] ?? [];

export const isLegalForFloat = (from: FloatStatus, to: FloatStatus, cause: FloatCause): boolean =>
  floatCausesOf(from, to).includes(cause);

/** Whether the cause leads anywhere from this status. */
export const changesFloat = (from: FloatStatus, cause: FloatCause): boolean =>
  Object.values(FLOAT_TRANSITIONS[from]).some((causes) => causes.includes(cause));
