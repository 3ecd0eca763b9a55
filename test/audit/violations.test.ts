import { randomUUID } from 'node:crypto';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditTotals, Violation } from '../../src/audit/violation.ts';
import { formatInstant, plusMs } from '../../src/domain/instant.ts';
import type { Subscription, SubscriptionId } from '../../src/domain/subscription.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import type { Item } from '../support/billing-store.ts';
import { at } from '../support/records.ts';
import type { World } from '../support/world.ts';
import type { Bench } from './bench.ts';
import { auditOf, bench, changed, violation } from './bench.ts';

/*
 * Each case breaks one thing, directly in the tables or at the bank, and says what the audit must find. All are planted
 * first, then one audit looks at all of them: so each must be found among the others, and nothing else.
 */

let on: Bench;
let here: World;

const START = at('2026-11-16T08:00:00Z');

/** A record's rule, and words of what is said about it. */
type Expected = [rule: number, record: Subscription, detail: RegExp][];
type Plant = () => Promise<{ owner: Subscription; expected: Expected }>;

const collected = async (settings: object = {}, fields: Partial<Subscription> = {}) => {
  const record = await here.member(settings, fields);
  await here.collect('INITIAL', record);
  return here.row(record);
};
const nextOf = async ({ userId }: Subscription) => (await here.partition(userId)).at(-1)!;
const rowOf = async ({ userId, billingDate }: Subscription): Promise<Item> =>
  (await here.store.billingRow(userId, formatInstant(billingDate)))!;
const one = (owner: Subscription, rule: number, detail: RegExp) => ({
  owner,
  expected: [[rule, owner, detail]] as Expected,
});

let stamps = 0;
/** A change that no application would make: row and history agree, with a stamp of its own. */
async function rewrite(record: Subscription, attributes: Record<string, unknown>, cause: string | null) {
  const item = await rowOf(record);
  stamps += 1;
  const last_run_date = formatInstant(plusMs(START, 60_000 + stamps)).replace('Z', '000001Z');
  const row = changed(item, { ...attributes, last_run_date });
  if (row['billing_date']!.S !== item['billing_date']!.S) await on.remove('billing', item);
  await on.put('billing', row);
  await on.put('history', changed(row, cause === null ? {} : { data_cause: cause }));
}

/** The period after an attempted one, under another date from its very beginning. */
async function followedOn(record: Subscription, billing_date: string): Promise<Subscription> {
  const next = await nextOf(record);
  const [born] = await on.history(next);
  const item = await rowOf(next);
  await on.remove('billing', item);
  await on.put('billing', changed(item, { billing_date }));
  await on.put('history', changed(born!, { billing_date }));
  return next;
}

async function changeAttempt(record: Subscription, change: (attempt: Record<string, unknown>) => object) {
  const [item] = await on.attempts(record);
  const attempt = unmarshall(item!);
  await on.put('pipeline', marshall({ ...attempt, ...change(attempt) }, { removeUndefinedValues: true }));
}

