/*
 * What may happen to a billing record, written down a second time. The code that moves records has a table of its own;
 * the audit must not ask that one whether it was obeyed. A test compares the two: a developer who changes one on
 * purpose changes both, and one who changes it by mistake hears of it.
 */
const ALLOWED = `
  SCHEDULED      SCHEDULED       attempt-opened attempt-declined membership-cancelled membership-retracted support-changed plan-changed told-aside
  SCHEDULED      COMPLETED       attempt-succeeded
  SCHEDULED      ACHSENT         ach-accepted
  SCHEDULED      ERROR           attempt-declined balance-refused
  SCHEDULED      CANCELLED       cancelled-by-run account-closed support-changed reactivated
  SCHEDULED      WAIVED          employee-waived support-changed
  SCHEDULED      STALE           gone-stale
  SCHEDULED      PAUSED          membership-paused support-changed

  ERROR          ERROR           attempt-opened attempt-declined balance-refused support-changed refund-accepted refund-declined told-aside
  ERROR          COMPLETED       attempt-succeeded
  ERROR          ACHSENT         ach-accepted
  ERROR          SCHEDULED       support-changed
  ERROR          CANCELLED       cancelled-by-run support-changed
  ERROR          WAIVED          employee-waived support-changed
  ERROR          STALE           gone-stale

  PAUSED         PAUSED          attempt-declined membership-cancelled support-changed told-aside
  PAUSED         COMPLETED       attempt-succeeded
  PAUSED         ACHSENT         ach-accepted
  PAUSED         SCHEDULED       membership-unpaused support-changed
  PAUSED         CANCELLED       cancelled-by-run membership-unpaused account-closed support-changed reactivated
  PAUSED         WAIVED          support-changed
  PAUSED         PAUSED_SKIPPED  pause-skipped

  ACHSENT        ACHSENT         ach-accepted attempt-declined told-aside
  ACHSENT        COMPLETED       attempt-succeeded ach-completed
  ACHSENT        ERROR           ach-returned charged-back
  ACHSENT        REFUNDED        refunded
  ACHSENT        STALE           ach-returned

  COMPLETED      COMPLETED       attempt-succeeded attempt-declined refund-opened refund-accepted refund-declined told-aside
  COMPLETED      ACHSENT         ach-accepted
  COMPLETED      ERROR           ach-returned charged-back
  COMPLETED      REFUNDED        refunded
  COMPLETED      STALE           ach-returned

  WAIVED         WAIVED          attempt-declined told-aside
  WAIVED         COMPLETED       attempt-succeeded
  WAIVED         ACHSENT         ach-accepted
  CANCELLED      CANCELLED       attempt-declined membership-cancelled membership-paused membership-retracted membership-unpaused account-closed told-aside
  CANCELLED      COMPLETED       attempt-succeeded
  CANCELLED      ACHSENT         ach-accepted
  PAUSED_SKIPPED PAUSED_SKIPPED  attempt-declined told-aside
  PAUSED_SKIPPED COMPLETED       attempt-succeeded
  PAUSED_SKIPPED ACHSENT         ach-accepted
  REFUNDED       REFUNDED        attempt-declined refund-accepted refund-declined told-aside
  REFUNDED       COMPLETED       attempt-succeeded
  REFUNDED       ACHSENT         ach-accepted
  STALE          STALE           attempt-declined refund-accepted refund-declined told-aside
  STALE          COMPLETED       attempt-succeeded
  STALE          ACHSENT         ach-accepted
`;

export const BORN_AS: readonly string[] = ['SCHEDULED', 'PAUSED', 'COMPLETED', 'CANCELLED'];

export const TERMINAL: readonly string[] = [
  'COMPLETED',
  'WAIVED',
  'CANCELLED',
  'PAUSED_SKIPPED',
  'REFUNDED',
  'STALE',
];

/** What the answer to an attempt is called. It is legal from any status, for the attempt's own record. */
export const OUTCOMES: readonly string[] = [
  'attempt-succeeded',
  'ach-accepted',
  'attempt-declined',
  'refund-accepted',
  'refund-declined',
  'told-aside',
];

/** What the beginning of an attempt is called: of a charge, of a refund. */
export const INTENTS: readonly string[] = ['attempt-opened', 'refund-opened'];

export interface AllowedTransition {
  readonly from: string;
  readonly to: string;
  readonly causes: readonly string[];
}

/** One line each: from, to and what may cause it. */
export const readTransitions = (table: string): AllowedTransition[] =>
  table
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .flatMap(([from, to, ...causes]) =>
      from === undefined || to === undefined ? [] : [{ from, to, causes }],
    );

export const ALLOWED_TRANSITIONS: readonly AllowedTransition[] = readTransitions(ALLOWED);

/** Without a cause (the Go service tells none) any cause will do. */
export const isAllowed = (from: string, to: string, cause: string | null): boolean =>
  ALLOWED_TRANSITIONS.some(
    (allowed) =>
      allowed.from === from && allowed.to === to && (cause === null || allowed.causes.includes(cause)),
  );
