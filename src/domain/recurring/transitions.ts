import type { RecurringStatus } from './recurring.ts';

/**
 * Every change of a recurring subscription that is allowed, by what causes it. A cause names what happened in the world;
 * a pair of statuses without a cause is illegal.
 */
export const RECURRING_CAUSES = [
  'created',
  'reminded',
  'attempt-opened',
  'attempt-succeeded',
  'attempt-declined',
  'attempt-abandoned',
  'period-too-old',
  'changed',
  'cancelled',
] as const;
export type RecurringCause = (typeof RECURRING_CAUSES)[number];

type Row = Partial<Record<RecurringStatus, readonly RecurringCause[]>>;

/** A member may leave before an answer is there: what the processor then tells has happened all the same. */
const OVER = [
  'attempt-succeeded',
  'attempt-declined',
  'attempt-abandoned',
] as const satisfies readonly RecurringCause[];

export const RECURRING_TRANSITIONS: Record<RecurringStatus, Row> = {
  ACTIVE: {
    ACTIVE: [
      'reminded',
      'attempt-opened',
      'attempt-succeeded',
      'attempt-abandoned',
      'period-too-old',
      'changed',
    ],
    PAST_DUE: ['attempt-declined'],
    FAILED: ['attempt-declined'],
    CANCELLED: ['cancelled'],
  },
  PAST_DUE: {
    ACTIVE: ['attempt-succeeded', 'period-too-old'],
    PAST_DUE: ['attempt-opened', 'attempt-declined', 'attempt-abandoned', 'changed'],
    FAILED: ['attempt-declined'],
    CANCELLED: ['cancelled'],
  },
  FAILED: {},
  CANCELLED: { CANCELLED: OVER },
};

export const RECURRING_BIRTH_STATUS = 'ACTIVE' satisfies RecurringStatus;

export const isLegalForRecurring = (
  from: RecurringStatus,
  to: RecurringStatus,
  cause: RecurringCause,
): boolean => RECURRING_TRANSITIONS[from][to]?.includes(cause) ?? false;
