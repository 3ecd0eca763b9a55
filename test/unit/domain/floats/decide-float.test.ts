import { describe, expect, it } from 'vitest';
import type { AttemptId, OpenAttempt, PastAttempt } from '../../../../src/domain/attempt.ts';
import type { AccountFacts, Charge, Freeze } from '../../../../src/domain/decision.ts';
import { decideFloat } from '../../../../src/domain/floats/decide-float.ts';
import type { FloatDecision, FloatFacts } from '../../../../src/domain/floats/float-decision.ts';
import type { Float, FloatStatus, LogEntry, Stage } from '../../../../src/domain/floats/float.ts';
import { STAGES } from '../../../../src/domain/floats/float.ts';
import type { FloatPolicy } from '../../../../src/domain/floats/policy.ts';
import { DEFAULT_FLOAT_POLICY } from '../../../../src/domain/floats/policy.ts';
import type { Instant } from '../../../../src/domain/instant.ts';
import { plusMs } from '../../../../src/domain/instant.ts';
import { cents } from '../../../../src/domain/money.ts';
import { aFloat, day, logEntry } from '../../../support/floats.ts';
import { at } from '../../../support/records.ts';
import type { FloatSituation } from './situations.ts';

const NOW = at('2026-11-16T09:30:00Z');
const MIDNIGHT = at('2026-11-17T00:00:00Z');
const OPEN: OpenAttempt = {
  attemptId: 'attempt-1' as AttemptId,
  triggerId: 'run-0',
  rail: 'PINLESS',
  openedAt: at('2026-11-16T08:30:00Z'),
};
const ACCOUNT: AccountFacts = {
  accountId: 'acc-1',
  availableBalance: cents(10_000),
  hasDebitCard: true,
  achBlock: null,
};
const AUTOMATIC = ['TOMORROW', 'TODAY6AM', 'RETRY', 'WEBHOOK'] as const;
const OVERDUE = ['RETRY', 'WEBHOOK'] as const;

const STATUS_OF: Record<Stage, FloatStatus> = {
  TOMORROW: 'SCHEDULING',
  TODAY6AM: 'SCHEDULING',
  RETRY: 'RETRY',
  WEBHOOK: 'RETRY',
  SUPPORT: 'RETRY',
};

/** An advance of 60 dollars, a member in good standing with a card and 100 dollars: nothing stands in the way. */
function clear(stage: Stage): FloatSituation {
  return {
    stage,
    float: aFloat({
      status: STATUS_OF[stage],
      dueDate: day(stage === 'TOMORROW' ? '2026-11-17' : '2026-11-16'),
    }),
    facts: {
      triggerId: 'run-1',
      openAttempt: null,
      log: [],
      attempts: [],
      freezes: [],
      user: { status: 'ACTIVE' },
      // On the day before only those are charged who have no card.
      account: { ...ACCOUNT, hasDebitCard: stage !== 'TOMORROW' },
      route: { useAch: true, version: 'rule-1', probability: 0.95, features: {}, override: false },
    },
    policy: DEFAULT_FLOAT_POLICY,
    now: NOW,
  };
}

type Change = (situation: FloatSituation) => FloatSituation;
const float =
  (fields: Partial<Float>): Change =>
  (situation) => ({ ...situation, float: { ...situation.float, ...fields } });
const facts =
  (fields: Partial<FloatFacts>): Change =>
  (situation) => ({ ...situation, facts: { ...situation.facts, ...fields } });
const policy =
  (fields: Partial<FloatPolicy>): Change =>
  (situation) => ({ ...situation, policy: { ...situation.policy, ...fields } });
const account =
  (fields: Partial<AccountFacts>): Change =>
  (situation) =>
    facts({ account: { ...(situation.facts.account ?? ACCOUNT), ...fields } })(situation);
const then =
  (now: Instant): Change =>
  (situation) => ({ ...situation, now });
const userStatus = (status: string): Change => facts({ user: { status } });
const frozen = (scope: Freeze['scope'], until: Instant | null = null): Change =>
  facts({ freezes: [{ scope, until }] });
const log = (...rows: LogEntry[]): Change => facts({ log: rows });
const alsoLogged =
  (...rows: LogEntry[]): Change =>
  (situation) =>
    log(...situation.facts.log, ...rows)(situation);
