import { beforeEach, describe, expect, it } from 'vitest';
import type { Neighbours } from '../../../sim/oracle/intent-checks.ts';
import type { Change, Item } from '../../../sim/oracle/items.ts';
import { checkLiveness } from '../../../sim/oracle/liveness.ts';
import type { Money } from '../../../sim/oracle/money-checks.ts';
import { Oracle } from '../../../sim/oracle/oracle.ts';

/*
 * The oracle is what everything else leans on: each of its rules is shown something that breaks it, beside the same that
 * does not.
 */

const TABLES = { billing: 'billing', history: 'history', locks: 'locks', pipeline: 'pipeline' };
const NOW_MS = Date.parse('2026-11-16T08:00:00Z');

let oracle: Oracle;
let nowMs: number;
let neighbours: { -readonly [name in keyof Neighbours]: Neighbours[name] };
let attempts: Map<string, Item>;

beforeEach(() => {
  nowMs = NOW_MS;
  neighbours = {
    status: 'ACTIVE',
    statusSinceMs: 0,
    isEmployee: false,
    hasAccount: true,
    balanceCents: 10_000,
    balanceSinceMs: 0,
  };
  attempts = new Map();
  oracle = new Oracle({
    nowMs: () => nowMs,
    neighboursOf: () => neighbours,
    attemptOf: (recordId, attemptId) => attempts.get(`${recordId} ${attemptId}`) ?? null,
    rowsOf: () => [],
    tables: TABLES,
  });
  lockBy('worker');
});

const item = (attributes: Record<string, string>): Item =>
  Object.fromEntries(Object.entries(attributes).map(([name, S]) => [name, { S }]));

const rowOf = (attributes: Record<string, string> = {}): Item =>
  item({
    user_id: 'u1',
    billing_date: '2026-11-16T06:00:00Z',
    subscription_id: 's1',
    billing_status: 'SCHEDULED',
    billing_amount: '4.99',
    term: 'MONTHLY',
    receipt_tier_name: '',
    last_run_date: '2026-11-15T08:00:00.000000001Z',
    updated_event: '',
    ...attributes,
  });

const lockBy = (process: string, released = false): void =>
  oracle.stored(
    [
      {
        table: TABLES.locks,
        before: null,
        after: item({
          PartitionKey: 'subscription-billing:user_id:u1',
          ownerName: process,
          ...(released ? { isReleased: '1' } : {}),
        }),
      },
    ],
    process,
  );

const historyOf = (row: Item, cause: string): Item => ({ ...row, data_cause: { S: cause } });

/** A row changes, with the history row that belongs to it. */
function changes(from: Record<string, string>, to: Record<string, string>, cause: string): Change[] {
  const after = rowOf({ last_run_date: '2026-11-16T08:00:00.000000001Z', ...to });
  return [
    { table: TABLES.billing, before: rowOf(from), after },
    { table: TABLES.history, before: null, after: historyOf(after, cause) },
  ];
}

const attempt = (more: Record<string, string> = {}): Item =>
  item({
    pk: 'SUB#s1',
    sk: `ATTEMPT#${more['attemptId'] ?? 'a1'}`,
    attemptId: 'a1',
    subscriptionId: 's1',
    userId: 'u1',
    process: 'INITIAL',
    rail: 'PINLESS',
    amount: '4.99',
    ...more,
  });

const resolved = (one: Item, resolution: Record<string, string>): Item => ({
  ...one,
  resolution: { M: item(resolution) },
});

/** An intent, as the pipeline writes one. */
function intent(more: Record<string, string> = {}, row: Record<string, string> = {}): Change[] {
  return [
    ...changes(row, row, 'attempt-opened'),
    { table: TABLES.pipeline, before: null, after: attempt(more) },
  ];
}

const rules = (): string[] => oracle.violations.map(({ rule }) => rule);

