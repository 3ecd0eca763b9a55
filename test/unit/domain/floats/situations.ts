import fc from 'fast-check';
import type { AttemptId } from '../../../../src/domain/attempt.ts';
import type { CalendarDate } from '../../../../src/domain/calendar-date.ts';
import type { FloatFacts } from '../../../../src/domain/floats/float-decision.ts';
import type { Float, LogEntry, Stage } from '../../../../src/domain/floats/float.ts';
import { FLOAT_STATUSES, LOG_OUTCOMES, STAGES } from '../../../../src/domain/floats/float.ts';
import type { FloatPolicy } from '../../../../src/domain/floats/policy.ts';
import type { Instant } from '../../../../src/domain/instant.ts';
import { cents } from '../../../../src/domain/money.ts';
import {
  NANOS_PER_DAY,
  accounts,
  amounts,
  freezes,
  instantsAround,
  openAttempts,
  pastAttempts,
  users,
} from '../../../support/arbitraries.ts';
import { aFloat, day, logEntry } from '../../../support/floats.ts';
import { at } from '../../../support/records.ts';

/** The whole question that `decideFloat` is asked. */
export interface FloatSituation {
  readonly stage: Stage;
  readonly float: Float;
  readonly facts: FloatFacts;
  readonly policy: FloatPolicy;
  readonly now: Instant;
}

export const dayOf = (instant: bigint): CalendarDate =>
  day(new Date(Number(instant / 1_000_000n)).toISOString().slice(0, 10));

const nows = fc.oneof(
  fc.constantFrom(
    at('2026-11-16T09:30:00Z'),
    at('2026-11-16T23:59:59.999999999Z'),
    at('2026-09-04T09:30:00Z'), // before Labor Day
    at('2027-07-02T09:30:00Z'), // before a Monday on which the banks are closed
  ),
  instantsAround(at('2026-11-16T09:30:00Z'), 400, 400),
);

/** Few ids, so that attempts have several rows. */
export const attemptIds = fc.constantFrom('a', 'b', 'c', 'd', 'e').map((id) => id as AttemptId);

/** A row of the last days; attempts and words that are none. */
export function logEntries(now: Instant): fc.Arbitrary<LogEntry> {
  const runTime = fc.oneof(
    instantsAround(now, 0, 0).map((instant) => (instant > now ? now : instant)),
    instantsAround(now, 20, -1),
  );
  const attempt = fc.record({
    runTime,
    attemptId: attemptIds,
    process: fc.constantFrom(...STAGES),
    method: fc.constantFrom('PINLESS' as const, 'ACH' as const),
    outcome: fc.oneof(fc.constant('RETURNED' as const), fc.constantFrom(...LOG_OUTCOMES)),
  });
  const word = fc.record({
    runTime,
    attemptId: fc.constant(null),
    process: fc.constantFrom('SUPPORT' as const, 'RETRY' as const),
    method: fc.constant(null),
    outcome: fc.constantFrom('RETURNED' as const, 'DEFAULTED' as const),
  });
  return fc
    .oneof({ weight: 4, arbitrary: attempt }, { weight: 1, arbitrary: word })
    .map((fields) => logEntry(fields));
}

const DUE_IN_DAYS: Record<Stage, fc.Arbitrary<number>> = {
  TOMORROW: fc.integer({ min: -1, max: 5 }),
  TODAY6AM: fc.integer({ min: -5, max: 1 }),
  RETRY: fc.oneof(fc.integer({ min: -30, max: 1 }), fc.integer({ min: -93, max: -88 })),
  WEBHOOK: fc.oneof(fc.integer({ min: -30, max: 1 }), fc.integer({ min: -93, max: -88 })),
  SUPPORT: fc.integer({ min: -120, max: 20 }),
};

/** Mostly in a status that the stage collects: otherwise most answers would be "not collected". */
function floats(stage: Stage, now: Instant): fc.Arbitrary<Float> {
  const collected =
    stage === 'TOMORROW' || stage === 'TODAY6AM' ? ['SCHEDULING'] : ['RETRY', 'UNCOLLECTABLE'];
  return fc
    .record({
      status: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...(collected as Float['status'][])) },
        { weight: 1, arbitrary: fc.constantFrom(...FLOAT_STATUSES) },
      ),
      dueIn: DUE_IN_DAYS[stage],
      amount: fc.oneof(
        { weight: 15, arbitrary: amounts(1, 10_000) },
        { weight: 1, arbitrary: amounts(0, 0) },
      ),
      lastRunTime: instantsAround(now, 3, 0),
    })
    .map(({ dueIn, ...fields }) =>
      aFloat({ ...fields, dueDate: dayOf(now + BigInt(dueIn) * NANOS_PER_DAY) }),
    );
}

const routes: fc.Arbitrary<FloatFacts['route']> = fc
  .oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) })
  .map((useAch) => ({ useAch, version: 'rule-1', probability: 0.5, features: {}, override: false }));

const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

const factsAt = (now: Instant): fc.Arbitrary<FloatFacts> =>
  fc.record({
    triggerId: fc.constantFrom('trigger-1', 'trigger-2'),
    openAttempt: seldom(openAttempts(now)),
    // The run time is a row's key.
    log: fc.uniqueArray(logEntries(now), { maxLength: 6, selector: ({ runTime }) => runTime }),
    attempts: fc.array(pastAttempts(now), { maxLength: 2 }),
    freezes: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(freezes(now), { maxLength: 2 }) },
    ),
    user: users,
    account: fc.oneof({ weight: 6, arbitrary: accounts }, { weight: 1, arbitrary: fc.constant(null) }),
    route: routes,
  });

/** Limits as an operator may set them, small enough that generated logs reach them. */
const policies: fc.Arbitrary<FloatPolicy> = fc.record({
  maxFailedAch: fc.constantFrom(1, 3, 3),
  webhookPerDay: fc.constantFrom(1, 2, 2),
  maxDaysPastDue: fc.constantFrom(10, 90, 90),
  retryBuffer: fc.constantFrom(cents(0), cents(1_000)),
  webhookMinBalance: fc.constantFrom(cents(0), cents(5_000)),
  twoFailuresGate: fc.boolean(),
  achRepresentMax: fc.integer({ min: 0, max: 3 }),
  achRepresentWindowDays: fc.constantFrom(60, 180),
  achRepresentMinBankingDays: fc.integer({ min: 1, max: 5 }),
});

export const floatSituations: fc.Arbitrary<FloatSituation> = fc
  .tuple(nows, fc.constantFrom(...STAGES), policies)
  .chain(([now, stage, policy]) =>
    fc
      .tuple(floats(stage, now), factsAt(now))
      .map(([float, facts]): FloatSituation => ({ stage, float, facts, policy, now })),
  );