const noCard = account({ hasDebitCard: false });
const noAccount = facts({ account: null });
const achBlocked = account({ achBlock: 'R02' });
const routeAgainst: Change = (situation) =>
  facts({ route: { ...situation.facts.route, useAch: false } })(situation);
const gateOn = policy({ twoFailuresGate: true });

/** Rows that are older than anything of today, one after the other. */
const row = (daysAgo: number, fields: Partial<LogEntry> = {}): LogEntry =>
  logEntry({ runTime: (NOW - BigInt(daysAgo) * 86_400_000_000_000n) as Instant, ...fields });
const failedAch = (daysAgo: number): LogEntry => row(daysAgo, { method: 'ACH' });
const webhookToday = (fields: Partial<LogEntry> = {}): LogEntry => row(0, { process: 'WEBHOOK', ...fields });
const supportsWord = (daysAgo: number): LogEntry =>
  row(daysAgo, { process: 'SUPPORT', method: null, attemptId: null });
const returned = (date: string, returnCode = 'R01'): PastAttempt => ({
  process: 'RETRY',
  at: at(`${date}T15:00:00Z`),
  rail: 'ACH',
  result: 'RETURNED',
  returnCode,
  accountId: 'acc-1',
});

const given = (stage: Stage, ...changes: Change[]): FloatDecision => {
  const situation = changes.reduce((before, change) => change(before), clear(stage));
  return decideFloat(stage, situation.float, situation.facts, situation.policy, situation.now);
};

const CARD: Charge = {
  verdict: 'charge',
  amount: cents(6_000),
  rail: 'PINLESS',
  fallback: 'ACH',
  representment: false,
};
const CARD_ONLY: Charge = { ...CARD, fallback: null };
const VIA_ACH: Charge = { ...CARD_ONLY, rail: 'ACH' };
const CLEAR: Record<Stage, Charge> = {
  TOMORROW: VIA_ACH,
  TODAY6AM: CARD,
  RETRY: CARD,
  WEBHOOK: CARD,
  SUPPORT: CARD_ONLY,
};
const noOp = (reason: string) => ({ verdict: 'no-op', reason });
const deferred = (reason: string) => ({ verdict: 'deferred', reason });
const skipped = (reason: string, until: Instant | null = null) => ({ verdict: 'skipped', reason, until });
const blocked = (reason: string) => ({ verdict: 'blocked', attemptId: 'attempt-1', reason });
const defaulted = (reason: string) => ({ verdict: 'default', reason });
const gaveUp = (reason: string) => ({ verdict: 'give-up-today', reason });

it.each(STAGES)('where nothing stands in the way, %s charges', (stage) => {
  expect(given(stage)).toEqual(CLEAR[stage]);
});

describe('the order of the rules', () => {
  /** In their order: what makes each apply, and what is then said of a float that is retried. */
  const RULES: readonly { name: string; change: Change; says: object }[] = [
    { name: 'a status', change: float({ status: 'COMPLETED' }), says: noOp('status-not-collected') },
    { name: 'a date', change: then(at('2026-11-15T09:30:00Z')), says: noOp('not-due') },
    { name: 'a freeze', change: frozen('global'), says: deferred('frozen-global') },
    {
      name: 'a payment that was made',
      change: alsoLogged(row(1, { outcome: 'COMPLETED' })),
      says: skipped('paid-already'),
    },
    {
      name: 'failed ACH',
      change: alsoLogged(failedAch(9), failedAch(8), failedAch(7), webhookToday(), webhookToday()),
      says: defaulted('ach-attempts-used-up'),
    },
    { name: 'age', change: float({ dueDate: day('2026-08-01') }), says: defaulted('too-long-past-due') },
    { name: 'a missing user', change: facts({ user: null }), says: deferred('user-missing') },
    { name: 'two failures', change: gateOn, says: skipped('two-failures') },
    { name: 'no account', change: noAccount, says: { verdict: 'uncollectable', reason: 'no-account' } },
    {
      name: 'a low balance',
      change: account({ availableBalance: cents(0) }),
      says: skipped('balance-too-low'),
    },
    { name: 'a closed gate', change: achBlocked, says: skipped('ach-account-blocked') },
    { name: 'the route', change: routeAgainst, says: skipped('route-against-ach') },
  ];
  /** Two failures are there from the start; whether they matter is a switch. */
  const base = [noCard, log(row(5), row(4))];
  // The gate of the log and that of three failed ACH debits both write the log; and no account has no balance.
  const clash = new Set(['no account|a low balance', 'no account|a closed gate', 'a date|age']);
  const pairs = RULES.flatMap((earlier, i) => RULES.slice(i + 1).map((later) => ({ earlier, later }))).filter(
    ({ earlier, later }) => !clash.has(`${earlier.name}|${later.name}`),
  );

  it.each(RULES)('$name is answered', ({ change, says }) => {
    expect(given('RETRY', ...base, change)).toEqual(says);
  });

  it.each(pairs)('$earlier.name comes before $later.name', ({ earlier, later }) => {
    expect(given('RETRY', ...base, later.change, earlier.change)).toEqual(earlier.says);
    expect(given('RETRY', ...base, earlier.change, later.change)).toEqual(earlier.says);
  });
});