describe('a change of a row', () => {
  it('is right with its history', () => {
    oracle.stored(changes({}, { billing_status: 'ERROR' }, 'attempt-declined'), 'worker');
    expect(oracle.violations).toEqual([]);
    expect([...oracle.touched]).toEqual(['u1']);
  });

  const [row, history] = changes({}, { billing_status: 'ERROR' }, 'attempt-declined') as [Change, Change];
  it.each<[string, Change[], string]>([
    ['has no history', [row], '3'],
    ['has history of nothing', [history], '3'],
    [
      'has history that says something else',
      [row, { ...history, after: { ...history.after, billing_amount: { S: '5.00' } } }],
      '3',
    ],
    [
      'is none that is allowed',
      changes({ billing_status: 'WAIVED' }, { billing_status: 'SCHEDULED' }, 'attempt-opened'),
      '4',
    ],
    ['is allowed for another reason only', changes({}, { billing_status: 'ERROR' }, 'ach-returned'), '4'],
    ['takes the row away', [{ ...row, after: null }], '3'],
    ['changes the past', [row, { ...history, before: history.after }], '3'],
  ])('is found when it %s', (_, wrong, rule) => {
    oracle.stored(wrong, 'worker');
    expect(rules()).toContain(rule);
  });

  it('is found when its stamp was there before', () => {
    oracle.stored(changes({}, { billing_status: 'ERROR' }, 'attempt-declined'), 'worker');
    oracle.stored(
      changes({ billing_status: 'ERROR' }, { billing_status: 'ERROR' }, 'attempt-opened'),
      'worker',
    );
    expect(rules()).toContain('3');
  });

  it('may move a record to another date, and only that record', () => {
    const after = rowOf({
      billing_date: '2026-11-20T06:00:00Z',
      last_run_date: '2026-11-16T08:00:00.000000001Z',
    });
    const moved: Change[] = [
      { table: TABLES.billing, before: rowOf(), after: null },
      { table: TABLES.billing, before: null, after },
      { table: TABLES.history, before: null, after: historyOf(after, 'support-changed') },
    ];
    oracle.stored(moved, 'worker');
    expect(oracle.violations).toEqual([]);
  });

  it('is found when somebody else holds the lock, or nobody', () => {
    lockBy('another');
    oracle.stored(changes({}, { billing_status: 'ERROR' }, 'attempt-declined'), 'worker');
    expect(rules()).toEqual(['fence']);
    lockBy('another', true);
    const later = { billing_status: 'ERROR', last_run_date: '2026-11-16T09:00:00.000000001Z' };
    oracle.stored(changes({ billing_status: 'ERROR' }, later, 'attempt-declined'), 'another');
    expect(rules()).toEqual(['fence', 'fence']);
  });

  it('of a closed account needs no lock, and no period follows it', () => {
    lockBy('worker', true);
    oracle.promises.closing('users#e1', { userId: 'u1', atMs: NOW_MS });
    const done = item({ pk: 'EVENT#users#e1', sk: 'DONE', as: 'applied' });
    const dealtWith = { table: TABLES.pipeline, before: null, after: done };
    oracle.stored([...changes({}, { billing_status: 'CANCELLED' }, 'account-closed'), dealtWith], 'another');
    expect(oracle.violations).toEqual([]);
    const born = rowOf({
      subscription_id: 's2',
      billing_date: '2026-12-16T06:00:00Z',
      last_run_date: '2026-11-16T09:00:00.000000001Z',
    });
    lockBy('worker');
    oracle.stored(
      [
        { table: TABLES.billing, before: null, after: born },
        { table: TABLES.history, before: null, after: historyOf(born, 'attempt-opened') },
      ],
      'worker',
    );
    expect(rules()).toEqual(['7']);
  });
});

