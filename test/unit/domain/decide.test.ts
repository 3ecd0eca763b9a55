import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptId, OpenAttempt, PastAttempt } from '../../../src/domain/attempt.ts';
import type { AccountFacts, Decision, Facts, Freeze } from '../../../src/domain/decision.ts';
import { decide } from '../../../src/domain/decide.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import type { Path } from '../../../src/domain/paths.ts';
import { PATHS, PATH_NAMES } from '../../../src/domain/paths.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import type { BillingStatus, Subscription } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import type { Situation } from '../../support/arbitraries.ts';
import { NANOS_PER_DAY, freezes, pastAttempts, situations, users } from '../../support/arbitraries.ts';
import { at, subscription } from '../../support/records.ts';

const NOW = at('2026-11-16T08:00:00Z');
const TOMORROW = at('2026-11-17T00:00:00Z');
const OPEN: OpenAttempt = {
  attemptId: 'attempt-1' as AttemptId,
  triggerId: 'run-0',
  rail: 'PINLESS',
  openedAt: at('2026-11-16T07:00:00Z'),
};
const ACCOUNT: AccountFacts = {
  accountId: 'acc-1',
  availableBalance: cents(10_000),
  hasDebitCard: true,
  achBlock: null,
};

const STATUS_OF: Record<Path, BillingStatus> = {
  INITIAL: 'SCHEDULED',
  RETRY: 'ERROR',
  PAUSE: 'SCHEDULED',
  BATCH: 'SCHEDULED',
  WEBHOOK: 'ERROR',
  WEBHOOK_BALANCE: 'ERROR',
  MANUAL_REPAYMENT: 'ERROR',
  STALE: 'ERROR',
};
/** Those that collect on their own: neither a person nor the write-off. */
const AUTOMATIC = ['INITIAL', 'RETRY', 'PAUSE', 'BATCH', 'WEBHOOK', 'WEBHOOK_BALANCE'] as const;

/** A record of 4.99 that is due, a member in good standing with a card and 100 dollars: nothing stands in the way. */
function clear(path: Path): Situation {
  const record = subscription({
    billingStatus: STATUS_OF[path],
    updatedEvent: path === 'PAUSE' ? 'pause-pending-resume' : '',
  });
  const facts: Facts = {
    triggerId: 'run-1',
    openAttempt: null,
    membershipEvent: null,
    freezes: [],
    user: { status: 'ACTIVE', isEmployee: false },
    account: ACCOUNT,
    attempts: [],
    partition: [record],
  };
  return { path, record, facts, policy: DEFAULT_POLICY, now: NOW };
}

type Change = (situation: Situation) => Situation;
const record =
  (fields: Partial<Subscription>): Change =>
  (situation) => {
    const changed = { ...situation.record, ...fields };
    const partition = situation.facts.partition.map((one) => (one === situation.record ? changed : one));
    return { ...situation, record: changed, facts: { ...situation.facts, partition } };
  };
const facts =
  (fields: Partial<Facts>): Change =>
  (situation) => ({ ...situation, facts: { ...situation.facts, ...fields } });
const account =
  (fields: Partial<AccountFacts>): Change =>
  (situation) =>
    facts({ account: { ...(situation.facts.account ?? ACCOUNT), ...fields } })(situation);
const userStatus =
  (status: string): Change =>
  (situation) =>
    facts({ user: { status, isEmployee: situation.facts.user?.isEmployee ?? false } })(situation);

const employee: Change = (situation) =>
  facts({ user: { status: situation.facts.user?.status ?? 'ACTIVE', isEmployee: true } })(situation);
const frozen = (scope: Freeze['scope'], until: Instant | null = null): Change =>
  facts({ freezes: [{ scope, until }] });
const cardDecline: PastAttempt = {
  process: 'BATCH',
  at: at('2026-11-10T08:00:00Z'),
  rail: 'PINLESS',
  result: 'FAILED',
};
const returned = (day: string, returnCode = 'R01'): PastAttempt => ({
  process: 'RETRY',
  at: at(`${day}T15:00:00Z`),
  rail: 'ACH',
  result: 'RETURNED',
  returnCode,
  accountId: 'acc-1',
});

const judge = ({ path, record, facts, policy, now }: Situation): Decision =>
  decide(path, record, facts, policy, now);
const given = (path: Path, ...changes: Change[]): Decision =>
  judge(changes.reduce((situation, change) => change(situation), clear(path)));

const CHARGE: Decision = {
  verdict: 'charge',
  amount: cents(499),
  rail: 'PINLESS',
  fallback: 'ACH',
  representment: false,
};
const MANUAL_CHARGE: Decision = { ...CHARGE, fallback: null };
const deferred = (reason: string) => ({ verdict: 'deferred', reason });
const skipped = (reason: string, until: Instant | null = null) => ({ verdict: 'skipped', reason, until });
const blocked = (reason: string) => ({ verdict: 'blocked', attemptId: 'attempt-1', reason });
const noOp = (reason: string) => ({ verdict: 'no-op', reason });