describe('an open attempt', () => {
  const open = facts({ openAttempt: OPEN });

  it.each(AUTOMATIC)('is resumed by %s, over its own rail, whoever opened it', (stage) => {
    const openAch = facts({ openAttempt: { ...OPEN, rail: 'ACH' } });
    expect(given(stage, openAch)).toEqual({ verdict: 'resume', attemptId: 'attempt-1', rail: 'ACH' });
  });

  it('is resumed by a payback only if it is its own', () => {
    expect(given('SUPPORT', open)).toEqual(blocked('open-attempt'));
    expect(given('SUPPORT', open, facts({ triggerId: 'run-0' })).verdict).toBe('resume');
  });

  it.each<[string, Change]>([
    ['the balance', account({ availableBalance: cents(0) })],
    ['the account', noAccount],
    ['failed ACH', log(failedAch(3), failedAch(2), failedAch(1))],
    ['age', float({ dueDate: day('2026-01-01') })],
    ['the signals of the day', log(webhookToday(), webhookToday())],
    ['two failures', (situation) => gateOn(log(row(2), row(1))(situation))],
    ['the route', routeAgainst],
  ])('is resumed without asking about %s again', (_, change) => {
    expect(given('WEBHOOK', open, change).verdict).toBe('resume');
  });

  it.each<[Change, string]>([
    [frozen('global'), 'frozen-global'],
    [frozen('user'), 'frozen-user'],
    [frozen('PINLESS'), 'frozen-rail'],
    [facts({ user: null }), 'user-missing'],
    [userStatus('BANNED'), 'user-banned'],
  ])('waits in the face of what forbids a charge (%#)', (change, reason) => {
    for (const stage of STAGES)
      expect(given(stage, open, facts({ triggerId: 'run-0' }), change)).toEqual(blocked(reason));
  });

  it('waits for the freeze of its own rail, not of the one that would be used now', () => {
    expect(given('RETRY', open, noCard, frozen('ACH')).verdict).toBe('resume');
    expect(given('RETRY', open, noCard, frozen('PINLESS'))).toEqual(blocked('frozen-rail'));
  });

  it.each(AUTOMATIC)('is resumed by %s for two days, and then by nobody', (stage) => {
    const openedAt = plusMs(NOW, -48 * 3_600_000);
    expect(given(stage, facts({ openAttempt: { ...OPEN, openedAt } }))).toEqual(blocked('open-attempt'));
    const younger = facts({ openAttempt: { ...OPEN, openedAt: plusMs(openedAt, 1) } });
    expect(given(stage, younger).verdict).toBe('resume');
  });

  it('does not go to an account that its bank has closed to us meanwhile; to the card it does', () => {
    const block = account({ achBlock: 'R10' });
    const openAch = facts({ openAttempt: { ...OPEN, rail: 'ACH' } });
    expect(given('RETRY', openAch, block)).toEqual(blocked('ach-account-blocked'));
    expect(given('RETRY', open, block).verdict).toBe('resume');
  });

  it('that gives money back is not resumed', () => {
    const refund = facts({ openAttempt: { ...OPEN, refundOf: 'USIO-1' } });
    expect(given('RETRY', refund)).toEqual(blocked('open-attempt'));
  });

  it('is not looked at where the float is not due or not collected', () => {
    expect(given('TODAY6AM', open, float({ dueDate: day('2026-11-17') }))).toEqual(noOp('not-due'));
    expect(given('RETRY', open, float({ status: 'SCHEDULING' }))).toEqual(noOp('status-not-collected'));
  });
});