const cases: Record<string, Plant> = {
  'rule 1: a second debit under another key': async () => {
    const owner = await collected();
    const key = randomUUID();
    await on.charge(owner, key);
    return {
      owner,
      expected: [
        [1, owner, new RegExp(`^2 debits stand.*${key}`)],
        [2, owner, /has no attempt/],
        [5, owner, /998 cents were kept, 499 were due/],
      ],
    };
  },
  'rule 1: a second debit that has an intent, for a record that may cost as much': async () => {
    const owner = await collected();
    const [attempt] = await on.attempts(owner);
    const [, intent, outcome] = await on.history(owner);
    const key = randomUUID();
    const resolution = { ...(unmarshall(attempt!)['resolution'] as object), at: '2026-11-16T08:00:50Z' };
    await on.put('pipeline', changed(attempt!, { sk: `ATTEMPT#${key}`, attemptId: key, resolution }));
    const second = (row: Item, last_run_date: string) =>
      on.put('history', changed(row, { last_run_date, data_attempt_id: key, billing_status: 'ERROR' }));
    // An intent and a decline, so that only the money tells that something is wrong.
    await second(
      changed(intent!, { data_cause: 'charged-back', data_attempt_id: undefined }),
      '2026-11-16T08:00:40.000000001Z',
    );
    await second(changed(intent!, {}), '2026-11-16T08:00:41.000000001Z');
    await second(changed(outcome!, { data_cause: 'attempt-declined' }), '2026-11-16T08:00:50.000000001Z');
    await rewrite(owner, { billing_amount: '9.98', billing_status: 'ERROR' }, 'support-changed');
    await on.charge(owner, key);
    return one(owner, 1, /^2 debits stand/);
  },
  'rule 2: a debit that nobody intended': async () => {
    const owner = await here.member();
    const key = randomUUID();
    await on.charge(owner, key);
    return one(owner, 2, new RegExp(`the debit under ${key} has no attempt`));
  },
  'rule 2: a debit for a record that nobody has': async () => {
    const member = await here.member();
    const owner = { ...member, subscriptionId: randomUUID() as SubscriptionId };
    await on.charge(owner, randomUUID());
    return one(owner, 2, /a record that this user does not have/);
  },
  'rule 2: an attempt that is gone': async () => {
    const owner = await collected();
    const [attempt] = await on.attempts(owner);
    await on.remove('pipeline', attempt!);
    const id = attempt!['attemptId']!.S!;
    return {
      owner,
      expected: [
        [2, owner, new RegExp(`the debit under ${id} has no attempt`)],
        [2, owner, new RegExp(`history names attempt ${id}, which is not there`)],
      ],
    };
  },
  'rule 2: an attempt that was opened after its debit': async () => {
    const owner = await collected();
    await changeAttempt(owner, () => ({ openedAt: '2026-11-16T08:01:00Z' }));
    return one(owner, 2, /before its attempt was opened/);
  },
  'rule 2: a debit whose attempt is said to have failed': async () => {
    const owner = await collected();
    await changeAttempt(owner, ({ resolution }) => ({
      resolution: { ...(resolution as object), status: 'FAILED' },
    }));
    return one(owner, 2, /stands, but its attempt was resolved as FAILED/);
  },
  'rule 2: a payment that the bank does not know of': async () => {
    const owner = await collected({ pinless: { mode: 'decline', code: '14' } });
    await changeAttempt(owner, ({ resolution }) => ({
      resolution: { ...(resolution as object), status: 'COMPLETED', at: '2026-11-16T07:00:00Z' },
    }));
    return one(owner, 2, /was resolved as COMPLETED, and the bank has no debit under it/);
  },
  'rule 2: an attempt that is open for more than a day': async () => {
    const owner = await collected({ has_debit_card: false });
    // Who was slow to send it has written down that it went out later.
    const never = { sentAgainAt: undefined, resolution: null };
    await changeAttempt(owner, () => ({ ...never, openedAt: '2026-11-14T08:00:00Z' }));
    return one(owner, 2, /is open since 2026-11-14T08:00:00.000Z/);
  },
  'rule 3: a billing row that was changed by hand': async () => {
    const owner = await collected();
    await on.put('billing', changed(await rowOf(owner), { updated_event: 'by-hand', usio_error: 'x' }));
    return one(owner, 3, /differ in updated_event, usio_error$/);
  },
  'rule 3: an attribute that only the newest history row has': async () => {
    const owner = await here.member();
    const [born] = await on.history(owner);
    await on.put('history', changed(born!, { loyalty_points: 7 }));
    return one(owner, 3, /differ in loyalty_points$/);
  },
  'rule 3: the newest history row is missing': async () => {
    const owner = await collected();
    await on.remove('history', (await on.history(owner)).at(-1)!);
    return {
      owner,
      expected: [
        [3, owner, /its newest history row of/],
        [3, owner, /no history row tells of the outcome of attempt/],
      ],
    };
  },
  'rule 3: the history row of an intent is missing': async () => {
    const owner = await collected();
    await on.remove('history', (await on.history(owner))[1]!);
    return one(owner, 3, /no history row tells of the intent of attempt/);
  },
  'rule 3: the first history row is missing': async () => {
    const owner = await collected();
    await on.remove('history', (await on.history(owner))[0]!);
    return one(owner, 3, /is an attempt: what came before is missing/);
  },
  'rule 3: a record without history': async () => {
    const owner = await here.member();
    await on.remove('history', (await on.history(owner))[0]!);
    return one(owner, 3, /has no history/);
  },
  'rule 3: a billing row that is gone': async () => {
    const record = await collected();
    const next = await nextOf(record);
    await on.remove('billing', await rowOf(next));
    return {
      owner: record,
      expected: [
        [3, next, /has history but no billing row/],
        [7, record, /no SCHEDULED or PAUSED period follows/],
      ],
    };
  },
  'rule 3: a second row of the same record, under another spelling of its date': async () => {
    const owner = await collected();
    const next = await nextOf(owner);
    const item = await rowOf(next);
    await on.put('billing', changed(item, { billing_date: '2026-12-16T06:00:00.0Z' }));
    return {
      owner,
      expected: [
        [3, next, /differ in billing_date/],
        [7, next, /one more period to come/],
      ],
    };
  },
  'rule 3: two changes with one stamp': async () => {
    const owner = await here.member();
    const [born] = await on.history(owner);
    const row = changed(await rowOf(owner), { last_run_date: '2026-11-01T08:00:00.5Z' });
    await on.put('billing', row);
    await on.put('history', changed(born!, { last_run_date: '2026-11-01T08:00:00.50Z' }));
    await on.put('history', row);
    return one(owner, 3, /two changes have the stamp 2026-11-01T08:00:00.5Z/);
  },
  'rule 3: an amount that is none': async () => {
    const owner = await here.member();
    await on.put('billing', changed(await rowOf(owner), { billing_amount: 'lots' }));
    return one(owner, 3, /cannot be read: billing_amount is no amount/);
  },
  'rule 4: a collected record that is scheduled again': async () => {
    const owner = await collected();
    await rewrite(owner, { billing_status: 'SCHEDULED' }, 'support-changed');
    return one(owner, 4, /COMPLETED became SCHEDULED, which support-changed does not allow/);
  },
  'rule 4: a step that the Go service may not make either': async () => {
    const owner = await collected();
    await rewrite(owner, { billing_status: 'WAIVED' }, null);
    return one(owner, 4, /COMPLETED became WAIVED, which nothing allows/);
  },
  'rule 4: a legal step for a wrong cause': async () => {
    const owner = await here.member();
    await rewrite(owner, { billing_status: 'PAUSED' }, 'attempt-declined');
    return one(owner, 4, /SCHEDULED became PAUSED, which attempt-declined does not allow/);
  },
  'rule 4: a record that is over, brought back as the outcome of no attempt': async () => {
    const owner = await collected();
    await rewrite(owner, { billing_status: 'REFUNDED' }, 'refunded');
    await rewrite(owner, { billing_status: 'COMPLETED' }, 'attempt-succeeded');
    return one(owner, 4, /REFUNDED became COMPLETED as the outcome of no attempt/);
  },
  'rule 4: a record that began in error': async () => {
    const owner = await here.member();
    const [born] = await on.history(owner);
    await on.put('history', changed(born!, { billing_status: 'ERROR' }));
    await rewrite(owner, { billing_status: 'SCHEDULED' }, 'support-changed');
    return one(owner, 4, /began as ERROR/);
  },
  'rule 5: more collected than was due': async () => {
    const owner = await collected();
    await rewrite(owner, { billing_amount: '4.98' }, 'attempt-succeeded');
    const [, , , last] = await on.history(owner);
    const [attempt] = await on.attempts(owner);
    await on.put('history', changed(last!, { data_attempt_id: attempt!['attemptId']!.S }));
    return one(owner, 5, /499 cents were kept, 498 were due/);
  },
  'rule 6: an intent on a record that was to be cancelled': async () => {
    const owner = await collected();
    const [born] = await on.history(owner);
    await on.put('history', changed(born!, { updated_event: 'PENDING_CANCELLATION' }));
    return one(owner, 6, /was opened on a record that was to be cancelled/);
  },
  'rule 6: an intent on a record of a closed account': async () => {
    const owner = await collected();
    const [born] = await on.history(owner);
    await on.put('history', changed(born!, { updated_event: 'account-closed' }));
    return one(owner, 6, /was opened on a record that was of a closed account/);
  },
  'rule 6: an intent on a paused record': async () => {
    const owner = await collected();
    const [born] = await on.history(owner);
    await on.put('history', changed(born!, { billing_status: 'PAUSED' }));
    return {
      owner,
      expected: [
        [4, owner, /PAUSED became SCHEDULED, which attempt-opened does not allow/],
        [6, owner, /was opened on a record that was PAUSED/],
      ],
    };
  },
  'rule 6: two attempts open at the same time': async () => {
    const owner = await here.member({ pinless: { mode: 'decline', code: '14' } });
    const { attemptId: first } = await here.collect('INITIAL', owner);
    const { attemptId: second } = await here.collect('RETRY', owner);
    const items = await on.attempts(owner);
    const item = items.find((attempt) => attempt['attemptId']!.S === first)!;
    const resolution = { ...(unmarshall(item)['resolution'] as object), at: '2026-11-16T08:30:00Z' };
    await on.put('pipeline', changed(item, { resolution }));
    return one(owner, 6, new RegExp(`attempt ${second} was opened .* while attempt ${first} was open`));
  },
  'rule 7: a next period that is missing': async () => {
    const owner = await collected();
    const next = await nextOf(owner);
    await on.remove('billing', await rowOf(next));
    await on.remove('history', (await on.history(next))[0]!);
    return one(owner, 7, /no SCHEDULED or PAUSED period follows/);
  },
  'rule 7: a period too many': async () => {
    const owner = await collected();
    const next = await nextOf(owner);
    const extra = { ...next, subscriptionId: randomUUID() as SubscriptionId };
    const row = changed(await rowOf(next), {
      subscription_id: extra.subscriptionId,
      billing_date: '2027-01-16T06:00:00Z',
      last_run_date: '2026-11-16T08:00:30.000000001Z',
    });
    await on.put('billing', row);
    await on.put('history', row);
    return { owner, expected: [[7, extra, /one more period to come, 2027-01-16T06:00:00Z/]] };
  },
  'rule 7: a month that is skipped': async () => {
    const owner = await collected();
    const next = await followedOn(owner, '2027-01-16T06:00:00Z');
    return { owner, expected: [[7, next, /a period is skipped from 2026-11-16/]] };
  },
  'rule 7: a month that is billed twice': async () => {
    const owner = await collected();
    const next = await followedOn(owner, '2026-11-30T06:00:00Z');
    return { owner, expected: [[7, next, /a period is doubled from 2026-11-16/]] };
  },
  'rule 7: another day of the month': async () => {
    const owner = await collected();
    const next = await followedOn(owner, '2026-12-17T06:00:00Z');
    return { owner, expected: [[7, next, /the day is wrong from 2026-11-16/]] };
  },
  'rule 7: a year that became a month': async () => {
    const owner = await collected({}, { term: 'YEARLY' });
    const next = await followedOn(owner, '2026-12-16T06:00:00Z');
    return { owner, expected: [[7, next, /a period is doubled from 2026-11-16/]] };
  },
  'rule 7: another Friday': async () => {
    const owner = await collected({}, { billingDate: at('2026-11-13T06:00:00Z'), billingWeek: 2 });
    const next = await followedOn(owner, '2026-12-18T06:00:00Z');
    return { owner, expected: [[7, next, /the day is wrong from 2026-11-13/]] };
  },
  'nothing: a date that support has moved': async () => {
    const owner = await collected();
    const next = await nextOf(owner);
    const fence = await here.store.takeLock(owner.userId);
    await here.store.subscriptions.adminUpdate(
      fence,
      next,
      { ...next, billingDate: at('2027-01-03T06:00:00Z') },
      await here.store.context(owner.userId, { cause: 'support-changed', now: START }),
    );
    await here.store.releaseLock(owner.userId);
    return { owner, expected: [] };
  },
  'nothing: a proration between two periods': async () => {
    const owner = await collected();
    const row = changed(await rowOf(owner), {
      subscription_id: randomUUID(),
      billing_date: '2026-11-20T14:23:05Z',
      last_run_date: '2026-11-16T08:00:30.000000001Z',
    });
    await on.put('billing', row);
    await on.put('history', row);
    return { owner, expected: [] };
  },
  'nothing: a member who left and came back on another day': async () => {
    const owner = await here.member({}, { billingDate: at('2026-09-03T06:00:00Z') });
    await rewrite(owner, { billing_status: 'CANCELLED' }, 'support-changed');
    const row = changed(await rowOf(owner), {
      subscription_id: randomUUID(),
      billing_date: '2026-12-24T06:00:00Z',
      billing_status: 'SCHEDULED',
      last_run_date: '2026-11-16T08:00:30.000000001Z',
    });
    await on.put('billing', row);
    await on.put('history', row);
    return { owner, expected: [] };
  },
};