/** The rules in their order: what makes each apply, and what it then says on an automatic path. */
const RULES: readonly { name: string; change: Change; says: object; obstructs: boolean }[] = [
  {
    name: 'a status that no path collects',
    change: record({ billingStatus: 'COMPLETED' }),
    says: noOp('status-not-collected'),
    obstructs: false,
  },
  {
    name: 'an open attempt',
    change: facts({ openAttempt: OPEN }),
    says: { verdict: 'resume', attemptId: 'attempt-1', rail: 'PINLESS' },
    obstructs: false,
  },
  {
    name: 'an unapplied membership event',
    change: facts({ membershipEvent: 'unapplied' }),
    says: deferred('membership-event-unapplied'),
    obstructs: true,
  },
  { name: 'a freeze', change: frozen('global'), says: deferred('frozen-global'), obstructs: true },
  {
    name: 'a pending cancellation',
    change: record({ updatedEvent: 'PENDING_CANCELLATION' }),
    says: { verdict: 'cancel', reason: 'pending-cancellation' },
    obstructs: true,
  },
  {
    name: 'a user in process',
    change: userStatus('PROCESSING'),
    says: deferred('user-processing'),
    obstructs: true,
  },
  { name: 'an employee', change: employee, says: { verdict: 'waive', reason: 'employee' }, obstructs: true },
  {
    name: 'an old debt',
    change: record({ billingDate: at('2026-10-01T06:00:00Z') }),
    says: { verdict: 'go-stale', reason: 'too-old' },
    obstructs: true,
  },
  {
    name: 'attempts used up',
    change: facts({ attempts: Array.from({ length: 20 }, () => cardDecline) }),
    says: skipped('attempts-used-up'),
    obstructs: false,
  },
  {
    name: 'an account that is blocked for ACH, and no card',
    change: account({ hasDebitCard: false, achBlock: 'R02' }),
    says: skipped('ach-account-blocked'),
    obstructs: false,
  },
  {
    name: 'a balance too low',
    change: account({ availableBalance: cents(498) }),
    says: { verdict: 'refuse', reason: 'balance-too-low', shortBy: 1 },
    obstructs: false,
  },
];

const APPLICABLE: Record<(typeof AUTOMATIC)[number], typeof RULES> = {
  INITIAL: RULES,
  RETRY: RULES,
  BATCH: RULES,
  WEBHOOK: RULES,
  WEBHOOK_BALANCE: RULES,
  // A record has one flag: one that is to be cancelled is not one that is to be resumed, and whoever asked to be charged
  // on resuming is, whatever the date.
  PAUSE: RULES.filter(({ name }) => name !== 'a pending cancellation' && name !== 'an old debt'),
};

describe.each(AUTOMATIC)('on the path %s', (path) => {
  it('a record that is due is charged over the card, with ACH to turn to', () => {
    expect(given(path)).toEqual(CHARGE);
  });

  it.each(APPLICABLE[path])('$name is answered', ({ change, says }) => {
    expect(given(path, change)).toEqual(says);
  });

  const pairs = APPLICABLE[path].flatMap((earlier, index) =>
    APPLICABLE[path].slice(index + 1).map((later) => ({ earlier, later })),
  );
  const inOrder = pairs.filter(
    ({ earlier, later }) => earlier.name !== 'an open attempt' || !later.obstructs,
  );
  it.each(inOrder)('$earlier.name comes before $later.name', ({ earlier, later }) => {
    expect(given(path, earlier.change, later.change)).toEqual(earlier.says);
    expect(given(path, later.change, earlier.change)).toEqual(earlier.says);
  });

  const obstructed = pairs.filter(
    ({ earlier, later }) => earlier.name === 'an open attempt' && later.obstructs,
  );
  it.each(obstructed)(
    'an open attempt is not repeated but waits in the face of $later.name',
    ({ earlier, later }) => {
      const { reason } = later.says as { reason: string };
      expect(given(path, earlier.change, later.change)).toEqual(blocked(reason));
    },
  );
});

describe('which records a path collects', () => {
  const GRID: Record<Path, readonly BillingStatus[]> = {
    INITIAL: ['SCHEDULED'],
    RETRY: ['ERROR'],
    PAUSE: ['PAUSED'],
    BATCH: ['SCHEDULED', 'ERROR'],
    WEBHOOK: ['ERROR'],
    WEBHOOK_BALANCE: ['ERROR'],
    MANUAL_REPAYMENT: ['SCHEDULED', 'ERROR'],
    STALE: ['ERROR'],
  };
  const cells = PATH_NAMES.flatMap((path) =>
    BILLING_STATUSES.map((status) => ({ path, status, collected: GRID[path].includes(status) })),
  );

  it.each(cells)('$path collects $status: $collected', ({ path, status, collected }) => {
    const decision = given(path, record({ billingStatus: status, updatedEvent: '' }));
    const refused = decision.verdict === 'no-op' && decision.reason === 'status-not-collected';
    expect(refused).toBe(!collected);
  });

  it.each([...PATH_NAMES])('%s writes its own name into `process`, but for the write-off', (path) => {
    expect(PATHS[path].process).toBe(path === 'STALE' ? null : path);
  });

  it('the pause run also takes scheduled records whose members asked to be charged on resuming, only those', () => {
    const next = record({ billingDate: at('2026-12-16T06:00:00Z') });
    expect(given('PAUSE', next)).toEqual(CHARGE);
    expect(given('PAUSE', record({ updatedEvent: 'pause-resume' }))).toEqual(noOp('status-not-collected'));
    expect(given('PAUSE', record({ billingStatus: 'ERROR' }))).toEqual(noOp('status-not-collected'));
    expect(given('INITIAL', record({ updatedEvent: 'pause-pending-resume' }), next)).toEqual(noOp('not-due'));
  });
});

