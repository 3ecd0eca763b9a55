import { RETURN_CODES } from '../domain/ach/return-codes.ts';
import { withSettled } from '../domain/ach/settlement.ts';
import { attemptId } from '../domain/attempt-id.ts';
import type { PastAttempt } from '../domain/attempt.ts';
import { achModelOf, adviseByRule, routeFeatures } from '../domain/floats/ach-route.ts';
import type { Float, LogEntry, Stage } from '../domain/floats/float.ts';
import type { FloatChange, LoggedAttempt } from '../domain/floats/outcomes.ts';
import {
  floatAchCompleted,
  floatAchReturned,
  floatCollected,
  floatOpened,
  floatSent,
  floatStepped,
  floatTurned,
} from '../domain/floats/outcomes.ts';
import { recordIdOf } from '../domain/floats/record-id.ts';
import type { Instant } from '../domain/instant.ts';
import { lowerBoundText, plusMs } from '../domain/instant.ts';
import { cents } from '../domain/money.ts';
import { declineText } from '../domain/outcomes.ts';
import type { Rail } from '../domain/subscription.ts';
import type { Attempt, AttemptRecord, Resolution } from '../ports/pipeline.ts';

/*
 * A past for a made-up float, step by step, by the same rules that real ones live by: so it is one that could have been,
 * and the audit finds nothing wrong with it.
 */
export interface FloatLife {
  readonly float: Float;
  /** Oldest first. */
  readonly log: readonly LogEntry[];
  readonly attempts: readonly AttemptRecord[];
  /** What a decision asks about the attempts. */
  readonly past: readonly PastAttempt[];
}

/** A run of some stage, and when it began. */
export interface Run {
  readonly stage: 'TOMORROW' | 'TODAY6AM' | 'RETRY';
  readonly at: Instant;
}

const NAMES: Record<Run['stage'], string> = {
  TOMORROW: 'float-tomorrow',
  TODAY6AM: 'float-today',
  RETRY: 'float-retry',
};

/** A run takes a while to come to somebody, and the processor to answer. */
const STARTS_AFTER_MS = 4_200;
const ANSWERS_AFTER_MS = 900;

const SOME_MONEY = cents(21_000);
const LITTLE_MONEY = cents(310);
const NO_MONEY = { errorCode: '62', errorMessage: 'insufficient funds' };

export const newLife = (float: Float): FloatLife => ({ float, log: [], attempts: [], past: [] });

export function paidByCard(life: FloatLife, run: Run): FloatLife {
  const attempt = newAttempt(life, run, { rail: 'PINLESS' });
  const opened = changed(life, floatOpened(life.float, attempt.openedAt));
  return answered(opened, attempt, 'COMPLETED', floatCollected);
}

export function sentToBank(life: FloatLife, run: Run): FloatLife {
  const attempt = newAttempt(life, run, { rail: 'ACH' });
  const opened = changed(life, floatOpened(life.float, attempt.openedAt));
  return answered(opened, attempt, 'ACHSENT', floatSent);
}

/** The card has no money, so the account is asked at once. */
export function turnedToAccount(life: FloatLife, run: Run): FloatLife {
  const card = newAttempt(life, run, { rail: 'PINLESS' });
  const opened = changed(life, floatOpened(life.float, card.openedAt));
  const declined = answered(opened, card, 'FAILED', (float, entry, at) =>
    floatTurned(float, entry, declineText(NO_MONEY.errorCode, NO_MONEY.errorMessage), at),
  );
  const account = newAttempt(declined, run, { rail: 'ACH', insteadOf: card });
  return answered(declined, account, 'ACHSENT', floatSent);
}

/** What the bank said of the entry that was sent last. */
export function settled(life: FloatLife, word: 'paid' | 'R01', at: Instant): FloatLife {
  const { attempt, resolution } = lastAnswer(life);
  const entry = loggedOf(attempt, resolution);
  const { process, openedAt, accountId } = attempt;
  const returned = { result: 'RETURNED', returnCode: 'R01', message: RETURN_CODES.R01.meaning } as const;
  const outcome = word === 'paid' ? ({ result: 'COMPLETED' } as const) : returned;
  const change =
    word === 'paid'
      ? floatAchCompleted(life.float, entry, at)
      : floatAchReturned(life.float, entry, returned, at);
  const past = withSettled(life.past, { process, at: openedAt, accountId }, outcome);
  return { ...changed(life, change), past };
}