describe('an intent', () => {
  it('is right where nothing stands against it', () => {
    oracle.stored(intent(), 'worker');
    expect(oracle.violations).toEqual([]);
    expect([...oracle.intents.openAttempts]).toEqual([['s1', 'a1']]);
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['the record is over', {}, { billing_status: 'COMPLETED' }],
    ['the record is to be cancelled', {}, { updated_event: 'PENDING_CANCELLATION' }],
    ['the record was closed with its account', {}, { updated_event: 'account-closed' }],
    ['it is for another amount', { amount: '9.99' }, {}],
    ['it is not due', {}, { billing_date: '2026-11-17T06:00:00Z' }],
  ])('is found when %s', (_, more, row) => {
    oracle.stored(intent(more, row), 'worker');
    expect(rules()).toContain('6');
  });

  it('is found two seconds after a freeze, not before, and not after its end', () => {
    oracle.intents.freeze('PINLESS');
    nowMs += 1_900;
    oracle.stored(intent(), 'worker');
    expect(oracle.violations).toEqual([]);
    nowMs += 200;
    const second = { attemptId: 'a2', subscriptionId: 's2' };
    oracle.stored([{ table: TABLES.pipeline, before: null, after: attempt(second) }], 'worker');
    expect(oracle.violations.some(({ detail }) => detail.includes('PINLESS is frozen'))).toBe(true);
    oracle.violations.length = 0;
    oracle.intents.lift('PINLESS');
    const third = { attemptId: 'a3', subscriptionId: 's3' };
    oracle.stored([{ table: TABLES.pipeline, before: null, after: attempt(third) }], 'worker');
    expect(oracle.violations.some(({ detail }) => detail.includes('frozen'))).toBe(false);
  });

  it.each<[string, () => void]>([
    ['a freeze', () => oracle.intents.freeze('PINLESS')],
    ['an event of the membership', () => appear('USER#u1', 'MEMBERSHIP')],
    ['an event in quarantine', () => appear('USER#u1', 'QUARANTINED', { ids: { S: 'e1' } })],
    ['a change of the user', () => Object.assign(neighbours, { status: 'PAUSED', statusSinceMs: nowMs })],
    ['the money was spent', () => Object.assign(neighbours, { balanceCents: 0, balanceSinceMs: nowMs })],
  ])('is not found after %s where it was sent before, and hung on its way', (_, come) => {
    come();
    const sentMs = nowMs + 1_500;
    nowMs += 150_000;
    oracle.stored(intent(), 'worker', sentMs);
    expect(oracle.violations).toEqual([]);
  });

  describe('that is sent again', () => {
    const sendAgain = (more: Record<string, string> = {}): void =>
      oracle.stored(
        [
          {
            table: TABLES.pipeline,
            before: attempt(more),
            after: attempt({ ...more, sentAgainAt: new Date(nowMs).toISOString() }),
          },
        ],
        'worker',
      );

    it.each<[string, () => void, Record<string, string>]>([
      ['a freeze', () => oracle.intents.freeze('PINLESS'), {}],
      ['an event of the membership that waits', () => appear('USER#u1', 'MEMBERSHIP'), {}],
      ['an event in quarantine', () => appear('USER#u1', 'QUARANTINED', { ids: { S: 'e1' } }), {}],
      ['a bank’s word', () => appear('ACCOUNT#acc', 'ACH_BLOCK'), { rail: 'ACH', accountId: 'acc' }],
      ['its age', () => (nowMs += 52 * 3_600_000), {}],
    ])('is found against %s, and right without', (_, come, more) => {
      oracle.stored(intent(more), 'worker');
      nowMs += 40_000;
      sendAgain(more);
      expect(oracle.violations).toEqual([]);
      come();
      nowMs += 40_000;
      sendAgain(more);
      expect(rules()).toEqual(['6']);
    });
  });

  it('is found while another is open, and not when that one has its answer', () => {
    oracle.stored(intent(), 'worker');
    oracle.stored(
      [{ table: TABLES.pipeline, before: attempt(), after: resolved(attempt(), { status: 'FAILED' }) }],
      'worker',
    );
    const next = intent({ attemptId: 'a2', process: 'RETRY' }, { billing_status: 'ERROR' });
    oracle.stored(next.slice(2), 'worker');
    expect(oracle.violations.some(({ detail }) => detail.includes('is open'))).toBe(false);
    oracle.stored(
      [{ table: TABLES.pipeline, before: null, after: attempt({ attemptId: 'a3', process: 'BATCH' }) }],
      'worker',
    );
    expect(oracle.violations.some(({ detail }) => detail.includes('opened while a2 is open'))).toBe(true);
  });

  it.each<[string, () => void]>([
    ['the user is not active', () => (neighbours.status = 'INVESTIGATE')],
    ['the user is not known', () => (neighbours.status = null)],
    ['the user is an employee', () => (neighbours.isEmployee = true)],
    ['the member has too little', () => (neighbours.balanceCents = 498)],
  ])('is found when %s', (_, arrange) => {
    arrange();
    oracle.stored(intent(), 'worker');
    expect(rules()).toEqual(['6']);
  });

  it('may come just after the user has changed: it was decided before', () => {
    Object.assign(neighbours, { status: 'PAUSED', statusSinceMs: NOW_MS - 60_000 });
    oracle.stored(intent(), 'worker');
    expect(oracle.violations).toEqual([]);
  });

  it('is found when it is the second initial one of a user on one day', () => {
    oracle.stored(intent(), 'worker');
    const second = { subscription_id: 's2', last_run_date: '2026-11-16T08:00:01.000000001Z' };
    oracle.stored(intent({ attemptId: 'a2', subscriptionId: 's2' }, second), 'worker');
    expect(oracle.violations.map(({ detail }) => detail)).toEqual([
      'the first attempt is tried once more on the same day',
    ]);
  });

  it('may be one of a member with too little who pays by hand, or who turns from the card to the account', () => {
    neighbours.balanceCents = 0;
    oracle.stored(intent({ process: 'MANUAL_REPAYMENT' }), 'worker');
    const turn = { attemptId: 'a2', subscriptionId: 's2', rail: 'ACH', insteadOf: 'a0' };
    const row = { subscription_id: 's2', last_run_date: '2026-11-16T08:00:01.000000001Z' };
    oracle.stored(intent(turn, row), 'worker');
    expect(oracle.violations).toEqual([]);
  });

  /** The n-th attempt on the one record: it was declined, as those before it were. */
  const declined = (n: number, more: Record<string, string>, status = 'FAILED'): void => {
    const id = { attemptId: `a${n}`, ...more };
    const stamp = `2026-11-16T08:00:0${n}.000000001Z`;
    oracle.stored(intent(id, { billing_status: 'ERROR', last_run_date: stamp }), 'worker');
    const change = { before: attempt(id), after: resolved(attempt(id), { status }) };
    oracle.stored([{ table: TABLES.pipeline, ...change }], 'worker');
  };

  it('is found when it is the third after signals on one day, and not on the next', () => {
    declined(1, { process: 'WEBHOOK' });
    declined(2, { process: 'WEBHOOK_BALANCE' });
    expect(oracle.violations).toEqual([]);
    declined(3, { process: 'WEBHOOK' });
    expect(oracle.violations.map(({ detail }) => detail)).toEqual([
      'a signal is tried once more on the same day',
    ]);
    nowMs += 86_400_000;
    declined(4, { process: 'WEBHOOK' });
    expect(oracle.violations).toHaveLength(1);
  });

  it.each([
    ['2026-11-20T08:00:00Z', '2026-11-25T08:00:00Z', 'ACHSENT', []],
    ['2026-11-20T08:00:00Z', '2026-11-24T22:00:00Z', 'ACHSENT', ['6']],
    ['2026-11-16T22:00:00Z', '2026-11-19T07:00:00Z', 'ACHSENT', []],
    ['2026-11-16T22:00:00Z', '2026-11-18T22:00:00Z', 'ACHSENT', ['6']],
    ['2026-11-16T22:00:00Z', '2026-11-18T22:00:00Z', 'FAILED', []],
  ])(
    'is found on an entry of %s that is presented again on %s after %s: %j',
    (first, then, status, found) => {
      nowMs = Date.parse(first);
      declined(1, { process: 'BATCH', rail: 'ACH' }, status);
      nowMs = Date.parse(then);
      declined(2, { process: 'BATCH', rail: 'ACH' });
      expect(rules()).toEqual(found);
    },
  );

  it('is found on an account that its bank has closed to us', () => {
    const block = item({ pk: 'ACCOUNT#acc', sk: 'ACH_BLOCK' });
    oracle.stored([{ table: TABLES.pipeline, before: null, after: block }], 'worker');
    nowMs += 40_000;
    oracle.stored(intent({ rail: 'PINLESS', accountId: 'acc' }), 'worker');
    expect(oracle.violations).toEqual([]);
    const later = { last_run_date: '2026-11-16T08:00:01.000000001Z' };
    oracle.stored(
      intent({ attemptId: 'a2', process: 'BATCH', rail: 'ACH', accountId: 'acc' }, later),
      'worker',
    );
    expect(oracle.violations.some(({ detail }) => detail.includes('must not be debited'))).toBe(true);
  });

  it('is found while an event of the membership waits for longer than a lease', () => {
    appear('USER#u1', 'MEMBERSHIP');
    nowMs += 40_000;
    oracle.stored(intent(), 'worker');
    expect(oracle.violations.some(({ detail }) => detail.includes('an event of the membership waits'))).toBe(
      true,
    );
  });
});

