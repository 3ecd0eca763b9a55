import { beforeEach, describe, expect, it } from 'vitest';
import type { Change, Item } from '../../../sim/oracle/items.ts';
import { Oracle } from '../../../sim/oracle/oracle.ts';
import { refundsHaveEnded } from '../../../sim/oracle/refund-checks.ts';

/* What the oracle holds against refunds, against who comes back, and against another plan: each broken once. */

const TABLES = { billing: 'billing', history: 'history', locks: 'locks', pipeline: 'pipeline' };
const NOW_MS = Date.parse('2026-11-11T08:00:00Z');
const STAMP = '2026-11-11T08:00:00.000000001Z';
const UNTRIED = '0001-01-01T00:00:00Z';

type Words = Readonly<Record<string, string>>;

let oracle: Oracle;
let rows: Item[];
let status: string;
let attempts: Map<string, Item>;

beforeEach(() => {
  rows = [];
  status = 'ACTIVE';
  attempts = new Map();
  oracle = new Oracle({
    nowMs: () => NOW_MS,
    neighboursOf: () => ({
      status,
      statusSinceMs: 0,
      isEmployee: false,
      hasAccount: true,
      balanceCents: 10_000,
      balanceSinceMs: 0,
    }),
    attemptOf: (recordId, attemptId) => attempts.get(`${recordId} ${attemptId}`) ?? null,
    rowsOf: () => rows,
    tables: TABLES,
  });
  const lock = item({ PartitionKey: 'subscription-billing:user_id:u1', ownerName: 'api' });
  oracle.stored([{ table: TABLES.locks, before: null, after: lock }], 'api');
});

const item = (words: Words): Item =>
  Object.fromEntries(Object.entries(words).map(([name, S]) => [name, { S }]));

const row = (words: Words): Item =>
  item({
    user_id: 'u1',
    subscription_id: 's1',
    billing_date: '2026-11-16T06:00:00Z',
    billing_status: 'SCHEDULED',
    billing_amount: '4.99',
    term: 'MONTHLY',
    receipt_tier_name: '',
    initial_run_date: UNTRIED,
    last_run_date: STAMP,
    updated_event: '',
    ...words,
  });

const changed = (before: Item | null, after: Item, cause: string): Change[] => [
  { table: TABLES.billing, before, after },
  { table: TABLES.history, before: null, after: { ...after, data_cause: { S: cause } } },
];

const attempt = (words: Words, upgrades: Words | null = null): Item => ({
  ...item({
    pk: 'SUB#own',
    sk: `ATTEMPT#${words['attemptId'] ?? 'a1'}`,
    attemptId: 'a1',
    subscriptionId: 'own',
    userId: 'u1',
    triggerId: 'wish.1',
    process: 'REACTIVATION',
    rail: 'PINLESS',
    amount: '4.99',
    ...words,
  }),
  ...(upgrades === null ? {} : { upgrades: { M: item(upgrades) } }),
});

const resolved = (one: Item, resolution: string): Item => ({
  ...one,
  resolution: { M: item({ status: resolution }) },
});

const piped = (before: Item | null, after: Item): Change => ({ table: TABLES.pipeline, before, after });

const found = (): string => oracle.violations.map(({ detail }) => detail).join('; ');

