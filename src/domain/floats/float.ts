import type { AttemptId } from '../attempt.ts';
import type { CalendarDate } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import type { Cents } from '../money.ts';
import type { Rail, UserId } from '../subscription.ts';

export type FloatId = string & { readonly __brand: 'FloatId' };

/** The member has the money, and we do not have it back for good. */
export const OPEN_FLOAT_STATUSES = ['SCHEDULING', 'ACHSENT', 'RETRY', 'UNCOLLECTABLE'] as const;
export const FLOAT_STATUSES = [...OPEN_FLOAT_STATUSES, 'COMPLETED', 'DEFAULTED'] as const;
export type FloatStatus = (typeof FLOAT_STATUSES)[number];

export const isOpenFloat = (status: FloatStatus): boolean =>
  OPEN_FLOAT_STATUSES.some((open) => open === status);

/**
 * The ways by which a float comes up for collection; the log's `process`. SUPPORT is what a member or operator asked
 * for by hand.
 */
export const STAGES = ['TOMORROW', 'TODAY6AM', 'RETRY', 'WEBHOOK', 'SUPPORT'] as const;
export type Stage = (typeof STAGES)[number];

export const LOG_OUTCOMES = ['ACHSENT', 'COMPLETED', 'RETURNED', 'DEFAULTED'] as const;
export type LogOutcome = (typeof LOG_OUTCOMES)[number];

/**
 * `aside`: what the row tells came too late to decide anything, and left the float as it was. `not-presented`: the attempt
 * was given up because the processor never knew of it.
 */
export const LOG_REMARKS = ['aside', 'not-presented'] as const;
export type LogRemark = (typeof LOG_REMARKS)[number];

/** A cash advance that was paid out and is owed. */
export interface Float {
  readonly floatId: FloatId;
  readonly userId: UserId;
  readonly status: FloatStatus;
  readonly amount: Cents;
  readonly dueDate: CalendarDate;
  readonly createdAt: Instant;
  /** When it was last changed. No two changes of a float have the same, so that a writer can tell whether it is current. */
  readonly lastRunTime: Instant;
  /** Null unless it is COMPLETED. */
  readonly completedAt: Instant | null;
  /** When we were told that the advance came back: nothing is owed. Null: the member has it, as far as the row tells. */
  readonly creditReturnedAt: Instant | null;
  /** Of the newest payment; empty where there was none. */
  readonly confirmationId: string;
  /** Why the float is not paid, mostly in the processor's words; empty where nothing went wrong. */
  readonly error: string;
}

/** What decided that an attempt went by ACH. */
export interface AchModel {
  /** The operator's switch decided, not the model. */
  readonly override: boolean;
  readonly version: string;
  readonly features: Readonly<Record<string, number>>;
  /** That the debit will be paid. */
  readonly probability: number;
}

/**
 * A row of `collection-history`. An ACH attempt has two: when it was sent and when the bank had its say. What is no
 * attempt (support's word, a float that is given up for good) has neither method nor attempt.
 */
export interface LogEntry {
  readonly floatId: FloatId;
  readonly runTime: Instant;
  readonly userId: UserId;
  readonly dueDate: CalendarDate;
  /** The UTC day of `runTime`. */
  readonly runDate: CalendarDate;
  readonly process: Stage;
  readonly outcome: LogOutcome;
  readonly confirmationId: string | null;
  readonly method: Rail | null;
  readonly attemptId: AttemptId | null;
  readonly achModel: AchModel | null;
  /** What sets the row apart from others of its outcome. */
  readonly remark?: LogRemark | undefined;
  /** Which operator said it, and why, where support's word made the row. */
  readonly said?: SupportWord | undefined;
}

export interface SupportWord {
  readonly who: string;
  readonly reason: string | null;
}