const freezeLog = (at_: string, action: 'frozen' | 'lifted', more: object): Promise<void> => {
  const { scope } = more as { scope: string };
  const entry = {
    pk: 'FREEZE_LOG',
    sk: `${at_}#${scope}#${action}`,
    at: at_,
    acknowledgedAt: at_,
    action,
    until: null,
    ...more,
  };
  return on.put('pipeline', marshall(entry));
};

/** The freezes of the morning. Each hour belongs to one of them. */
async function freezeThings(userId: string): Promise<void> {
  await freezeLog('2026-11-16T09:00:00Z', 'frozen', { scope: 'global', until: '2026-11-16T09:30:00Z' });
  await freezeLog('2026-11-16T10:00:00Z', 'frozen', { scope: 'ACH' });
  await freezeLog('2026-11-16T10:30:00Z', 'lifted', { scope: 'ACH' });
  await freezeLog('2026-11-16T11:00:00Z', 'frozen', { scope: 'user', userId });
  await freezeLog('2026-11-16T12:00:00Z', 'frozen', {
    scope: 'PINLESS',
    acknowledgedAt: '2026-11-16T12:10:00Z',
  });
  // Nobody was told of these: they may have come at any time, or not at all.
  const untold = { scope: 'PINLESS', acknowledgedAt: null };
  await freezeLog('2026-11-16T12:20:00Z', 'frozen', untold);
  await freezeLog('2026-11-16T12:30:00Z', 'frozen', { ...untold, until: '2026-11-16T12:40:00Z' });
  await freezeLog('2026-11-16T12:50:00Z', 'frozen', untold);
}