describe('coming back', () => {
  const born = (words: Words = {}): Item =>
    row({ subscription_id: 'own', billing_status: 'CANCELLED', process: 'REACTIVATION', ...words });
  const begin = (words: Words = {}, own: Item = born()): void =>
    oracle.stored([...changed(null, own, 'attempt-opened'), piped(null, attempt(words))], 'api');

  it.each(['ACTIVE', 'PAUSED'])('is right where it was asked for, of who is %s', (now) => {
    status = now;
    oracle.asked.note('come-back', 'u1', 'wish.1');
    begin();
    expect(found()).toBe('');
  });

  it.each<[string, () => void, string]>([
    ['nobody asked for it', () => begin({ triggerId: 'wish.2' }), 'has not asked'],
    ['it costs something else', () => begin({ amount: '9.99' }, born({ billing_amount: '9.99' })), '9.99'],
    ['the member is banned', () => ((status = 'BANNED'), begin()), 'is BANNED'],
    [
      'a period is paid ahead',
      () => (rows.push(row({ billing_status: 'COMPLETED' })), begin()),
      'paid ahead',
    ],
    ['the member is there', () => (rows.push(row({})), begin()), 'which is to come'],
  ])('is found where %s', (_, arrange, detail) => {
    oracle.asked.note('come-back', 'u1', 'wish.1');
    arrange();
    expect(found()).toContain(detail);
  });

  it('is found while a charge of what was cancelled has no answer', () => {
    const old = row({ updated_event: '' });
    const charge = attempt({
      pk: 'SUB#s1',
      subscriptionId: 's1',
      attemptId: 'a0',
      process: 'MANUAL_REPAYMENT',
    });
    oracle.stored([...changed(old, old, 'attempt-opened'), piped(null, charge)], 'api');
    rows.push(row({ updated_event: 'PENDING_CANCELLATION' }));
    oracle.asked.note('come-back', 'u1', 'wish.1');
    begin();
    expect(found()).toContain('while a charge of s1 has no answer');
  });

  it.each([
    [1, ''],
    [0, '0 periods are to come'],
    [2, '2 periods are to come'],
  ])('that is paid, with %i periods to come, is: %s', (periods, detail) => {
    rows.push(...Array.from({ length: periods }, (_, n) => row({ subscription_id: `next ${n}` })));
    const paid = resolved(attempt({}), 'COMPLETED');
    const after = born({ billing_status: 'COMPLETED' });
    oracle.stored([...changed(born(), after, 'attempt-succeeded'), piped(attempt({}), paid)], 'api');
    expect(found()).toContain(detail);
    // Two to come are one too many for the chain as well.
    expect(oracle.violations.filter(({ rule }) => rule === '6')).toHaveLength(detail === '' ? 0 : 1);
  });

  it('was promised and not charged', () => {
    oracle.cameBack('u1', 'own');
    expect(found()).toContain('charged 0 times');
  });
});

describe('another plan', () => {
  // Five days at a sixth of a dollar.
  const amount = '0.83';
  const upgrades = { subscriptionId: 's1', amount: '9.99' };
  const own = (words: Words = {}): Item =>
    row({
      subscription_id: 'own',
      billing_status: 'CANCELLED',
      billing_amount: amount,
      receipt_tier_name: 'Plus:v1',
      ...words,
    });
  const asked = { amount, process: 'NOT_IDENTIFIED' };
  const begin = (words: Words = {}, to: Words = upgrades, record: Item = own()): void =>
    oracle.stored(
      [...changed(null, record, 'attempt-opened'), piped(null, attempt({ ...asked, ...words }, to))],
      'api',
    );

  beforeEach(() => {
    rows.push(row({}));
    oracle.asked.note('upgrade', 'u1', 'wish.1');
    oracle.asked.note('plan', 'u1', 'Plus:v1');
  });

  it('is right at what the rest of the period costs', () => {
    begin();
    expect(found()).toBe('');
  });

  it.each<[string, () => void, string]>([
    ['nobody asked', () => begin({ triggerId: 'wish.2' }), 'nobody asked for'],
    [
      'a cent is too much',
      () => begin({ amount: '0.84' }, upgrades, own({ billing_amount: '0.84' })),
      '84 cents',
    ],
    ['the new price is wrong', () => begin({}, { ...upgrades, amount: '8.99' }), 'does not cost'],
    ['the period is tried', () => (rows.splice(0, 1, row({ initial_run_date: STAMP })), begin()), 'no price'],
    ['the member is away', () => ((status = 'PAUSED'), begin()), 'is PAUSED'],
  ])('is found where %s', (_, arrange, detail) => {
    arrange();
    expect(found()).toContain(detail);
  });

  const isPaid = (more: Change[] = []): void => {
    const open = attempt(asked, upgrades);
    const paid = own({ billing_status: 'COMPLETED', transaction_id: 'c1' });
    oracle.stored(
      [...changed(own(), paid, 'attempt-succeeded'), piped(open, resolved(open, 'COMPLETED')), ...more],
      'api',
    );
  };
  const givenBack = piped(null, attempt({ ...asked, attemptId: 'r1', refundOf: 'c1' }));

  it('is had once it is paid, or the money goes back', () => {
    isPaid([givenBack]);
    expect(found()).toBe('');
    rows.splice(0, 1, row({ receipt_tier_name: 'Plus:v1', billing_amount: '9.99' }));
    const again = attempt({ ...asked, attemptId: 'a2' }, upgrades);
    oracle.stored([piped(again, resolved(again, 'COMPLETED'))], 'api');
    expect(found()).toBe('attempt a2 was paid for nothing');
  });

  it('is found where it is paid for nothing', () => {
    isPaid();
    expect(found()).toContain('was paid for nothing');
  });

  it.each([
    [{ receipt_tier_name: 'Plus:v1', billing_amount: '9.99' }, ''],
    [{ receipt_tier_name: 'Best:v1', billing_amount: '19.99' }, 'nobody asked for the plan'],
    [{ receipt_tier_name: 'Plus:v1', billing_amount: '4.99' }, 'is not what'],
  ])('as %j is: %s', (words, detail) => {
    oracle.stored(changed(row({}), row(words), 'plan-changed'), 'api');
    expect(found()).toContain(detail);
    expect(oracle.violations).toHaveLength(detail === '' ? 0 : 1);
  });
});

