import fc from 'fast-check';
import type { AttemptId, OpenAttempt, PastAttempt } from '../../src/domain/attempt.ts';
import type { AccountFacts, Facts, Freeze, UserFacts } from '../../src/domain/decision.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { plusDays } from '../../src/domain/instant.ts';
import { at } from './records.ts';
import type { Cents } from '../../src/domain/money.ts';
import type { Path } from '../../src/domain/paths.ts';
import { PATH_NAMES } from '../../src/domain/paths.ts';
import type { CollectionPolicy } from '../../src/domain/policy.ts';
import type { Subscription, SubscriptionId, UserId } from '../../src/domain/subscription.ts';
import { BILLING_STATUSES, PROCESSES, RAILS, TERMS } from '../../src/domain/subscription.ts';

export const NANOS_PER_HOUR = 3_600_000_000_000n;
export const NANOS_PER_DAY = 24n * NANOS_PER_HOUR;

/** Everything that Go can write with four digits for the year, and that is not its word for "unset". */
export const FIRST_INSTANT = -62_135_596_800_000_000_000n as Instant; // 0001-01-01T00:00:00Z
export const LAST_INSTANT = 253_402_300_799_999_999_999n as Instant; // 9999-12-31T23:59:59.999999999Z

/** Any nanosecond of the years 1 to 9999, with whole seconds, milliseconds and the ends of the range well represented. */
export function instants(from: Instant = FIRST_INSTANT, to: Instant = LAST_INSTANT): fc.Arbitrary<Instant> {
  const rounded = [1_000_000_000n, 1_000_000n, 10n]
    .map((step) => ({ step, min: floorDivide(from + step - 1n, step), max: floorDivide(to, step) }))
    .filter(({ min, max }) => min <= max)
    .map(({ step, min, max }) => fc.bigInt({ min, max }).map((count) => count * step));
  return fc.oneof(fc.bigInt({ min: from, max: to }), ...rounded) as fc.Arbitrary<Instant>;
}

/** Mostly null. `fc.option` counts the other way round: its `freq` says how seldom null is. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

/** Amounts as price lists and bank balances have them. */
export const amounts = (min = 0, max = 100_000): fc.Arbitrary<Cents> =>
  fc.integer({ min, max }) as fc.Arbitrary<Cents>;

/** Days around an instant, in both directions: to the nanosecond on the edge, next to it, or anywhere between. */
export function instantsAround(now: Instant, daysBefore: number, daysAfter: number): fc.Arbitrary<Instant> {
  const days = fc.integer({ min: -daysBefore, max: daysAfter });
  const nudge = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(-1n, 0n, 1n) },
    { weight: 1, arbitrary: fc.bigInt({ min: -NANOS_PER_DAY, max: NANOS_PER_DAY }) },
  );
  return fc
    .tuple(days, nudge)
    .map(([count, nanos]) => (now + BigInt(count) * NANOS_PER_DAY + nanos) as Instant);
}

/** The same for things that have happened: none of them after `now`. */
const instantsBefore = (now: Instant, days: number): fc.Arbitrary<Instant> =>
  instantsAround(now, days, 0).map((instant) => (instant > now ? now : instant));

export const subscriptionIds = fc.uuid().map((id) => id as SubscriptionId);