const noCard = { has_debit_card: false };

/** When somebody is charged, how, and whether a freeze forbade it. */
const underFreeze: [name: string, time: string, settings: object, isFrozen: boolean, detail?: RegExp][] = [
  ['everything was frozen a second ago', '09:00:01', {}, false],
  ['everything was frozen two seconds ago', '09:00:02', {}, true, /\(global\)/],
  ['everything is frozen', '09:10:00', {}, true, /during a freeze \(global\)/],
  ['the freeze has run out', '09:30:00', {}, false],
  ['the account rail is frozen', '10:10:00', noCard, true, /\(ACH\)/],
  ['the other rail is frozen', '10:10:00', {}, false],
  ['the freeze is about to be lifted', '10:29:57', noCard, true, /during a freeze \(ACH\)/],
  ['the freeze was lifted, by a clock that is behind', '10:29:59', noCard, false],
  ['the freeze was lifted', '10:30:00', noCard, false],
  ['this user is frozen', '11:10:00', {}, true, /\(user\)/],
  ['another user is frozen', '11:10:00', {}, false],
  ['a freeze was ordered, and is not known to hold', '12:05:00', {}, false],
  ['the order is known to hold', '12:15:00', {}, true, /\(PINLESS\)/],
  ['somebody else ordered it too, without an answer', '12:25:00', {}, true, /\(PINLESS\)/],
  ['an order without an answer may have put an end to it', '12:35:00', {}, true, /\(PINLESS\)/],
  ['that end has come', '12:45:00', {}, false],
  ['a freeze was ordered without an answer', '12:55:00', {}, false],
];