describe('a refund', () => {
  const paid = (words: Words = {}): Item =>
    row({ subscription_id: 'own', billing_status: 'COMPLETED', transaction_id: 'c1', ...words });
  const refund = (words: Words = {}): Item =>
    attempt({ attemptId: 'r1', process: 'INITIAL', refundOf: 'c1', ...words });
  const begin = (words: Words = {}, record: Item = paid()): void =>
    oracle.stored([...changed(record, record, 'refund-opened'), piped(null, refund(words))], 'api');

  beforeEach(() => oracle.asked.note('refund', 'own', 'wish.1'));

  it('is right where it was asked for, and once more where it was refused', () => {
    begin();
    oracle.stored([piped(refund(), resolved(refund(), 'FAILED'))], 'api');
    begin({ attemptId: 'r2' }, paid({ last_run_date: '2026-11-11T08:00:01.000000001Z' }));
    expect(found()).toBe('');
  });

  it.each<[string, () => void, string]>([
    ['nobody asked', () => begin({ triggerId: 'wish.2' }), 'nobody asked'],
    ['another payment is given back', () => begin({ refundOf: 'c0' }), 'not paid by what it gives back'],
    ['the record is not paid', () => begin({}, paid({ billing_status: 'ERROR' })), 'not paid by'],
    ['it is more than was paid', () => begin({ amount: '9.99' }), 'another amount'],
    ['there is one', () => (begin(), begin({ attemptId: 'r2' })), 'beside r1'],
    ['the bank is asked twice', () => oracle.refundedAgain('r2', 'u1', 'own'), 'again, under r2'],
    ['it was promised only', () => oracle.refundAnswered('own', 'r1', false), 'there is none'],
    [
      'it was not taken',
      () => (attempts.set('own r1', refund()), oracle.refundAnswered('own', 'r1', true)),
      'said to be taken',
    ],
  ])('is found where %s', (_, arrange, detail) => {
    arrange();
    expect(found()).toContain(detail);
  });

  it.each<[string, string, Words, string]>([
    ['r1', 'c1', { refundOf: 'c1' }, ''],
    ['r2', 'c1', { refundOf: 'c1' }, 'which is no attempt'],
    ['r1', 'c1', { refundOf: 'c0' }, 'gave back another payment'],
  ])('at the bank under %s of %s is: %j %s', (refundKey, confirmationId, words, detail) => {
    attempts.set('own a1', attempt({}));
    attempts.set('own r1', refund(words));
    const money = { key: 'a1', userId: 'u1', reference: 'own', rail: 'PINLESS', cents: 499, atMs: NOW_MS };
    oracle.moved({ ...money, effect: 'debit', confirmationId, refundKey: null });
    oracle.moved({ ...money, effect: 'credit', confirmationId, refundKey });
    expect(found()).toContain(detail);
    expect(oracle.violations).toHaveLength(detail === '' ? 0 : 1);
    expect(oracle.money.isGivenBack('c1')).toBe(true);
  });

  const listed = item({ sk: 'REFUSED_REFUND', userId: 'u1', subscriptionId: 'own', confirmationId: 'c1' });

  it.each<[string, Item[], boolean, string]>([
    ['was taken and went back', [resolved(refund(), 'COMPLETED')], true, ''],
    ['was taken', [resolved(refund(), 'COMPLETED')], false, 'the bank has the money'],
    ['was refused', [resolved(refund(), 'FAILED')], false, 'nobody is told'],
    ['was refused and is listed', [resolved(refund(), 'FAILED'), listed], false, ''],
    ['went back and is listed', [resolved(refund(), 'FAILED'), listed], true, 'has gone back'],
  ])('that %s at the end is: %s', (_, pipeline, isGivenBack, detail) => {
    const { report } = oracle;
    const movedMs = () => 0;
    refundsHaveEnded({ pipeline, isGivenBack: () => isGivenBack, movedMs, beforeMs: NOW_MS, report });
    expect(found()).toContain(detail);
    expect(oracle.violations).toHaveLength(detail === '' ? 0 : 1);
  });
});