describe('freezes', () => {
  it.each(STAGES)('of everything or of the member defer %s', (stage) => {
    expect(given(stage, frozen('global'))).toEqual(deferred('frozen-global'));
    expect(given(stage, frozen('user'))).toEqual(deferred('frozen-user'));
  });

  it('hold until the instant at which they end, and no longer', () => {
    expect(given('RETRY', frozen('global', (NOW + 1n) as Instant))).toEqual(deferred('frozen-global'));
    expect(given('RETRY', frozen('global', NOW))).toEqual(CARD);
  });

  it.each(['TODAY6AM', 'RETRY', 'WEBHOOK'] as const)(
    'of a rail defer whoever %s would charge over it first; nobody is moved to the other',
    (stage) => {
      expect(given(stage, frozen('PINLESS'))).toEqual(deferred('frozen-rail'));
      expect(given(stage, frozen('ACH'), noCard)).toEqual(deferred('frozen-rail'));
      expect(given(stage, frozen('PINLESS'), noCard)).toEqual(VIA_ACH);
      expect(given(stage, frozen('ACH'))).toEqual(CARD_ONLY);
    },
  );

  it('of a rail do not matter where nobody would be charged over it', () => {
    expect(given('TOMORROW', frozen('PINLESS'), account({ hasDebitCard: true }))).toEqual(
      noOp('has-debit-card'),
    );
    expect(given('TOMORROW', frozen('ACH'), account({ hasDebitCard: true }))).toEqual(noOp('has-debit-card'));
    expect(given('TOMORROW', frozen('ACH'))).toEqual(deferred('frozen-rail'));
    expect(given('SUPPORT', frozen('ACH'))).toEqual(CARD_ONLY);
    expect(given('SUPPORT', frozen('ACH'), noCard)).toEqual(skipped('no-debit-card'));
    expect(given('SUPPORT', frozen('PINLESS'))).toEqual(deferred('frozen-rail'));
    expect(given('RETRY', frozen('ACH'), noAccount).verdict).toBe('uncollectable');
  });
});

describe.each(STAGES)('the member, when %s comes,', (stage) => {
  it.each<[string, Change, string | null]>([
    ['is missing', facts({ user: null }), 'user-missing'],
    ['is PROCESSING', userStatus('PROCESSING'), 'user-processing'],
    ['is under investigation', userStatus('INVESTIGATE'), 'user-under-investigation'],
    ['is BANNED', userStatus('BANNED'), 'user-banned'],
    ['has a status that nobody knows', userStatus('active'), 'user-status-unknown'],
    ['has no status at all', userStatus(''), 'user-status-unknown'],
    ['has cancelled the membership, and owes the advance all the same', userStatus('PAUSED'), null],
  ])('%s', (_, change, reason) => {
    expect(given(stage, change)).toEqual(reason === null ? CLEAR[stage] : deferred(reason));
  });
});