/** A record of a user, due within some weeks of `now`. Any status, any flag: more than the pipeline would ever write. */
export function subscriptions(now: Instant): fc.Arbitrary<Subscription> {
  const sometime = fc.option(instantsBefore(now, 40), { freq: 3 });
  return fc.record({
    userId: fc.constant('user-1' as UserId),
    billingDate: instantsAround(now, 35, 3),
    subscriptionId: subscriptionIds,
    billingAmount: fc.oneof(
      { weight: 9, arbitrary: amounts(1, 5_000) },
      { weight: 1, arbitrary: fc.constant(0 as Cents) },
    ),
    billingStatus: fc.oneof(
      fc.constantFrom('SCHEDULED', 'ERROR', 'PAUSED'),
      fc.constantFrom(...BILLING_STATUSES),
    ),
    billingPeriod: fc.constant('11/2026'),
    transactionId: fc.constantFrom('', 'JPM-1'),
    usioError: fc.constantFrom('', 'R01: insufficient funds'),
    initialRunDate: sometime,
    completionDate: sometime,
    lastRunDate: sometime,
    createdDate: sometime,
    process: fc.option(fc.constantFrom(...PROCESSES)),
    updatedEvent: fc.oneof(
      { weight: 6, arbitrary: fc.constant('') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('PENDING_CANCELLATION', 'account-closed', 'SUB_PAUSED', 'UNPAUSE'),
      },
      { weight: 1, arbitrary: fc.constant('pause-pending-resume') },
    ),
    term: fc.constantFrom(...TERMS),
    receiptAccountMask: fc.constantFrom('', '6789'),
    receiptTierName: fc.constantFrom('', 'Base:v0', 'Plus:v1'),
    receiptPaymentType: fc.constantFrom('', 'ACH'),
    billingWeek: fc.option(fc.integer({ min: 1, max: 5 })),
    pauseDurationMonths: fc.integer({ min: -1, max: 3 }),
    isPendingDowngrade: fc.boolean(),
  });
}

const RETURN_CODES_SEEN = ['R01', 'R09', 'R02', 'R10', 'AC04', 'R99'] as const;

/** How an attempt of the last half year and a bit ended. */
export function pastAttempts(now: Instant): fc.Arbitrary<PastAttempt> {
  const when = {
    process: fc.constantFrom(...PROCESSES),
    at: fc.oneof(instantsBefore(now, 8), instantsBefore(now, 185)),
  };
  const sentTo = { rail: fc.constant('ACH'), accountId: fc.constantFrom('acc-1', 'acc-2', null) } as const;
  return fc.oneof(
    fc.record({ ...when, rail: fc.constant(null), result: fc.constant('REFUSED') } as const),
    fc.record({
      ...when,
      rail: fc.constant('PINLESS'),
      result: fc.constantFrom('COMPLETED', 'FAILED'),
    } as const),
    fc.record({
      ...when,
      ...sentTo,
      result: fc.constantFrom('ACHSENT', 'COMPLETED', 'FAILED'),
      returnCode: fc.constant(null),
    } as const),
    fc.record({
      ...when,
      ...sentTo,
      result: fc.constant('RETURNED'),
      returnCode: fc.oneof(
        fc.constantFrom<string | null>('R01', 'R09'),
        fc.constantFrom<string | null>(...RETURN_CODES_SEEN, null),
      ),
    } as const),
  );
}

export function freezes(now: Instant): fc.Arbitrary<Freeze> {
  return fc.record({
    scope: fc.constantFrom('global', 'user', ...RAILS),
    until: fc.option(instantsAround(now, 1, 1)),
  });
}