/** The limit of failed debits is reached. */
export const givenUp = (life: FloatLife, { at }: Run): FloatLife =>
  changed(
    life,
    floatStepped(life.float, 'RETRY', { verdict: 'default', reason: 'ach-attempts-used-up' }, at),
  );

/** Nothing to charge, on the due date and at the first retry. */
export function withoutAccount(life: FloatLife, day: Run, next: Run): FloatLife {
  const reason = 'no-account';
  const missed = floatStepped(life.float, day.stage, { verdict: 'give-up-today', reason }, day.at);
  const lost = floatStepped(missed.float, next.stage, { verdict: 'uncollectable', reason }, next.at);
  return changed(changed(life, missed), lost);
}

/** The same with the name that the bank gave to the entry that was sent last. */
export function confirmed(life: FloatLife, confirmationId: string): FloatLife {
  const { attempt, resolution } = lastAnswer(life);
  return {
    ...life,
    float: { ...life.float, confirmationId },
    log: life.log.map((row) => (row.attemptId === attempt.attemptId ? { ...row, confirmationId } : row)),
    attempts: [...life.attempts.slice(0, -1), { ...attempt, resolution: { ...resolution, confirmationId } }],
  };
}

/** Of the attempt that is the newest, and was answered like all of them. */
export function lastAnswer({ attempts }: FloatLife): { attempt: AttemptRecord; resolution: Resolution } {
  const attempt = attempts.at(-1);
  const resolution = attempt?.resolution ?? null;
  if (attempt === undefined || resolution === null) throw new Error('nobody has tried this float');
  return { attempt, resolution };
}

function answered(
  life: FloatLife,
  attempt: Attempt,
  status: Resolution['status'],
  outcome: (float: Float, entry: LoggedAttempt, at: Instant) => FloatChange,
): FloatLife {
  const resolution = resolutionOf(attempt, status);
  const lived = changed(life, outcome(life.float, loggedOf(attempt, resolution), resolution.at));
  return {
    ...lived,
    attempts: [...life.attempts, { ...attempt, resolution }],
    past: [...life.past, pastOf(attempt, status)],
  };
}

const changed = (life: FloatLife, { float, entry }: FloatChange): FloatLife => ({
  ...life,
  float,
  log: entry === null ? life.log : [...life.log, entry],
});

function newAttempt(
  { float, log, attempts }: FloatLife,
  { stage, at }: Run,
  { rail, insteadOf = null }: { readonly rail: Rail; readonly insteadOf?: Attempt | null },
): Attempt {
  const subscriptionId = recordIdOf(float.floatId);
  const account = { availableBalance: insteadOf === null ? SOME_MONEY : LITTLE_MONEY };
  const begins = insteadOf === null ? plusMs(at, STARTS_AFTER_MS) : answersAt(insteadOf);
  return {
    // By its place in the float's life: a seeding that is repeated on another day sends nothing twice.
    attemptId: attemptId(subscriptionId, `demo.${attempts.length}`, rail),
    subscriptionId,
    userId: float.userId,
    triggerId: `${NAMES[stage]}-${lowerBoundText(at).replaceAll(/[-:]/g, '')}Z`,
    process: stage,
    rail,
    amount: float.amount,
    accountId: `acc_${float.userId}`,
    description: null,
    insteadOf: insteadOf?.attemptId ?? null,
    refundOf: null,
    upgrades: null,
    achModel: rail === 'ACH' ? achModelOf(adviseByRule(routeFeatures(float, log, account, at))) : null,
    openedAt: begins,
  };
}

const answersAt = ({ openedAt }: Attempt): Instant => plusMs(openedAt, ANSWERS_AFTER_MS);

const resolutionOf = (attempt: Attempt, status: Resolution['status']): Resolution => ({
  status,
  at: answersAt(attempt),
  confirmationId: `${attempt.rail === 'ACH' ? 'JPM' : 'USIO'}-${attempt.attemptId.slice(0, 20)}`,
  ...(status === 'FAILED' ? NO_MONEY : { errorCode: null, errorMessage: null }),
});

const loggedOf = (
  { attemptId: id, process, rail, achModel }: Attempt,
  { confirmationId }: Resolution,
): LoggedAttempt => ({
  attemptId: id,
  process: process as Stage,
  rail,
  confirmationId,
  achModel: achModel ?? null,
});

const pastOf = (
  { process, openedAt: at, rail, accountId }: Attempt,
  status: Resolution['status'],
): PastAttempt =>
  rail === 'ACH'
    ? { process, at, rail, result: status, returnCode: null, accountId }
    : { process, at, rail, result: status === 'COMPLETED' ? 'COMPLETED' : 'FAILED' };