describe('a float is given up for good', () => {
  const cases = OVERDUE.flatMap((stage) =>
    (['RETRY', 'UNCOLLECTABLE'] as const).map((status) => ({ stage, status })),
  );
  const three = [failedAch(9), failedAch(6), failedAch(3)];

  it.each(cases)('by $stage on $status after the third failed ACH debit', ({ stage, status }) => {
    const given3 = given(stage, float({ status }), log(...three));
    expect(given3).toEqual(defaulted('ach-attempts-used-up'));
    expect(given(stage, float({ status }), log(...three.slice(1)))).toEqual(CARD);
    expect(given(stage, float({ status }), log(...three.slice(1), row(1), row(2)))).toEqual(CARD);
  });

  it.each(cases)('by $stage on $status on day 91, not on day 90', ({ stage, status }) => {
    const due = (date: string) => given(stage, float({ status, dueDate: day(date) }));
    expect(due('2026-08-18')).toEqual(CARD); // 90 days before 16 November
    expect(due('2026-08-17')).toEqual(defaulted('too-long-past-due'));
  });

  it.each(cases)('by $stage on $status also where there is no account', ({ stage, status }) => {
    expect(given(stage, float({ status }), log(...three), noAccount)).toEqual(
      defaulted('ach-attempts-used-up'),
    );
  });

  it.each(['BANNED', 'INVESTIGATE'])('also where the member is %s: no money moves by it', (status) => {
    const user = userStatus(status);
    const old = float({ dueDate: day('2026-08-17') });
    for (const stage of OVERDUE) {
      expect(given(stage, user, log(...three))).toEqual(defaulted('ach-attempts-used-up'));
      expect(given(stage, user, old)).toEqual(defaulted('too-long-past-due'));
      expect(given(stage, user, old, frozen('global'))).toEqual(deferred('frozen-global'));
    }
    expect(given('SUPPORT', user, old)).toMatchObject({ verdict: 'deferred' });
  });

  it('on day 91 also where it was never tried, not on day 90', () => {
    expect(given('TODAY6AM', float({ dueDate: day('2026-08-18') }))).toEqual(CARD);
    expect(given('TODAY6AM', float({ dueDate: day('2026-08-17') }))).toEqual(defaulted('too-long-past-due'));
  });

  it('not before it was tried on its due date, but no ACH debit goes past the third', () => {
    expect(given('TODAY6AM', log(...three))).toEqual(CARD_ONLY);
    expect(given('TODAY6AM', log(...three), noCard)).toEqual(gaveUp('ach-attempts-used-up'));
    expect(given('TOMORROW', log(...three))).toEqual(skipped('ach-attempts-used-up'));
    expect(given('TOMORROW', log(...three.slice(1)))).toEqual(VIA_ACH);
  });

  it('never by a payback', () => {
    expect(given('SUPPORT', log(...three), float({ dueDate: day('2026-01-01') }))).toEqual(CARD_ONLY);
  });
});

describe('a payment that was made, or is under way, beside the one that the float stands by,', () => {
  const told = (id: string, daysAgo: number, outcome: LogEntry['outcome']) =>
    row(daysAgo, { attemptId: id as AttemptId, method: 'ACH', outcome });

  it.each(STAGES)('keeps %s from charging a second time', (stage) => {
    for (const outcome of ['COMPLETED', 'ACHSENT'] as const) {
      const other = [told('b', 3, 'ACHSENT'), told('b', 1, 'RETURNED')];
      expect(given(stage, log(told('a', 2, outcome), ...other))).toEqual(skipped('paid-already'));
      const tooLate = float({ dueDate: day(stage === 'TOMORROW' ? '2026-11-17' : '2026-01-01') });
      expect(given(stage, log(told('a', 2, outcome)), tooLate)).toEqual(skipped('paid-already'));
    }
  });

  it.each(STAGES)('and has come back keeps %s from nothing', (stage) => {
    expect(given(stage, log(told('a', 2, 'COMPLETED'), told('a', 1, 'RETURNED')))).toEqual(CLEAR[stage]);
  });

  it.each(STAGES)(
    'after which support said that it is owed keeps %s from nothing, nor does a decline since',
    (stage) => {
      const owed = [told('a', 4, 'COMPLETED'), supportsWord(3)];
      expect(given(stage, log(...owed))).toEqual(CLEAR[stage]);
      expect(given(stage, log(...owed, row(1)))).toEqual(CLEAR[stage]);
      expect(given(stage, log(told('a', 2, 'COMPLETED'), supportsWord(3)))).toEqual(skipped('paid-already'));
    },
  );
});