export const users: fc.Arbitrary<UserFacts | null> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ status: 'ACTIVE', isEmployee: false }) },
  {
    weight: 2,
    arbitrary: fc.record({
      status: fc.constantFrom('ACTIVE', 'PAUSED', 'BANNED', 'PROCESSING', 'INVESTIGATE', 'CLOSED', ''),
      isEmployee: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant(null) },
);

export const accounts: fc.Arbitrary<AccountFacts> = fc.record({
  accountId: fc.constantFrom('acc-1', 'acc-2'),
  availableBalance: fc.oneof(amounts(-2_000, 6_000), amounts(6_000, 100_000)),
  hasDebitCard: fc.boolean(),
  achBlock: seldom(fc.constantFrom('R02', 'R10')),
});

/** Of today, and some of days ago. */
export const openAttempts = (now: Instant): fc.Arbitrary<OpenAttempt> =>
  fc.record({
    attemptId: fc.uuid().map((id) => id as AttemptId),
    triggerId: fc.constantFrom('trigger-1', 'trigger-2'),
    rail: fc.constantFrom(...RAILS),
    openedAt: fc.oneof(instants(plusDays(now, -1), now), instants(plusDays(now, -3), now)),
  });

/** What may be known about a record. The record itself is one of the user's. */
export function factsAbout(record: Subscription, now: Instant): fc.Arbitrary<Facts> {
  return fc.record({
    triggerId: fc.constantFrom('trigger-1', 'trigger-2'),
    openAttempt: seldom(openAttempts(now)),
    membershipEvent: fc.oneof(
      { weight: 10, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom('unapplied' as const, 'quarantined' as const) },
    ),
    freezes: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(freezes(now), { maxLength: 2 }) },
    ),
    user: users,
    account: fc.oneof({ weight: 9, arbitrary: accounts }, { weight: 1, arbitrary: fc.constant(null) }),
    attempts: fc.oneof(
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.array(pastAttempts(now), { maxLength: 5 }) },
    ),
    partition: fc
      .oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(subscriptions(now), { maxLength: 3 }) },
      )
      .map((others) => [...others, record]),
  });
}

/** Limits as an operator may set them, small enough that generated attempts reach them. */
export const policies: fc.Arbitrary<CollectionPolicy> = fc.record({
  oldSubscriptionDays: fc.constantFrom(1, 30, 30, 365),
  balanceBuffer: fc.oneof(fc.constant(0 as Cents), amounts(0, 2_000)),
  retryMaxAttempts: fc.constantFrom(1, 4, 20, 20),
  webhookMaxPerDay: fc.integer({ min: 1, max: 3 }),
  achRepresentMax: fc.integer({ min: 0, max: 3 }),
  achRepresentWindowDays: fc.constantFrom(60, 180),
  achRepresentMinBankingDays: fc.integer({ min: 1, max: 5 }),
});

/** The whole question that `decide` is asked. */
export interface Situation {
  readonly path: Path;
  readonly record: Subscription;
  readonly facts: Facts;
  readonly policy: CollectionPolicy;
  readonly now: Instant;
}

const nows: fc.Arbitrary<Instant> = fc.oneof(
  instants(at('2024-01-01T00:00:00Z'), at('2031-01-01T00:00:00Z')),
  fc.constantFrom(
    at('2026-11-16T00:00:00Z'),
    at('2026-11-16T08:00:00Z'),
    at('2026-11-16T23:59:59.999999999Z'),
    at('2027-07-05T07:00:00Z'), // a Monday on which the banks are closed
  ),
);

/**
 * Situations in which every verdict comes up now and then. Half of the time the record is in a status that its path
 * collects: otherwise most answers would be "not collected".
 */
export const situations: fc.Arbitrary<Situation> = fc
  .tuple(nows, fc.constantFrom(...PATH_NAMES), policies, fc.boolean())
  .chain(([now, path, policy, collected]) =>
    subscriptions(now)
      .map((record) => (collected ? inCollectedStatus(path, record) : record))
      .chain((record) =>
        factsAbout(record, now).map((facts): Situation => ({ path, record, facts, policy, now })),
      ),
  );

function inCollectedStatus(path: Path, record: Subscription): Subscription {
  switch (path) {
    case 'INITIAL':
      return { ...record, billingStatus: 'SCHEDULED' };
    case 'PAUSE':
      return record.updatedEvent === 'pause-pending-resume'
        ? { ...record, billingStatus: 'SCHEDULED' }
        : { ...record, billingStatus: 'PAUSED' };
    case 'RETRY':
    case 'BATCH':
    case 'WEBHOOK':
    case 'WEBHOOK_BALANCE':
    case 'MANUAL_REPAYMENT':
    case 'STALE':
      return { ...record, billingStatus: 'ERROR' };
  }
}

function floorDivide(value: bigint, by: bigint): bigint {
  const remainder = ((value % by) + by) % by;
  return (value - remainder) / by;
}
