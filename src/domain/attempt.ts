import type { Instant } from './instant.ts';
import { plusMs } from './instant.ts';
import { PROCESSES } from './subscription.ts';
import type { Rail } from './subscription.ts';

/** What asked for an attempt: the process of a billing record, the stage of a float, or the day of a recurring payment. */
export const ATTEMPT_PROCESSES = [...PROCESSES, 'TOMORROW', 'TODAY6AM', 'SUPPORT', 'RECURRING'] as const;
export type AttemptProcess = (typeof ATTEMPT_PROCESSES)[number];

export type AttemptId = string & { readonly __brand: 'AttemptId' };

/** An attempt without a known outcome. It blocks every other attempt on its record, on any rail. */
export interface OpenAttempt {
  readonly attemptId: AttemptId;
  /** The run, request, signal or batch that asked for it. */
  readonly triggerId: string;
  readonly rail: Rail;
  readonly openedAt: Instant;
  /** The payment that it gives back, where it is no charge. */
  readonly refundOf?: string | null;
}

/**
 * For so long a run or request that finds an attempt open sends it again: long enough for the next day's run. After
 * that none does, and the janitor can give it up when nothing of it can be under way any more: what is sent again every
 * day would never end.
 */
const SENT_AGAIN_FOR_MS = 48 * 3_600_000;

export const mayStillBeSent = ({ openedAt }: Pick<OpenAttempt, 'openedAt'>, now: Instant): boolean =>
  now < plusMs(openedAt, SENT_AGAIN_FOR_MS);

/** How an attempt ended. `REFUSED` is a balance too low: no processor was called, so it has no rail. */
export type PastAttempt = {
  readonly process: AttemptProcess;
  readonly at: Instant;
} & (
  | { readonly rail: null; readonly result: 'REFUSED' }
  | { readonly rail: 'PINLESS'; readonly result: 'COMPLETED' | 'FAILED' }
  | AchAttempt
);

export interface AchAttempt {
  readonly rail: 'ACH';
  /** `FAILED` was never sent to the bank, so it is no presentment. */
  readonly result: 'ACHSENT' | 'COMPLETED' | 'FAILED' | 'RETURNED';
  readonly returnCode: string | null;
  /** Null where the Go service collected and the account is not known. */
  readonly accountId: string | null;
}