function appear(pk: string, sk: string, more: Item = {}): void {
  oracle.stored(
    [{ table: TABLES.pipeline, before: null, after: { ...item({ pk, sk }), ...more } }],
    'bridge',
  );
}

describe('an intent of whoever is in quarantine', () => {
  const aside = (ids: boolean): void => {
    appear('USER#u1', 'QUARANTINED', ids ? { ids: { S: 'e1' } } : {});
    nowMs += 40_000;
  };
  const isFound = (): boolean => oracle.violations.some(({ detail }) => detail.includes('is in quarantine'));

  it('is found', () => {
    aside(true);
    oracle.stored(intent(), 'worker');
    expect(isFound()).toBe(true);
  });

  it('is not found where nothing is left in it', () => {
    aside(false);
    oracle.stored(intent(), 'worker');
    expect(isFound()).toBe(false);
  });
});

describe('money', () => {
  const money = (more: Partial<Money> = {}): Money => ({
    effect: 'debit',
    key: 'a1',
    userId: 'u1',
    reference: 's1',
    rail: 'PINLESS',
    cents: 499,
    atMs: NOW_MS,
    confirmationId: 'c1',
    refundKey: null,
    ...more,
  });

  beforeEach(() => {
    attempts.set('s1 a1', attempt());
    attempts.set('s1 a2', attempt({ attemptId: 'a2' }));
  });

  it('may move once, and again when it came back', () => {
    oracle.moved(money());
    oracle.moved(money({ effect: 'credit' }));
    oracle.moved(money({ key: 'a2' }));
    expect(oracle.violations).toEqual([]);
    expect(oracle.money.debits).toBe(2);
  });

  it.each<[string, Money[], string]>([
    ['moves twice', [money(), money({ key: 'a2' })], '1'],
    ['moves without an intent', [money({ key: 'a9' })], '2'],
    ['moves over another rail', [money({ rail: 'ACH' })], '2'],
    ['is more than was due', [money({ cents: 500 })], '5'],
    ['goes back that never came', [money({ effect: 'credit' })], '5'],
  ])('is found when it %s', (_, movements, rule) => {
    for (const movement of movements) oracle.moved(movement);
    expect(rules()).toContain(rule);
  });

  it('is found when it moves after its attempt had an answer', () => {
    attempts.set('s1 a1', resolved(attempt(), { status: 'FAILED' }));
    oracle.moved(money());
    expect(rules()).toEqual(['2']);
  });

  it('is found when an entry is presented a fourth time', () => {
    for (const key of ['e1', 'e2', 'e3', 'e4']) {
      attempts.set(`s1 ${key}`, attempt({ attemptId: key, rail: 'ACH' }));
      oracle.moved(money({ key, rail: 'ACH' }));
      oracle.moved(money({ key, rail: 'ACH', effect: 'credit' }));
    }
    expect(rules()).toEqual(['6']);
  });
});