describe('two failures in a row', () => {
  const two = [row(3), failedAch(2)];

  it.each(AUTOMATIC)('stop %s where the gate is on', (stage) => {
    expect(given(stage, log(...two))).toEqual(CLEAR[stage]);
    expect(given(stage, gateOn, log(...two))).toEqual(skipped('two-failures'));
  });

  it('do not stop a payback: the member authorises it', () => {
    expect(given('SUPPORT', gateOn, log(...two))).toEqual(CARD_ONLY);
  });

  it('stop nobody any more once support has set the status', () => {
    expect(given('RETRY', gateOn, log(...two, supportsWord(1)))).toEqual(CARD_ONLY);
    expect(given('RETRY', gateOn, log(...two, supportsWord(4)))).toEqual(skipped('two-failures'));
  });

  it('are not one failure, nor two with a success between', () => {
    expect(given('TOMORROW', gateOn, log(row(2)))).toEqual(VIA_ACH);
    const paid = row(2, { outcome: 'COMPLETED', attemptId: null });
    expect(given('TOMORROW', gateOn, log(row(3), paid, row(1)))).toEqual(VIA_ACH);
  });

  it('would be made by a card that is declined after a failure: then there is nothing to turn to', () => {
    expect(given('RETRY', gateOn)).toEqual(CARD);
    expect(given('RETRY', gateOn, log(row(2)))).toEqual(CARD_ONLY);
    expect(given('RETRY', log(row(2)))).toEqual(CARD);
  });
});

describe('a retry', () => {
  const retried = (daysAgo: number) => row(daysAgo, { process: 'RETRY' });

  it('is made once a day, and again after midnight UTC', () => {
    expect(given('RETRY', log(retried(0)))).toEqual(skipped('retried-today', MIDNIGHT));
    expect(given('RETRY', log(retried(0)), then(MIDNIGHT)).verdict).toBe('charge');
    expect(given('RETRY', log(retried(1))).verdict).toBe('charge');
  });

  it('does not wait because of what another stage did on that day', () => {
    expect(given('RETRY', log(row(0, { process: 'TODAY6AM' }))).verdict).toBe('charge');
    expect(given('WEBHOOK', log(retried(0))).verdict).toBe('charge');
  });
});

describe('signals', () => {
  it('are followed twice a day, and again after midnight UTC', () => {
    expect(given('WEBHOOK', log(webhookToday(), webhookToday()))).toEqual(
      skipped('webhooks-of-the-day-used', MIDNIGHT),
    );
    expect(given('WEBHOOK', log(webhookToday(), webhookToday()), then(MIDNIGHT))).toEqual(CARD);
    expect(given('WEBHOOK', log(webhookToday(), row(0), row(1, { process: 'WEBHOOK' }))).verdict).toBe(
      'charge',
    );
  });

  it('leave room for an ACH entry after a declined card, or the card goes alone', () => {
    expect(given('WEBHOOK')).toEqual(CARD);
    expect(given('WEBHOOK', log(webhookToday()))).toEqual(CARD_ONLY);
    expect(given('WEBHOOK', log(webhookToday()), noCard)).toEqual(VIA_ACH);
  });

  it.each(['TODAY6AM', 'RETRY'] as const)('of the day do not stop %s', (stage) => {
    expect(given(stage, log(webhookToday(), webhookToday()))).toEqual(CARD);
  });
});

describe('without an account', () => {
  it.each<[Stage, FloatStatus, object]>([
    ['TOMORROW', 'SCHEDULING', skipped('no-account')],
    ['TODAY6AM', 'SCHEDULING', gaveUp('no-account')],
    ['RETRY', 'RETRY', { verdict: 'uncollectable', reason: 'no-account' }],
    ['RETRY', 'UNCOLLECTABLE', skipped('no-account')],
    ['WEBHOOK', 'RETRY', { verdict: 'uncollectable', reason: 'no-account' }],
    ['WEBHOOK', 'UNCOLLECTABLE', skipped('no-account')],
    ['SUPPORT', 'SCHEDULING', skipped('no-debit-card')],
    ['SUPPORT', 'RETRY', skipped('no-debit-card')],
    ['SUPPORT', 'UNCOLLECTABLE', skipped('no-debit-card')],
  ])('%s on %s', (stage, status, says) => {
    expect(given(stage, float({ status }), noAccount)).toEqual(says);
  });
});