const planted = new Map<string, { owner: Subscription; expected: Expected }>();
let violations: Violation[];
let totals: AuditTotals;

beforeAll(async () => {
  on = await bench();
  here = on.here;
  await on.at(START);
  await Promise.all(
    Object.entries(cases).map(async ([name, plant]) => {
      planted.set(name, await plant());
    }),
  );
  const members: StoredSubscription[] = [];
  for (const [, time, settings] of underFreeze) {
    await on.at(at(`2026-11-16T${time}Z`));
    const record = await here.member(settings);
    await here.collect('INITIAL', record);
    members.push(record);
  }
  // Written afterwards: the application obeys a freeze.
  const alone = underFreeze.findIndex(([name]) => name === 'this user is frozen');
  await freezeThings(members[alone]!.userId);
  for (const [i, [name, , , isFrozen, detail]] of underFreeze.entries()) {
    const owner = members[i]!;
    planted.set(name, { owner, expected: isFrozen ? [[6, owner, detail!]] : [] });
  }
  ({ violations, totals } = await on.audit());
});
afterAll(() => on.close());

const of = (owner: Subscription): Violation[] => violations.filter(({ user_id }) => user_id === owner.userId);

describe('the audit finds', () => {
  it.each(Object.keys(cases))('%s', (name) => {
    const { owner, expected } = planted.get(name)!;
    expect(of(owner)).toEqual(expected.map((one) => violation(...one)));
  });
});

