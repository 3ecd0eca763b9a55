import type { AchOutcome, AchReturn } from '../ach/settlement.ts';
import { RETURNABLE_DAYS } from '../ach/settlement.ts';
import type { AttemptId, PastAttempt } from '../attempt.ts';
import { dateOf } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import { nextStamp, plusDays } from '../instant.ts';
import { declineText } from '../outcomes.ts';
import type { Rail } from '../subscription.ts';
import type { FloatStep } from './float-decision.ts';
import type { AchModel, Float, FloatStatus, LogEntry, LogOutcome, LogRemark, Stage } from './float.ts';
import type { FloatCause } from './transitions.ts';
import { changesFloat } from './transitions.ts';

/*
 * What each thing that happens to a float makes of it. `entry` is written to the log in the same transaction; it has the
 * stamp of the change, so that no two rows of a float have the same key.
 */
export interface FloatChange<F extends Float = Float> {
  readonly float: F;
  readonly cause: FloatCause;
  /** Null where nothing was attempted and nothing has ended. */
  readonly entry: LogEntry | null;
}

/** What the log keeps of an attempt. `process` is the stage that opened it, also when another one brings it to its end. */
export interface LoggedAttempt {
  readonly attemptId: AttemptId;
  readonly process: Stage;
  readonly rail: Rail;
  /** Of the payment; empty where the processor gave none. */
  readonly confirmationId: string;
  readonly achModel: AchModel | null;
  readonly remark?: LogRemark | undefined;
}

/** An intent is stored before anything is sent. */
export const floatOpened = <F extends Float>(float: F, now: Instant): FloatChange<F> =>
  changed(float, 'attempt-opened', {}, null, now);

export const floatCollected = <F extends Float>(
  float: F,
  attempt: LoggedAttempt,
  now: Instant,
): FloatChange<F> =>
  changed(float, 'attempt-succeeded', paid(attempt, now), toldOf(attempt, 'COMPLETED'), now);

/** Accepted by the bank's network; whether the money comes is known some banking days later. */
export const floatSent = <F extends Float>(float: F, attempt: LoggedAttempt, now: Instant): FloatChange<F> =>
  changed(
    float,
    'ach-accepted',
    { status: 'ACHSENT', confirmationId: attempt.confirmationId, error: '', completedAt: null },
    toldOf(attempt, 'ACHSENT'),
    now,
  );

export function floatDeclined<F extends Float>(
  float: F,
  attempt: LoggedAttempt,
  error: string,
  now: Instant,
): FloatChange<F> {
  const status = declinedStatus(float.status, attempt.process);
  const { confirmationId } = attempt;
  return changed(
    float,
    'attempt-declined',
    { status, confirmationId, error },
    toldOf(attempt, 'RETURNED'),
    now,
  );
}

/** The card has no money and the account is asked at once: what becomes of the float is still open. */
export const floatTurned = <F extends Float>(
  float: F,
  attempt: LoggedAttempt,
  error: string,
  now: Instant,
): FloatChange<F> =>
  changed(
    float,
    'attempt-declined',
    { confirmationId: attempt.confirmationId, error },
    toldOf(attempt, 'RETURNED'),
    now,
  );

/**
 * A payment by hand leaves the float as it is, and a decline of the day before leaves the due date to come. What has
 * been defaulted meanwhile stays so.
 */
function declinedStatus(status: FloatStatus, stage: Stage): FloatStatus {
  const stays = stage === 'SUPPORT' || status === 'DEFAULTED';
  return stays || (status === 'SCHEDULING' && stage === 'TOMORROW') ? status : 'RETRY';
}

/** What was decided without a charge. A float that is given up for good leaves a row in the log. */
export function floatStepped<F extends Float>(
  float: F,
  stage: Stage,
  step: FloatStep,
  now: Instant,
): FloatChange<F> {
  const error = step.reason;
  switch (step.verdict) {
    case 'give-up-today':
      return changed(float, 'given-up-for-today', { status: 'RETRY', error }, null, now);
    case 'uncollectable':
      return changed(float, 'account-missing', { status: 'UNCOLLECTABLE', error }, null, now);
    case 'default':
      return changed(
        float,
        'limit-reached',
        { status: 'DEFAULTED', error },
        noAttempt(stage, 'DEFAULTED'),
        now,
      );
  }
}

/** The bank's word about money that was sent to us, or about the advance that was sent to the member. */
export type FloatWord =
  | { readonly result: 'COMPLETED' }
  | AchReturn
  | {
      readonly result: 'CREDIT_RETURNED';
      readonly returnCode: string | null;
      readonly message: string | null;
    };

const CAUSE_OF_WORD = {
  COMPLETED: 'ach-completed',
  RETURNED: 'ach-returned',
  CREDIT_RETURNED: 'credit-returned',
} as const satisfies Record<FloatWord['result'], FloatCause>;

/** The debit that a word is about, as it is known so far. */
export interface ToldDebit {
  readonly rail: Rail;
  /** What was heard of it last. Undefined: nothing is kept of it. */
  readonly fate: PastAttempt['result'] | undefined;
}

export type WordInVain =
  | 'not-an-ach-debit'
  | 'returned-before'
  | 'returned-too-late'
  | 'credit-returned-before'
  | `float-is-${Lowercase<FloatStatus>}`;