describe('promises', () => {
  const applied = (sequence: string): Change => ({
    table: TABLES.pipeline,
    before: null,
    after: item({ pk: 'APPLIED#users#u1', sk: sequence }),
  });

  it('are found when events are applied out of order, and when one is applied twice', () => {
    oracle.stored([applied('1')], 'worker');
    oracle.stored([applied('2')], 'worker');
    expect(oracle.violations).toEqual([]);
    oracle.stored([applied('1')], 'worker');
    expect(rules()).toEqual(['order']);
    const done = item({ pk: 'EVENT#users#e1', sk: 'DONE', as: 'applied' });
    oracle.stored([{ table: TABLES.pipeline, before: done, after: done }], 'worker');
    expect(rules()).toEqual(['order', 'once']);
  });

  it('are found when a good event is put aside', () => {
    oracle.promises.malformed('users#bad');
    const aside = (id: string): Change => ({
      table: TABLES.pipeline,
      before: null,
      after: item({ pk: `EVENT#users#${id}`, sk: 'DONE', as: 'quarantined' }),
    });
    oracle.stored([aside('bad')], 'worker');
    expect(rules()).toEqual([]);
    oracle.stored([aside('good')], 'worker');
    expect(rules()).toEqual(['promise']);
  });

  describe('know who has closed the account', () => {
    const done = (as: string): Change => ({
      table: TABLES.pipeline,
      before: null,
      after: item({ pk: 'EVENT#users#e1', sk: 'DONE', as }),
    });
    const says = (atMs: number) => oracle.promises.closing('users#e1', { userId: 'u1', atMs });

    it('once that was applied', () => {
      says(NOW_MS);
      oracle.stored([done('dropped')], 'worker');
      expect(oracle.promises.hasClosed('u1')).toBe(false);
      oracle.stored([done('applied')], 'worker');
      expect(oracle.promises.hasClosed('u1')).toBe(true);
    });

    it.each([
      ['and came back since, whenever that was written', -1, [], false],
      ['and came back before', 1, [], true],
      ['by which they came back', -1, ['back'], true],
    ] as const)('%s', (_, afterMs, closed, hasClosed) => {
      says(NOW_MS + afterMs);
      oracle.promises.cameBack('u1', 'back', NOW_MS);
      oracle.promises.look(done('applied'), new Set(closed));
      expect(oracle.promises.hasClosed('u1')).toBe(hasClosed);
    });
  });

  it('are found when they are not kept in time', () => {
    oracle.promises.promise('r1', NOW_MS);
    oracle.promises.promise('r2', NOW_MS);
    oracle.promises.publish('users#e1', NOW_MS);
    oracle.stored(
      [
        {
          table: TABLES.pipeline,
          before: null,
          after: item({ sk: 'REQUEST', requestId: 'r2', status: 'done' }),
        },
      ],
      'worker',
    );
    oracle.promises.atTheEnd(NOW_MS);
    expect(oracle.violations).toEqual([]);
    oracle.promises.atTheEnd(NOW_MS + 1);
    expect(oracle.violations.map(({ detail }) => detail)).toEqual([
      'request r1 was accepted and never answered',
      'event users#e1 was published and never applied',
    ]);
  });
});