describe('an intent', () => {
  it.each(underFreeze.map(([name, , , isFrozen]) => [isFrozen ? 'is found' : 'is fine', name]))(
    '%s when %s',
    (_, name) => {
      const { owner, expected } = planted.get(name)!;
      expect(of(owner)).toEqual(expected.map((one) => violation(...one)));
    },
  );
});

it('and it finds nothing else', () => {
  const owners = new Set([...planted.values()].map(({ owner }) => owner.userId as string));
  expect(violations.filter(({ user_id }) => !owners.has(user_id))).toEqual([]);
});

it('names nobody by more than ids', () => {
  for (const { detail } of violations) expect(detail).not.toMatch(/@|balance|mask/);
});

it('without a ledger finds what the tables alone tell', async () => {
  const { tables } = on.source;
  const alone = await auditOf({ tables, ledger: null }, { now: here.now });
  expect(alone.totals).toMatchObject({ ledgerRead: false, debits: 0 });
  const fromTables = violations.filter(
    ({ rule, detail }) => ![1, 5].includes(rule) && !/debit|money/.test(detail),
  );
  expect(byText(alone.violations)).toEqual(byText(fromTables));
});

it('finds the same when memory holds a few references only', async () => {
  const again = await on.audit({ mostReferences: 12 });
  expect(byText(again.violations)).toEqual(byText(violations));
  expect(again.totals).toEqual(totals);
});

const byText = (some: readonly Violation[]): string[] => some.map((one) => JSON.stringify(one)).sort();