describe('when a record is due', () => {
  const DUE_ONLY = ['INITIAL', 'RETRY', 'BATCH', 'WEBHOOK', 'WEBHOOK_BALANCE'] as const;

  it.each(DUE_ONLY)('%s takes it at its very instant and not a nanosecond before', (path) => {
    expect(given(path, record({ billingDate: NOW }))).toEqual(CHARGE);
    expect(given(path, record({ billingDate: (NOW + 1n) as Instant }))).toEqual(noOp('not-due'));
  });

  it('a paused period is over at its very instant and not a nanosecond before', () => {
    const paused = record({ billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED', pauseDurationMonths: 1 });
    expect(given('PAUSE', paused, record({ billingDate: NOW })).verdict).toBe('skip-pause');
    expect(given('PAUSE', paused, record({ billingDate: (NOW + 1n) as Instant }))).toEqual(noOp('not-due'));
  });

  it('members may pay ahead', () => {
    const next = record({ billingStatus: 'SCHEDULED', billingDate: at('2026-12-16T06:00:00Z') });
    expect(given('MANUAL_REPAYMENT', next)).toEqual(MANUAL_CHARGE);
  });

  it('not being due comes before an open attempt', () => {
    const next = record({ billingDate: at('2026-12-16T06:00:00Z') });
    expect(given('INITIAL', next, facts({ openAttempt: OPEN }))).toEqual(noOp('not-due'));
  });
});

describe('an old debt', () => {
  const cut = (NOW - 30n * NANOS_PER_DAY) as Instant;
  const justAbove = (cut + 1n) as Instant;

  const writers = [...AUTOMATIC, 'STALE'] as const;

  it.each(writers.filter((path) => path !== 'PAUSE'))(
    'is written off by %s at the cut, not a nanosecond above',
    (path) => {
      const atCut = given(path, record({ billingDate: cut }));
      expect(atCut).toEqual({ verdict: 'go-stale', reason: 'too-old' });
      const above = given(path, record({ billingDate: justAbove }));
      expect(above).toEqual(path === 'STALE' ? noOp('not-stale') : CHARGE);
    },
  );

  it('is not written off while its member waits to be charged on resuming', () => {
    const resuming = record({
      billingDate: at('2020-01-01T06:00:00Z'),
      updatedEvent: 'pause-pending-resume',
    });
    expect(given('PAUSE', resuming)).toEqual(CHARGE);
    expect(given('INITIAL', resuming)).toEqual(CHARGE);
    expect(given('RETRY', resuming)).toEqual({ verdict: 'go-stale', reason: 'too-old' });
  });

  it('may still be paid by hand', () => {
    expect(given('MANUAL_REPAYMENT', record({ billingDate: at('2020-01-01T06:00:00Z') }))).toEqual(
      MANUAL_CHARGE,
    );
  });
});

describe('the write-off run', () => {
  const old = record({ billingDate: at('2026-10-01T06:00:00Z') });

  it('leaves what is not old', () => {
    expect(given('STALE')).toEqual(noOp('not-stale'));
  });

  it('never touches a record with an open attempt, nor repeats it', () => {
    const open = facts({ openAttempt: OPEN });
    expect(given('STALE', old, open)).toEqual(blocked('too-old'));
    expect(given('STALE', open)).toEqual(blocked('open-attempt'));
    expect(given('STALE', open, facts({ triggerId: OPEN.triggerId }))).toEqual(blocked('open-attempt'));
  });

  it.each<[string, Change, object]>([
    ['an unapplied event', facts({ membershipEvent: 'unapplied' }), deferred('membership-event-unapplied')],
    ['a frozen user', frozen('user'), deferred('frozen-user')],
    ['a missing user', facts({ user: null }), deferred('user-missing')],
    [
      'a pending cancellation',
      record({ updatedEvent: 'PENDING_CANCELLATION' }),
      { verdict: 'cancel', reason: 'pending-cancellation' },
    ],
    [
      'an account that was closed',
      record({ updatedEvent: 'account-closed' }),
      { verdict: 'cancel', reason: 'account-closed' },
    ],
    ['a banned user', userStatus('BANNED'), { verdict: 'cancel', reason: 'user-banned' }],
    ['an employee', employee, { verdict: 'waive', reason: 'employee' }],
  ])('answers %s before the age', (_, change, expected) => {
    expect(given('STALE', old, change)).toEqual(expected);
  });

  it.each(['PINLESS', 'ACH'] as const)('does not mind a frozen rail %s: it charges nobody', (rail) => {
    expect(given('STALE', old, frozen(rail))).toEqual({ verdict: 'go-stale', reason: 'too-old' });
  });
});

describe('a payment by hand', () => {
  const PATH = 'MANUAL_REPAYMENT';

  it.each(['SCHEDULED', 'ERROR'] as const)(
    'charges a record that is %s over the card only',
    (billingStatus) => {
      expect(given(PATH, record({ billingStatus }))).toEqual(MANUAL_CHARGE);
    },
  );

  it.each<[string, Change]>([
    ['the balance', account({ availableBalance: cents(-5_000) })],
    ['the number of attempts', facts({ attempts: Array.from({ length: 30 }, () => cardDecline) })],
    ['a retry today', facts({ attempts: [{ ...cardDecline, process: 'RETRY', at: NOW }] })],
    ['an older period', facts({ partition: [subscription({ billingDate: at('2026-10-16T06:00:00Z') })] })],
    ['an account that ACH may not touch', account({ achBlock: 'R02' })],
    ['a frozen ACH rail', frozen('ACH')],
  ])('does not ask about %s', (_, change) => {
    expect(given(PATH, change)).toEqual(MANUAL_CHARGE);
  });

  it.each<[string, Change, object]>([
    ['no debit card', account({ hasDebitCard: false }), skipped('no-debit-card')],
    ['no account', facts({ account: null }), skipped('no-debit-card')],
    [
      'a pending cancellation',
      record({ updatedEvent: 'PENDING_CANCELLATION' }),
      skipped('pending-cancellation'),
    ],
    ['an account that was closed', record({ updatedEvent: 'account-closed' }), skipped('account-closed')],
    ['a cancelled membership', userStatus('PAUSED'), skipped('user-cancelled')],
    ['a banned user', userStatus('BANNED'), skipped('user-banned')],
    ['an employee', employee, skipped('employee')],
    ['a missing user', facts({ user: null }), deferred('user-missing')],
    ['an event to come', facts({ membershipEvent: 'unapplied' }), deferred('membership-event-unapplied')],
    ['nothing to pay', record({ billingAmount: cents(0) }), skipped('amount-not-positive')],
    ['a global freeze', frozen('global'), deferred('frozen-global')],
    ['a frozen card rail', frozen('PINLESS'), deferred('frozen-rail')],
  ])('with %s gets an answer and leaves the record as it is', (_, change, expected) => {
    expect(given(PATH, change)).toEqual(expected);
  });

  it('resumes an attempt of its own request, and of nobody else', () => {
    const open = facts({ openAttempt: OPEN });
    expect(given(PATH, open, facts({ triggerId: 'run-0' }))).toEqual({
      verdict: 'resume',
      attemptId: 'attempt-1',
      rail: 'PINLESS',
    });
    expect(given(PATH, open)).toEqual(blocked('open-attempt'));
  });

  it('never sends a card payment off as an ACH entry that goes a second time', () => {
    expect(given(PATH, facts({ attempts: [returned('2026-11-02')] }))).toEqual(MANUAL_CHARGE);
  });
});

describe('membership events', () => {
  it.each([...PATH_NAMES])('that wait hold back %s', (path) => {
    expect(given(path, facts({ membershipEvent: 'unapplied' }))).toEqual(
      deferred('membership-event-unapplied'),
    );
  });

  it('that failed do not keep a member from paying by hand', () => {
    expect(given('MANUAL_REPAYMENT', facts({ membershipEvent: 'quarantined' }))).toEqual(MANUAL_CHARGE);
  });

  it.each([...AUTOMATIC, 'STALE'] as const)('that failed hold back %s until somebody acts', (path) => {
    expect(given(path, facts({ membershipEvent: 'quarantined' }))).toEqual(
      deferred('membership-event-quarantined'),
    );
  });
});

describe('freezes', () => {
  it('hold until the instant at which they end, and no longer', () => {
    expect(given('INITIAL', frozen('global', (NOW + 1n) as Instant))).toEqual(deferred('frozen-global'));
    expect(given('INITIAL', frozen('global', NOW))).toEqual(CHARGE);
    expect(given('INITIAL', frozen('global', (NOW - 1n) as Instant))).toEqual(CHARGE);
  });

  it('name the widest scope that applies', () => {
    const all = (['PINLESS', 'user', 'global'] as const).map((scope): Freeze => ({ scope, until: null }));
    expect(given('RETRY', facts({ freezes: all }))).toEqual(deferred('frozen-global'));
    expect(given('RETRY', facts({ freezes: all.slice(0, 2) }))).toEqual(deferred('frozen-user'));
    expect(given('RETRY', facts({ freezes: all.slice(0, 1) }))).toEqual(deferred('frozen-rail'));
  });

  it('of a rail defer whoever would be charged over it first; nobody is moved to the other', () => {
    const noCard = account({ hasDebitCard: false });
    expect(given('INITIAL', frozen('PINLESS'))).toEqual(deferred('frozen-rail'));
    expect(given('INITIAL', frozen('ACH'), noCard)).toEqual(deferred('frozen-rail'));
    expect(given('INITIAL', frozen('PINLESS'), noCard)).toEqual({ ...CHARGE, rail: 'ACH', fallback: null });
  });

  it('of ACH leave the card without a rail to turn to', () => {
    expect(given('INITIAL', frozen('ACH'))).toEqual({ ...CHARGE, fallback: null });
    expect(given('INITIAL', frozen('ACH', NOW))).toEqual(CHARGE);
  });

  it('of the rail of an open attempt keep it from being repeated, whatever the account has now', () => {
    const openAch = facts({ openAttempt: { ...OPEN, rail: 'ACH' } });
    expect(given('RETRY', openAch, frozen('ACH'))).toEqual(blocked('frozen-rail'));
    expect(given('RETRY', openAch, frozen('PINLESS')).verdict).toBe('resume');
  });
});

describe('the user', () => {
  it.each<[string, Change, object]>([
    ['is missing', facts({ user: null }), deferred('user-missing')],
    ['is PROCESSING', userStatus('PROCESSING'), deferred('user-processing')],
    ['is under investigation', userStatus('INVESTIGATE'), deferred('user-under-investigation')],
    ['has a status that nobody knows', userStatus('active'), deferred('user-status-unknown')],
    ['has cancelled the membership', userStatus('PAUSED'), { verdict: 'cancel', reason: 'user-cancelled' }],
    ['is BANNED', userStatus('BANNED'), { verdict: 'cancel', reason: 'user-banned' }],
    ['is an employee', employee, { verdict: 'waive', reason: 'employee' }],
  ])('who %s is not charged on any automatic path', (_, change, expected) => {
    for (const path of AUTOMATIC) expect(given(path, change), path).toEqual(expected);
  });

  it('who is an employee and no longer a member is cancelled, not waived', () => {
    expect(given('INITIAL', employee, userStatus('PAUSED'))).toEqual({
      verdict: 'cancel',
      reason: 'user-cancelled',
    });
    expect(given('INITIAL', employee, userStatus('BANNED'))).toEqual({
      verdict: 'cancel',
      reason: 'user-banned',
    });
  });

  it('who wants to leave is let go, even when the user service has no such user or another word', () => {
    const leaving = record({ updatedEvent: 'PENDING_CANCELLATION' });
    const cancelled = { verdict: 'cancel', reason: 'pending-cancellation' };
    expect(given('INITIAL', leaving, facts({ user: null }))).toEqual(cancelled);
    expect(given('INITIAL', leaving, userStatus('BANNED'))).toEqual(cancelled);
  });

  it('what was closed with its account is not asked for again, by whichever path', () => {
    const owed = record({ billingStatus: 'ERROR', updatedEvent: 'account-closed' });
    for (const path of ['RETRY', 'WEBHOOK', 'WEBHOOK_BALANCE', 'BATCH', 'STALE'] as const) {
      expect(given(path, owed)).toEqual({ verdict: 'cancel', reason: 'account-closed' });
      expect(given(path, owed, userStatus('BANNED'))).toMatchObject({ reason: 'account-closed' });
      expect(given(path, owed, facts({ openAttempt: OPEN }))).toEqual(blocked('account-closed'));
    }
  });
});

describe('a paused period', () => {
  const paused = (months: number): Change =>
    record({ billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED', pauseDurationMonths: months });

  it.each([
    [3, { status: 'PAUSED', monthsLeft: 2 }],
    [2, { status: 'PAUSED', monthsLeft: 1 }],
    [1, { status: 'SCHEDULED' }],
    [0, { status: 'PAUSED', monthsLeft: -1 }],
    [-1, { status: 'PAUSED', monthsLeft: -1 }],
  ])('of %i months is skipped, and then comes %j', (months, next) => {
    expect(given('PAUSE', paused(months))).toEqual({ verdict: 'skip-pause', next });
  });

  it('of three months skips three periods and no more', () => {
    const skips: (number | string)[] = [];
    let months: number | null = 3;
    while (months !== null && skips.length < 10) {
      const decision = given('PAUSE', paused(months));
      if (decision.verdict !== 'skip-pause') throw new Error(decision.verdict);
      skips.push(months);
      months = decision.next.status === 'PAUSED' ? decision.next.monthsLeft : null;
    }
    expect(skips).toEqual([3, 2, 1]);
  });

  it('is cancelled when the member wants to leave or is no longer one', () => {
    const leaving = record({ updatedEvent: 'PENDING_CANCELLATION' });
    expect(given('PAUSE', paused(3), leaving)).toEqual({ verdict: 'cancel', reason: 'pending-cancellation' });
    expect(given('PAUSE', paused(3), userStatus('PAUSED'))).toEqual({
      verdict: 'cancel',
      reason: 'user-cancelled',
    });
  });

  it('waits for events, freezes and the user service like any other', () => {
    expect(given('PAUSE', paused(3), facts({ membershipEvent: 'unapplied' }))).toEqual(
      deferred('membership-event-unapplied'),
    );
    expect(given('PAUSE', paused(3), frozen('user'))).toEqual(deferred('frozen-user'));
    expect(given('PAUSE', paused(3), facts({ user: null }))).toEqual(deferred('user-missing'));
  });

  it.each<[string, Change]>([
    ['a frozen rail', frozen('PINLESS')],
    ['an employee', employee],
    ['an old date', record({ billingDate: at('2026-01-16T06:00:00Z') })],
    ['a low balance', account({ availableBalance: cents(0) })],
    ['no account', facts({ account: null })],
    ['attempts used up', facts({ attempts: Array.from({ length: 20 }, () => cardDecline) })],
  ])('owes nothing, so %s does not matter', (_, change) => {
    expect(given('PAUSE', paused(1), change)).toEqual({
      verdict: 'skip-pause',
      next: { status: 'SCHEDULED' },
    });
  });

  it('with an open attempt waits for the word of the processor: to repeat it would charge a paused member', () => {
    const open = facts({ openAttempt: OPEN });
    expect(given('PAUSE', paused(1), open)).toEqual(blocked('open-attempt'));
    expect(given('PAUSE', paused(1), open, frozen('PINLESS'))).toEqual(blocked('open-attempt'));
    expect(given('PAUSE', paused(1), open, userStatus('BANNED'))).toEqual(blocked('user-banned'));
  });
});

describe('an open attempt', () => {
  it('is resumed by any automatic path, over its own rail, whoever opened it', () => {
    const openAch = facts({ openAttempt: { ...OPEN, rail: 'ACH' } });
    for (const path of AUTOMATIC) {
      expect(given(path, openAch), path).toEqual({ verdict: 'resume', attemptId: 'attempt-1', rail: 'ACH' });
    }
  });

  it.each<[string, Change]>([
    ['the balance', account({ availableBalance: cents(0) })],
    ['the limits', facts({ attempts: Array.from({ length: 20 }, () => cardDecline) })],
    ['the account', facts({ account: null })],
  ])('is resumed without asking about %s again: that was asked when it was opened', (_, change) => {
    expect(given('RETRY', facts({ openAttempt: OPEN }), change).verdict).toBe('resume');
  });

  it('is resumed for two days, and then by nobody, so that the janitor can give it up', () => {
    const openedAt = plusMs(NOW, -48 * 3_600_000);
    for (const path of AUTOMATIC) {
      expect(given(path, facts({ openAttempt: { ...OPEN, openedAt } })), path).toEqual(
        blocked('open-attempt'),
      );
      const younger = facts({ openAttempt: { ...OPEN, openedAt: plusMs(openedAt, 1) } });
      expect(given(path, younger).verdict, path).toBe('resume');
    }
  });

  it('does not go to an account that its bank has closed to us meanwhile; to the card it does', () => {
    const block = account({ achBlock: 'R10' });
    const openAch = facts({ openAttempt: { ...OPEN, rail: 'ACH' } });
    expect(given('RETRY', openAch, block)).toEqual(blocked('ach-account-blocked'));
    expect(given('RETRY', facts({ openAttempt: OPEN }), block).verdict).toBe('resume');
  });
});

describe('limits', () => {
  const today = (process: PastAttempt['process']): PastAttempt => ({ ...cardDecline, process, at: NOW });

  it('let the oldest period go first', () => {
    const older = subscription({ billingDate: at('2026-10-20T06:00:00Z') });
    expect(given('INITIAL', facts({ partition: [older] }))).toEqual(skipped('older-period-first'));
    expect(given('BATCH', facts({ partition: [older] }))).toEqual(CHARGE);
  });

  it('allow one first attempt for a user and day', () => {
    const tried = subscription({ billingStatus: 'ERROR', initialRunDate: at('2026-11-16T00:00:00Z') });
    expect(given('INITIAL', facts({ partition: [tried] }))).toEqual(skipped('initial-today', TOMORROW));
    expect(given('RETRY', facts({ partition: [tried] }))).toEqual(CHARGE);
  });

  it('allow one retry a day', () => {
    expect(given('RETRY', facts({ attempts: [today('RETRY')] }))).toEqual(skipped('retried-today', TOMORROW));
    expect(given('WEBHOOK', facts({ attempts: [today('RETRY')] }))).toEqual(CHARGE);
  });

  it.each(['WEBHOOK', 'WEBHOOK_BALANCE'] as const)('allow two signals a day, %s being the third', (path) => {
    const attempts = [today('WEBHOOK'), today('WEBHOOK_BALANCE')];
    expect(given(path, facts({ attempts: attempts.slice(1) }))).toEqual(CHARGE);
    expect(given(path, facts({ attempts }))).toEqual(skipped('webhooks-today', TOMORROW));
    expect(given('RETRY', facts({ attempts }))).toEqual(CHARGE);
  });

  it.each(AUTOMATIC)('end %s after the twentieth attempt', (path) => {
    const attempts = Array.from({ length: 20 }, () => cardDecline);
    expect(given(path, facts({ attempts: attempts.slice(1) }))).toEqual(CHARGE);
    expect(given(path, facts({ attempts }))).toEqual(skipped('attempts-used-up'));
  });
});

describe('the balance', () => {
  const buffered: Change = (situation) => ({
    ...situation,
    policy: { ...situation.policy, balanceBuffer: cents(1_000) },
  });

  it.each([true, false])('must cover amount and buffer to the cent (card: %s)', (hasDebitCard) => {
    const exactly = account({ hasDebitCard, availableBalance: cents(1_499) });
    const short = account({ hasDebitCard, availableBalance: cents(1_498) });
    expect(given('RETRY', buffered, exactly)).toEqual(
      hasDebitCard ? CHARGE : { ...CHARGE, rail: 'ACH', fallback: null },
    );
    expect(given('RETRY', buffered, short)).toEqual({
      verdict: 'refuse',
      reason: 'balance-too-low',
      shortBy: 1,
    });
  });

  it('may be below zero, and then more is missing than the amount', () => {
    expect(given('RETRY', buffered, account({ availableBalance: cents(-501) }))).toEqual({
      verdict: 'refuse',
      reason: 'balance-too-low',
      shortBy: 2_000,
    });
  });

  it('of no account at all is short by everything', () => {
    expect(given('RETRY', buffered, facts({ account: null }))).toEqual({
      verdict: 'refuse',
      reason: 'no-account',
      shortBy: 1_499,
    });
  });
});

describe('the rail', () => {
  const noCard = account({ hasDebitCard: false });
  const viaAch: Decision = { ...CHARGE, rail: 'ACH', fallback: null };

  it('is ACH where there is no card', () => {
    expect(given('INITIAL', noCard)).toEqual(viaAch);
  });

  it('is ACH again for an entry that came back, and says so', () => {
    expect(given('RETRY', noCard, facts({ attempts: [returned('2026-11-02')] }))).toEqual({
      ...viaAch,
      representment: true,
    });
  });

  it('is the card for an entry that came back, with the entry to turn to', () => {
    expect(given('RETRY', facts({ attempts: [returned('2026-11-02')] }))).toEqual({
      ...CHARGE,
      representment: true,
    });
  });

  it.each<[string, Change]>([
    ['blocked', account({ achBlock: 'R02' })],
    ['used up', facts({ attempts: ['2026-10-19', '2026-10-26', '2026-11-02'].map((day) => returned(day)) })],
    ['closed for now', facts({ attempts: [returned('2026-11-13')] })],
  ])('is the card alone where ACH is %s', (_, change) => {
    expect(given('RETRY', change)).toEqual({ ...CHARGE, fallback: null });
  });

  it('is never called a second presentment where ACH is frozen', () => {
    const attempts = [returned('2026-11-02')];
    expect(given('RETRY', frozen('ACH'), facts({ attempts }))).toEqual({ ...CHARGE, fallback: null });
  });

  it('is none until the bank day on which the entry may go again, which begins at midnight in New York', () => {
    // Sent on Friday the 13th: banking days are the 16th, 17th and 18th.
    const attempts = facts({ attempts: [returned('2026-11-13')] });
    const opens = at('2026-11-18T05:00:00Z');
    expect(given('RETRY', noCard, attempts)).toEqual(skipped('ach-too-soon', opens));
    const then =
      (now: Instant): Change =>
      (situation) => ({ ...situation, now });
    expect(given('RETRY', noCard, attempts, then((opens - 1n) as Instant))).toEqual(
      skipped('ach-too-soon', opens),
    );
    expect(given('RETRY', noCard, attempts, then(opens)).verdict).toBe('charge');
  });

  it.each([
    ['ach-not-representable', [returned('2026-11-02', 'R10')]],
    ['ach-representments-used-up', ['2026-10-19', '2026-10-26', '2026-11-02'].map((day) => returned(day))],
    ['ach-window-over', [returned('2026-05-01')]],
  ])('is none where the gate says %s and there is no card', (reason, attempts) => {
    expect(given('RETRY', noCard, facts({ attempts }))).toEqual(skipped(reason));
  });

  it('is settled before the balance is looked at: a gate that is closed makes no attempt', () => {
    const poor = account({ hasDebitCard: false, availableBalance: cents(0) });
    expect(given('RETRY', poor, facts({ attempts: [returned('2026-11-13')] })).verdict).toBe('skipped');
  });
});

describe('in every situation', () => {
  const runs = { numRuns: 1_000 };
  const REASONS = {
    'no-op': ['status-not-collected', 'not-due', 'not-stale'],
    deferred: [
      'membership-event-unapplied',
      'membership-event-quarantined',
      'frozen-global',
      'frozen-user',
      'frozen-rail',
      'user-missing',
      'user-processing',
      'user-under-investigation',
      'user-status-unknown',
    ],
    close: ['pending-cancellation', 'account-closed', 'user-cancelled', 'user-banned', 'employee', 'too-old'],
    limit: ['older-period-first', 'initial-today', 'retried-today', 'webhooks-today', 'attempts-used-up'],
    gate: [
      'ach-account-blocked',
      'ach-entry-pending',
      'ach-not-representable',
      'ach-representments-used-up',
      'ach-window-over',
      'ach-too-soon',
    ],
    charge: ['amount-not-positive', 'no-debit-card'],
  };

  /** Throws where a verdict lacks what its reader needs, or says what cannot be. */
  function checkForm(decision: Decision, { path, record, facts, now }: Situation): void {
    switch (decision.verdict) {
      case 'no-op':
        expect(REASONS['no-op']).toContain(decision.reason);
        return;
      case 'deferred':
        expect(REASONS.deferred).toContain(decision.reason);
        return;
      case 'skipped':
        expect([...REASONS.limit, ...REASONS.gate, ...REASONS.close, ...REASONS.charge]).toContain(
          decision.reason,
        );
        expect(decision.reason === 'amount-not-positive' && record.billingAmount > 0).toBe(false);
        if (decision.until !== null) expect(decision.until > now).toBe(true);
        return;
      case 'blocked':
        expect(decision.attemptId).toBe(facts.openAttempt?.attemptId);
        expect(['open-attempt', 'ach-account-blocked', ...REASONS.deferred, ...REASONS.close]).toContain(
          decision.reason,
        );
        return;
      case 'resume':
        expect(decision.attemptId).toBe(facts.openAttempt?.attemptId);
        expect(decision.rail).toBe(facts.openAttempt?.rail);
        return;
      case 'cancel':
        expect(['pending-cancellation', 'account-closed', 'user-cancelled', 'user-banned']).toContain(
          decision.reason,
        );
        return;
      case 'waive':
        expect(decision.reason).toBe('employee');
        return;
      case 'go-stale':
        expect(decision.reason).toBe('too-old');
        return;
      case 'skip-pause':
        expect([path, record.billingStatus]).toEqual(['PAUSE', 'PAUSED']);
        if (decision.next.status === 'PAUSED') expect([-1, 1, 2]).toContain(decision.next.monthsLeft);
        return;
      case 'refuse':
        expect(['balance-too-low', 'no-account']).toContain(decision.reason);
        expect(decision.shortBy).toBeGreaterThan(0);
        return;
      case 'charge':
        expect(decision.amount).toBe(record.billingAmount);
        if (decision.rail === 'ACH') expect(decision.fallback).toBeNull();
        if (decision.representment) expect([decision.rail, decision.fallback]).toContain('ACH');
        return;
    }
  }

  /** What must be true of the world whenever money is to move, written down without looking at the order of the rules. */
  function checkCharge({ path, record, facts, policy, now }: Situation): void {
    const automatic = path !== 'MANUAL_REPAYMENT';
    const flagged = record.billingStatus === 'SCHEDULED' && record.updatedEvent === 'pause-pending-resume';
    expect(path).not.toBe('STALE');
    expect(['SCHEDULED', 'ERROR']).toContain(record.billingStatus);
    expect(['PENDING_CANCELLATION', 'account-closed']).not.toContain(record.updatedEvent);
    expect(facts.openAttempt).toBeNull();
    expect(record.billingAmount).toBeGreaterThan(0);
    expect(facts.membershipEvent).not.toBe('unapplied');
    if (automatic) expect(facts.membershipEvent).toBeNull();
    expect(facts.user).toEqual({ status: 'ACTIVE', isEmployee: false });
    expect(facts.account).not.toBeNull();
    const rail = facts.account!.hasDebitCard ? 'PINLESS' : 'ACH';
    const holding = facts.freezes.filter(({ until }) => until === null || until > now);
    expect(holding.filter(({ scope }) => ['global', 'user', rail].includes(scope))).toEqual([]);
    if (!automatic) {
      expect(rail).toBe('PINLESS');
      return;
    }
    if (path !== 'PAUSE') expect(record.billingDate <= now).toBe(true);
    if (!flagged) {
      expect(now - record.billingDate < BigInt(policy.oldSubscriptionDays) * NANOS_PER_DAY).toBe(true);
    }
    expect(facts.attempts.length).toBeLessThan(policy.retryMaxAttempts);
    expect(facts.account!.availableBalance).toBeGreaterThanOrEqual(
      record.billingAmount + policy.balanceBuffer,
    );
    if (rail === 'ACH') expect(facts.account!.achBlock).toBeNull();
  }

  it('there is an answer, well formed, and the same when asked again', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const decision = judge(situation);
        checkForm(decision, situation);
        expect(judge(situation)).toEqual(decision);
      }),
      runs,
    );
  });

  it('the generated ones reach every verdict, so that the properties here speak of all of them', () => {
    const decisions = fc.sample(situations, { numRuns: 1_500, seed: 1 }).map(judge);
    expect(decisions).toContainEqual(skipped('amount-not-positive'));
    expect([...new Set(decisions.map(({ verdict }) => verdict))].sort()).toEqual([
      'blocked',
      'cancel',
      'charge',
      'deferred',
      'go-stale',
      'no-op',
      'refuse',
      'resume',
      'skip-pause',
      'skipped',
      'waive',
    ]);
  });

  it('money moves only when nothing stands against it', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        if (judge(situation).verdict === 'charge') checkCharge(situation);
      }),
      runs,
    );
  });

  it('an open attempt is never answered with another one', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        fc.pre(situation.facts.openAttempt !== null);
        expect(['resume', 'blocked', 'no-op']).toContain(judge(situation).verdict);
      }),
    );
  });

  it('a payment by hand changes nothing but by charging', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const decision = judge({ ...situation, path: 'MANUAL_REPAYMENT' });
        expect(['no-op', 'deferred', 'skipped', 'blocked', 'resume', 'charge']).toContain(decision.verdict);
      }),
      runs,
    );
  });

  it('a paused record is neither charged nor is an attempt on it repeated', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const paused = record({ billingStatus: 'PAUSED' })(situation);
        expect(['charge', 'resume', 'refuse']).not.toContain(judge(paused).verdict);
      }),
      runs,
    );
  });

  it('the write-off run moves no money', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        expect(['charge', 'resume', 'refuse']).not.toContain(judge({ ...situation, path: 'STALE' }).verdict);
      }),
    );
  });

  it('what was put off until a time is not put off for the same reason at that time', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const decision = judge(situation);
        if (decision.verdict !== 'skipped' || decision.until === null) return;
        const then = judge({ ...situation, now: decision.until });
        expect(then).not.toMatchObject({ verdict: 'skipped', reason: decision.reason });
      }),
      runs,
    );
  });

  describe('what would be no charge does not become one', () => {
    /** Worse facts, the same question. */
    function neverOpens<T>(
      worse: fc.Arbitrary<T>,
      change: (situation: Situation, value: T) => Situation,
    ): void {
      fc.assert(
        fc.property(situations, worse, (situation, value) => {
          const before = judge(situation).verdict;
          const after = judge(change(situation, value)).verdict;
          expect(before !== 'charge' && after === 'charge').toBe(false);
        }),
        runs,
      );
    }

    it('by less balance', () => {
      neverOpens(fc.integer({ min: 1, max: 10_000 }), (situation, less) =>
        situation.facts.account === null
          ? situation
          : account({ availableBalance: cents(situation.facts.account.availableBalance - less) })(situation),
      );
    });

    it('by a larger amount or buffer', () => {
      // Nothing to pay is its own reason, which any amount takes away.
      neverOpens(fc.integer({ min: 1, max: 10_000 }), (situation, more) => ({
        ...(situation.record.billingAmount <= 0
          ? situation
          : record({ billingAmount: cents(situation.record.billingAmount + more) })(situation)),
        policy: { ...situation.policy, balanceBuffer: cents(situation.policy.balanceBuffer + more) },
      }));
    });

    it('by a freeze', () => {
      const anyFreeze = situations.chain((situation) =>
        fc.tuple(fc.constant(situation), freezes(situation.now)),
      );
      fc.assert(
        fc.property(anyFreeze, ([situation, freeze]) => {
          const after = judge(facts({ freezes: [...situation.facts.freezes, freeze] })(situation)).verdict;
          expect(judge(situation).verdict !== 'charge' && after === 'charge').toBe(false);
        }),
        runs,
      );
    });

    it('by one attempt more', () => {
      const anyAttempt = situations.chain((situation) =>
        fc.tuple(fc.constant(situation), pastAttempts(situation.now)),
      );
      fc.assert(
        fc.property(anyAttempt, ([situation, attempt]) => {
          const after = judge(facts({ attempts: [...situation.facts.attempts, attempt] })(situation)).verdict;
          expect(judge(situation).verdict !== 'charge' && after === 'charge').toBe(false);
        }),
        runs,
      );
    });

    it('by a block of the account', () => {
      neverOpens(fc.constantFrom('R02', 'R10'), (situation, achBlock) =>
        situation.facts.account === null ? situation : account({ achBlock })(situation),
      );
    });

    it('by a user who is no longer active', () => {
      const others = users.filter((user) => user?.status !== 'ACTIVE');
      neverOpens(others, (situation, user) => facts({ user })(situation));
    });

    it('by an event that waits, a wish to leave, or an open attempt', () => {
      // One that failed holds back less than one that waits: a member may still pay by hand.
      neverOpens(fc.constantFrom('unapplied' as const, 'quarantined' as const), (situation, worse) =>
        situation.facts.membershipEvent === 'unapplied'
          ? situation
          : facts({ membershipEvent: worse })(situation),
      );
      neverOpens(fc.constantFrom('PENDING_CANCELLATION', 'account-closed'), (situation, updatedEvent) =>
        record({ updatedEvent })(situation),
      );
      neverOpens(fc.constant(OPEN), (situation, openAttempt) => facts({ openAttempt })(situation));
    });
  });
});