/**
 * Why a word changes nothing: told twice, after something that outweighs it, or too late. `debit` is null where it is
 * about the advance itself.
 */
export function whyInVain(
  { status, completedAt, creditReturnedAt }: Pick<Float, 'status' | 'completedAt' | 'creditReturnedAt'>,
  { result }: Pick<FloatWord, 'result'>,
  debit: ToldDebit | null,
  now: Instant,
): WordInVain | null {
  if (!changesFloat(status, CAUSE_OF_WORD[result]))
    return `float-is-${status.toLowerCase() as Lowercase<FloatStatus>}`;
  if (result === 'CREDIT_RETURNED') return creditReturnedAt === null ? null : 'credit-returned-before';
  if (debit?.rail !== 'ACH') return 'not-an-ach-debit';
  if (status !== 'COMPLETED') return null;
  // It was paid in another way since, as support knows, and must not be asked for once more.
  if (debit.fate === 'RETURNED') return 'returned-before';
  const wasForGood = completedAt !== null && completedAt < plusDays(now, -RETURNABLE_DAYS);
  return wasForGood ? 'returned-too-late' : null;
}

/** Whether a word says more of a debit than was known. What was paid may still come back. */
export const isNews = ({ result }: Pick<AchOutcome, 'result'>, debit: ToldDebit | null): boolean =>
  debit?.rail === 'ACH' &&
  (debit.fate === 'ACHSENT' || (debit.fate === 'COMPLETED' && result === 'RETURNED'));

/** The bank has paid what was sent. A return may still come, up to sixty days later. */
export const floatAchCompleted = <F extends Float>(
  float: F,
  attempt: LoggedAttempt,
  now: Instant,
): FloatChange<F> => changed(float, 'ach-completed', paid(attempt, now), toldOf(attempt, 'COMPLETED'), now);

/** The bank took the money back, or never had it: the float is owed again. */
export const floatAchReturned = <F extends Float>(
  float: F,
  attempt: LoggedAttempt,
  { returnCode, message }: Pick<AchReturn, 'returnCode' | 'message'>,
  now: Instant,
): FloatChange<F> =>
  changed(
    float,
    'ach-returned',
    { status: 'RETRY', completedAt: null, error: declineText(returnCode ?? 'returned', message) },
    toldOf(attempt, 'RETURNED'),
    now,
  );

/** What became of an attempt, where the float does not stand or fall by it any more: the log has it, nothing else changes. */
export const floatToldAside = <F extends Float>(
  float: F,
  attempt: LoggedAttempt,
  outcome: LogOutcome,
  now: Instant,
): FloatChange<F> => changed(float, 'told-aside', {}, toldOf({ ...attempt, remark: 'aside' }, outcome), now);

/**
 * An attempt turns out to have been made whose advance has come back: what is paid by it is not owed. The float stays given
 * up, and names the payment, so that the bank's word about it is known for its own.
 */
export const floatPaidInVain = <F extends Float>(
  float: F,
  attempt: LoggedAttempt,
  outcome: 'ACHSENT' | 'COMPLETED',
  now: Instant,
): FloatChange<F> => {
  const { confirmationId } = attempt;
  return changed(
    float,
    'told-aside',
    { confirmationId },
    toldOf({ ...attempt, remark: 'aside' }, outcome),
    now,
  );
};

/** The advance never arrived or was sent back. No attempt of ours, so the log is silent about it. */
export const floatCreditReturned = <F extends Float>(
  float: F,
  { returnCode, message }: Pick<AchReturn, 'returnCode' | 'message'>,
  now: Instant,
): FloatChange<F> =>
  changed(
    float,
    'credit-returned',
    {
      status: 'DEFAULTED',
      completedAt: null,
      creditReturnedAt: now,
      error: declineText(returnCode ?? 'credit returned', message),
    },
    null,
    now,
  );

/** What every change has in common: a stamp of its own, in the float and in the log. */
export function changed<F extends Float>(
  float: F,
  cause: FloatCause,
  fields: Partial<Pick<Float, 'status' | 'completedAt' | 'creditReturnedAt' | 'confirmationId' | 'error'>>,
  told: Told | null,
  now: Instant,
): FloatChange<F> {
  const lastRunTime = nextStamp(now, float.lastRunTime);
  const { floatId, userId, dueDate } = float;
  const entry = { floatId, userId, dueDate, runTime: lastRunTime, runDate: dateOf(lastRunTime) };
  return {
    float: { ...float, ...fields, lastRunTime },
    cause,
    entry: told === null ? null : { ...entry, ...told },
  };
}

type Told = Pick<
  LogEntry,
  'process' | 'outcome' | 'confirmationId' | 'method' | 'attemptId' | 'achModel' | 'remark'
>;

export const noAttempt = (process: Stage, outcome: LogOutcome): Told => ({
  process,
  outcome,
  confirmationId: null,
  method: null,
  attemptId: null,
  achModel: null,
});

const toldOf = (
  { attemptId, process, rail, confirmationId, achModel, remark }: LoggedAttempt,
  outcome: LogOutcome,
): Told => ({
  process,
  outcome,
  confirmationId: confirmationId === '' ? null : confirmationId,
  method: rail,
  attemptId,
  achModel,
  remark,
});

const paid = ({ confirmationId }: LoggedAttempt, completedAt: Instant) =>
  ({ status: 'COMPLETED', completedAt, confirmationId, error: '' }) as const;