describe('the balance', () => {
  const balance = (value: number) => account({ availableBalance: cents(value) });

  it('must cover the amount and ten dollars for a retry, to the cent', () => {
    expect(given('RETRY', balance(7_000))).toEqual(CARD);
    expect(given('RETRY', balance(6_999))).toEqual(skipped('balance-too-low'));
    expect(given('RETRY', balance(1_100), float({ amount: cents(100) })).verdict).toBe('charge');
  });

  it('must be fifty dollars as well for a signal, to the cent', () => {
    const small = float({ amount: cents(100) });
    expect(given('WEBHOOK', small, balance(5_000)).verdict).toBe('charge');
    expect(given('WEBHOOK', small, balance(4_999))).toEqual(skipped('balance-too-low'));
    expect(given('WEBHOOK', balance(7_000))).toEqual(CARD);
    expect(given('WEBHOOK', balance(6_999))).toEqual(skipped('balance-too-low'));
  });

  it.each(['TOMORROW', 'TODAY6AM', 'SUPPORT'] as const)('is not asked by %s', (stage) => {
    expect(given(stage, balance(-5_000))).toEqual(CLEAR[stage]);
  });
});

describe('the rail', () => {
  it('is ACH the day before, and the card is left for the due date', () => {
    expect(given('TOMORROW', account({ hasDebitCard: true }))).toEqual(noOp('has-debit-card'));
  });

  it.each(['TODAY6AM', 'RETRY', 'WEBHOOK'] as const)('for %s is ACH where there is no card', (stage) => {
    expect(given(stage, noCard)).toEqual(VIA_ACH);
  });

  it('is the card alone for a payback, also where ACH would be open', () => {
    expect(given('SUPPORT')).toEqual(CARD_ONLY);
    expect(given('SUPPORT', noCard)).toEqual(skipped('no-debit-card'));
    expect(given('SUPPORT', facts({ attempts: [returned('2026-11-02')] }))).toEqual(CARD_ONLY);
  });

  const closed: [string, Change, Instant | null][] = [
    ['ach-account-blocked', achBlocked, null],
    // Sent on Friday the 13th: banking days are the 16th, 17th and 18th.
    ['ach-too-soon', facts({ attempts: [returned('2026-11-13')] }), at('2026-11-18T05:00:00Z')],
    ['ach-not-representable', facts({ attempts: [returned('2026-11-02', 'R10')] }), null],
    ['route-against-ach', routeAgainst, null],
  ];
  it.each(closed)('is not ACH where it is closed by %s', (reason, change, until) => {
    expect(given('TOMORROW', change)).toEqual(skipped(reason, until));
    expect(given('TODAY6AM', change, noCard)).toEqual(gaveUp(reason));
    expect(given('RETRY', change, noCard)).toEqual(skipped(reason, until));
    expect(given('WEBHOOK', change, noCard)).toEqual(skipped(reason, until));
    for (const stage of ['TODAY6AM', 'RETRY', 'WEBHOOK'] as const)
      expect(given(stage, change), stage).toEqual(CARD_ONLY);
  });

  it('names the gate before the route', () => {
    expect(given('RETRY', noCard, achBlocked, routeAgainst)).toEqual(skipped('ach-account-blocked'));
  });

  it('says of an ACH entry that goes again that it does', () => {
    const again = facts({ attempts: [returned('2026-11-02')] });
    expect(given('RETRY', noCard, again)).toEqual({ ...VIA_ACH, representment: true });
    expect(given('RETRY', again)).toEqual({ ...CARD, representment: true });
    expect(given('RETRY', again, frozen('ACH'))).toEqual(CARD_ONLY);
  });
});

it.each(STAGES)('nothing to pay is nothing to charge for %s', (stage) => {
  expect(given(stage, float({ amount: cents(0) }))).toEqual(skipped('amount-not-positive'));
});

it('before a long weekend everything goes that is due until the banks open again', () => {
  const friday = then(at('2026-09-04T09:30:00Z'));
  const due = (date: string) => given('TOMORROW', friday, float({ dueDate: day(date) }));
  expect(due('2026-09-08')).toEqual(VIA_ACH);
  expect(due('2026-09-09')).toEqual(noOp('not-due'));
});

it('the numbers are those of the house', () => {
  expect(DEFAULT_FLOAT_POLICY).toEqual({
    maxFailedAch: 3,
    webhookPerDay: 2,
    maxDaysPastDue: 90,
    retryBuffer: 1_000,
    webhookMinBalance: 5_000,
    twoFailuresGate: false,
    achRepresentMax: 2,
    achRepresentWindowDays: 180,
    achRepresentMinBankingDays: 3,
  });
});