describe('when everything is quiet', () => {
  const DAY_MS = 86_400_000;
  const JUST_NOW = new Date(NOW_MS).toISOString();
  const quiet = (more: Partial<Parameters<typeof checkLiveness>[0]>): string[] => {
    checkLiveness({
      rows: [],
      pipeline: [],
      openAttempts: new Map(),
      neighboursOf: () => neighbours,
      isGivenBack: () => false,
      moneyOf: () => ({ standing: 0, debits: 0, keptCents: 0, presented: 0, lastMs: 0 }),
      secondRail: { declines: 0, turns: 0 },
      hasClosed: () => false,
      lastRunMs: NOW_MS,
      nowMs: NOW_MS,
      report: oracle.report,
      ...more,
    });
    return rules();
  };
  const moved = (standing: number) => () => ({
    standing,
    debits: 1,
    keptCents: 0,
    presented: 0,
    lastMs: NOW_MS - 10 * DAY_MS,
  });

  it.each<[string, Partial<Parameters<typeof checkLiveness>[0]>, string]>([
    ['an attempt is open', { openAttempts: new Map([['s1', 'a1']]) }, '2'],
    ['an event is in the inbox', { pipeline: [item({ pk: 'INBOX#users#u1', sk: '1' })] }, 'left-over'],
    [
      'a run has not ended',
      { pipeline: [item({ pk: 'RUNS', sk: 'x', status: 'running', startedAt: '2026-11-10T08:00:00Z' })] },
      'left-over',
    ],
    ['a member is flagged', { pipeline: [item({ pk: 'USER#u1', sk: 'MEMBERSHIP' })] }, 'left-over'],
    ['a record is due for days', { rows: [rowOf({ billing_date: '2026-11-10T06:00:00Z' })] }, 'left-over'],
    [
      'the last run left out a record that was due for an hour',
      { rows: [rowOf({ billing_date: new Date(NOW_MS - DAY_MS / 24).toISOString() })] },
      'left-over',
    ],
    [
      'the last run did not ask again who had not paid the day before',
      {
        rows: [
          rowOf({
            billing_status: 'ERROR',
            billing_date: '2026-11-10T06:00:00Z',
            last_run_date: new Date(NOW_MS - DAY_MS).toISOString(),
          }),
        ],
        pipeline: [
          item({
            pk: 'SUB#s1',
            sk: 'VERDICT#retry-x',
            subscriptionId: 's1',
            verdict: 'skipped',
            at: new Date(NOW_MS - 2 * DAY_MS).toISOString(),
          }),
        ],
      },
      'left-over',
    ],
    [
      'a record was skipped once, long ago',
      {
        rows: [rowOf({ billing_date: '2026-11-01T06:00:00Z' })],
        pipeline: [
          item({
            pk: 'SUB#s1',
            sk: 'VERDICT#scheduled-x',
            subscriptionId: 's1',
            verdict: 'skipped',
            at: '2026-11-02T08:00:00Z',
          }),
        ],
      },
      'left-over',
    ],
    [
      'an entry waits for weeks',
      { rows: [rowOf({ billing_status: 'ACHSENT', last_run_date: '2026-10-20T08:00:00Z' })] },
      '5',
    ],
    [
      'money is there that the record does not know of',
      { rows: [rowOf({ billing_status: 'ERROR', last_run_date: JUST_NOW })], moneyOf: moved(1) },
      '5',
    ],
    [
      'money has gone back and the record says paid',
      { rows: [rowOf({ billing_status: 'COMPLETED' })], moneyOf: moved(0) },
      '5',
    ],
    [
      'nobody retries',
      {
        rows: [
          rowOf({
            billing_status: 'ERROR',
            billing_date: '2026-11-10T06:00:00Z',
            last_run_date: '2026-11-10T08:00:00Z',
          }),
        ],
      },
      'left-over',
    ],
    [
      'a debt is never written off',
      {
        rows: [
          rowOf({
            billing_status: 'ERROR',
            billing_date: '2026-10-01T06:00:00Z',
            last_run_date: JUST_NOW,
          }),
        ],
      },
      'left-over',
    ],
    [
      'a pause does not end',
      { rows: [rowOf({ billing_status: 'PAUSED', billing_date: '2026-11-09T06:00:00Z' })] },
      'left-over',
    ],
    [
      'a period is to come for whoever has closed the account',
      { rows: [rowOf({ billing_date: '2026-12-10T06:00:00Z' })], hasClosed: () => true },
      '7',
    ],
    ['no account was ever asked', { secondRail: { declines: 20, turns: 0 } }, '6'],
  ])('it is found that %s', (_, more, rule) => {
    expect(quiet(more)).toEqual([rule]);
  });

  it('nothing is found where nothing is left over', () => {
    const verdict = item({
      pk: 'SUB#s1',
      sk: 'VERDICT#scheduled-x',
      subscriptionId: 's1',
      verdict: 'skipped',
      reason: 'ach-account-blocked',
      at: new Date(NOW_MS - DAY_MS).toISOString(),
    });
    expect(
      quiet({
        rows: [
          rowOf({ billing_date: '2026-11-10T06:00:00Z' }),
          rowOf({ subscription_id: 's2', billing_status: 'COMPLETED' }),
        ],
        pipeline: [
          verdict,
          item({ pk: 'RUNS', sk: 'x', status: 'complete', startedAt: '2026-11-10T08:00:00Z' }),
        ],
        moneyOf: (id) => moved(id === 's2' ? 1 : 0)(),
        secondRail: { declines: 20, turns: 18 },
      }),
    ).toEqual([]);
  });

  describe('a period that waits for an older one', () => {
    const old = (fields: Parameters<typeof rowOf>[0]) =>
      rowOf({ subscription_id: 's0', billing_date: '2026-10-10T06:00:00Z', ...fields });
    const waiting = (...others: ReturnType<typeof rowOf>[]) => {
      const blocked = { verdict: 'skipped', at: new Date(NOW_MS - DAY_MS).toISOString() };
      return quiet({
        rows: [...others, rowOf({ billing_date: '2026-11-10T06:00:00Z' })],
        pipeline: [['s0', 'ach-account-blocked'] as const, ['s1', 'older-period-first'] as const].map(
          ([subscriptionId, reason]) =>
            item({
              pk: `SUB#${subscriptionId}`,
              sk: 'VERDICT#scheduled-x',
              subscriptionId,
              reason,
              ...blocked,
            }),
        ),
      });
    };
    const long = '2026-10-10T08:00:00Z';
    const justNow = new Date(NOW_MS - DAY_MS / 2).toISOString();

    it.each<[string, Record<string, string>]>([
      ['is still to be tried', {}],
      ['was dealt with today', { billing_status: 'CANCELLED', last_run_date: justNow }],
    ])('may be left where that one %s', (_, fields) => {
      expect(waiting(old(fields))).toEqual([]);
    });

    it.each<[string, Record<string, string>[]]>([
      ['there is none', []],
      ['that one was dealt with long ago', [{ billing_status: 'CANCELLED', last_run_date: long }]],
    ])('is left over where %s', (_, others) => {
      expect(waiting(...others.map(old))).toEqual(['left-over']);
    });
  });
});
