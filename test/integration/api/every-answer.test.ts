import { createHash, randomUUID } from 'node:crypto';
import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Float, FloatStatus } from '../../../src/domain/floats/float.ts';
import { freePort } from '../../../src/embedded/free-port.ts';
import { formatInstant, plusDays } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import type { Subscription, UserId } from '../../../src/domain/subscription.ts';
import type { RecurringSubscription } from '../../../src/domain/recurring/recurring.ts';
import { floatLockKey, recurringLockKey } from '../../../src/ports/lock.ts';
import type { RecurringRef } from '../../../src/ports/recurring.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { ApiClient, Reply } from '../../support/api.ts';
import { api } from '../../support/api.ts';
import type { Item } from '../../support/billing-store.ts';
import type { DeclaredAnswer } from '../../support/declared-answers.ts';
import { declaredAnswers, isProblemCode } from '../../support/declared-answers.ts';
import type { FloatDesk } from '../../support/float-desk.ts';
import { floatDesk } from '../../support/float-desk.ts';
import type { Post } from '../../support/gateway-payloads.ts';
import {
  appleBody,
  appleChain,
  applePost,
  gatewayEnvironment,
  lemonSqueezy,
} from '../../support/gateway-payloads.ts';
import { gatewayTable } from '../../support/gateway-table.ts';
import type { InboxDesk } from '../../support/inbox-desk.ts';
import { NOTHING, NOW, anEvent, inboxDesk, newUser } from '../../support/inbox-desk.ts';
import type { MembershipApi } from '../../support/membership-api.ts';
import { membershipApi } from '../../support/membership-api.ts';
import type { RecurringDesk } from '../../support/recurring-desk.ts';
import { recurringDesk } from '../../support/recurring-desk.ts';
import { eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';

/*
 * Every answer that any route declares in the OpenAPI document is provoked here, on real parts. A route or an answer that
 * is new has no case yet, and the count fails; so does a case for what no route declares any more.
 */

let on: MembershipApi;
let inbox: InboxDesk;
let floats: FloatDesk;
let recurring: RecurringDesk;
let gateways: Awaited<ReturnType<typeof gatewayTable>>;
const chain = appleChain();
/** The same tables, as the API of somebody who bills nobody here. */
let theirs: ApiClient;
/** The same, in no hurry with forecasts. */
let slow: ApiClient;
/** Without its store. */
let lost: ApiClient;
let declared: readonly DeclaredAnswer[];
let longForecast: Promise<Reply>;

/** More than a slow forecast looks at in the time that it is waited for. */
const MANY_MEMBERS = 30;

beforeAll(async () => {
  gateways = await gatewayTable();
  on = await membershipApi({ GATEWAY_TABLE: gateways.name, ...gatewayEnvironment(chain) });
  const { environment, here } = on.system;
  inbox = inboxDesk(here.store.client, here.store.tables);
  floats = floatDesk(here);
  recurring = recurringDesk(here);
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  [theirs, slow, lost] = await Promise.all([
    api({ ...environment, OWNED_USERS: 'none', LEMONSQUEEZY_SECRET: '', APPLE_ROOT_CERTS: '' }),
    api({ ...environment, FORECAST_RATE_PER_S: '1' }),
    api({ ...environment, AWS_ENDPOINT_URL_DYNAMODB: nowhere }),
    on.system.worker(),
    on.system.members(MANY_MEMBERS),
  ]);
  const document = await on.call('GET', '/openapi.json', { as: null });
  declared = declaredAnswers(document.body);
  // It takes its twenty seconds while the others are asked.
  longForecast = asking('POST /ops/forecast')({}, { body: { process: 'scheduled' }, through: slow });
  longForecast.catch(() => undefined);
});
afterAll(async () => {
  await Promise.all([theirs, slow, lost].map((each) => each.close()));
  await on.close();
  await gateways.drop();
});

interface Sent {
  readonly body?: unknown;
  readonly query?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly through?: Pick<ApiClient, 'call'>;
}

type Places = Readonly<Record<string, string>>;

/** Calls the operation that a case is about, and no other. */
type Ask = (places?: Places, sent?: Sent) => Promise<Reply>;

type Provoke = (ask: Ask) => Promise<Reply>;

/** By what is answered: a status, or the code of a problem. */
type Cases = Readonly<Record<string, Provoke>>;

const asking =
  (operation: string): Ask =>
  (places = {}, { body, query = '', key, headers: more = {}, through = on } = {}) => {
    const [method = '', path = ''] = operation.split(' ');
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(places[name]!));
    const headers = { ...more, ...(key === undefined ? {} : { 'idempotency-key': key }) };
    return through.call(method, url + query, { body, headers });
  };

type Ids = Pick<Subscription, 'userId' | 'subscriptionId'>;

const of = ({ userId, subscriptionId }: Ids): Places => ({
  user_id: userId,
  subscription_id: subscriptionId,
});
const NOBODY = of({
  userId: 'nobody' as UserId,
  subscriptionId: 'nothing' as Subscription['subscriptionId'],
});

type Fields = Partial<Subscription>;

/** Settings are the bank's; with null nobody knows the user. */
const member = async (fields: Fields = {}, settings: object | null = {}): Promise<StoredSubscription> =>
  (await on.desk.member([fields], settings))[0]!;

const inDays = (days: number) => plusDays(at('2026-11-16T06:00:00Z'), days);
const DECLINING = { pinless: { mode: 'decline', code: '14' } };
const LEAVING = { updatedEvent: 'PENDING_CANCELLATION' };
const COMPLETED = { billing_status: { S: 'COMPLETED' } };

async function rewritten(record: StoredSubscription, change: Item): Promise<StoredSubscription> {
  const { store } = on.here;
  const row = await store.billingRow(record.userId, formatInstant(record.billingDate));
  await store.putBillingRow({ ...row, ...change });
  return record;
}

const broken = async (): Promise<StoredSubscription> =>
  rewritten(await member(), { billing_amount: { S: 'much' } });

async function busy(): Promise<StoredSubscription> {
  const record = await member();
  await on.here.store.takeLock(record.userId);
  return record;
}

async function frozen<R extends Pick<Ids, 'userId'>>(record: R): Promise<R> {
  const body = { target: `user:${record.userId}`, reason: 'a test' };
  expect(await on.call('POST', '/ops/freezes', { body })).toMatchObject({ status: 201 });
  return record;
}

/** Whatever is charged for this member meanwhile gets no answer. */
async function unanswered<T>({ userId }: Pick<Ids, 'userId'>, work: () => Promise<T>): Promise<T> {
  const match = { user_id: userId };
  await on.here.faults([{ id: 'lost', service: 'payments', fault: 'error-before', match }]);
  const done = await work();
  await on.calmDown();
  return done;
}

/** Somebody was asked to pay, and nobody knows what became of it. */
async function hanging(fields: Fields = {}): Promise<StoredSubscription> {
  const record = await member({ billingDate: inDays(35), ...fields });
  const verdict = await unanswered(record, () => on.here.collect('MANUAL_REPAYMENT', record));
  expect(verdict).toMatchObject({ verdict: 'unknown' });
  return record;
}

/** Tried by the first run, with whatever came of it. */
async function tried(settings: object, verdict: string): Promise<StoredSubscription> {
  const record = await on.here.member(settings);
  expect(await on.here.collect('INITIAL', record)).toMatchObject({ verdict });
  return on.here.row(record);
}

/** Callers try again for a month; what was asked for is remembered longer than the key. */
async function keyExpires(key: string): Promise<void> {
  const hash = createHash('sha256')
    .update(JSON.stringify(['operator-name', key]))
    .digest('hex');
  const Key = { pk: { S: `IDEMPOTENCY#${hash}` }, sk: { S: 'IDEMPOTENCY' } };
  const { client, tables } = on.here.store;
  const { Attributes } = await client.send(
    new DeleteItemCommand({ TableName: tables.pipeline, Key, ReturnValues: 'ALL_OLD' }),
  );
  expect(Attributes).toBeDefined();
}

/** What whoever changes anything about a member may meet, whatever is asked for. */
const anyChange = (body: object): Cases => ({
  'user-busy': async (ask) => ask(of(await busy()), { body }),
  'not-owned': async (ask) => ask(of(await member()), { body, through: theirs }),
  'malformed-record': async (ask) => ask(of(await broken()), { body }),
});

/** What whoever charges a card may meet, for a member in this state. */
const anyCharge = (body: object, fields: Fields): Cases => ({
  ...anyChange(body),
  'not-found': async (ask) => ask(of(await member(fields, null)), { body }),
  frozen: async (ask) => ask(of(await frozen(await member(fields))), { body }),
  'user-not-eligible': async (ask) => ask(of(await member(fields, { status: 'BANNED' })), { body }),
  'no-debit-card': async (ask) => ask(of(await member(fields, { has_debit_card: false })), { body }),
  'payment-declined': async (ask) => ask(of(await member(fields, DECLINING)), { body }),
});

const ofAnybody = (fields: Fields): Cases => ({
  200: async (ask) => ask(of(await member(fields))),
  'not-found': (ask) => ask(NOBODY),
  'malformed-record': async (ask) => ask(of(await broken())),
});

const signal = (type: string, { userId }: Ids, data: object) => ({
  id: randomUUID(),
  type,
  source: 'bank-feed',
  data: { user_id: userId, ...data },
});

const SIGNALS: Readonly<Record<string, Cases>> = {
  'POST /events/income': {
    202: async (ask) => {
      const deposit = { amount: '1200.00', date: '2026-11-16' };
      return ask({}, { body: signal('income_txn', await member({ billingStatus: 'ERROR' }), deposit) });
    },
  },
  'POST /events/balance': {
    202: async (ask) => {
      const account = { account_id: 'account-1', is_primary: true };
      return ask({}, { body: signal('new_account', await member({ billingStatus: 'ERROR' }), account) });
    },
  },
};

const PAY = 'POST /v1/{user_id}/subscriptions/{subscription_id}/pay';

const PAYMENTS: Readonly<Record<string, Cases>> = {
  [PAY]: {
    200: async (ask) => ask(of(await member()), { query: '?wait=30' }),
    202: async (ask) => ask(of(await member())),
    'not-found': async (ask) => ask({ ...of(await member()), user_id: (await member()).userId }),
    'not-payable': async (ask) => ask(of(await member({ billingStatus: 'WAIVED' }))),
    'pending-cancellation': async (ask) => ask(of(await member(LEAVING))),
    'account-closed': async (ask) => ask(of(await member({ updatedEvent: 'account-closed' }))),
    'attempt-open': async (ask) => ask(of(await hanging())),
    frozen: async (ask) => ask(of(await frozen(await member()))),
    'not-owned': async (ask) => ask(of(await member()), { through: theirs }),
    'malformed-record': async (ask) => ask(of(await broken())),
    'request-conflict': async (ask) => {
      const key = randomUUID();
      expect(await ask(of(await member()), { key })).toMatchObject({ status: 202 });
      await keyExpires(key);
      return ask(of(await member()), { key });
    },
  },
  'GET /v1/{user_id}/requests/{job_id}': {
    200: async (ask) => {
      const record = await member();
      const { body } = await asking(PAY)(of(record));
      return ask({ ...of(record), ...(body as { job_id: string }) });
    },
    'not-found': (ask) => ask({ ...NOBODY, job_id: 'nothing' }),
  },
};

const RECORDS: Readonly<Record<string, Cases>> = {
  'GET /v1/{user_id}/subscriptions': { 200: async (ask) => ask(of(await member())) },
  'GET /v1/{user_id}/subscriptions/current': ofAnybody({ billingStatus: 'ERROR' }),
  'GET /v1/{user_id}/subscriptions/{subscription_id}': ofAnybody({}),
  'GET /v1/{user_id}/subscriptions/{subscription_id}/history': ofAnybody({}),
  'GET /v1/{user_id}/subscriptions/{subscription_id}/explain': {
    200: async (ask) => ask(of(await tried(DECLINING, 'declined'))),
    'not-found': (ask) => ask(NOBODY),
  },
  'GET /v1/{user_id}/floats/{float_id}/explain': {
    200: async (ask) => {
      const desk = floatDesk(on.here);
      const float = await desk.float({ has_debit_card: false });
      expect(await desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'sent' });
      return ask({ user_id: float.userId, float_id: float.floatId });
    },
    'not-found': (ask) => ask({ user_id: 'nobody', float_id: 'nothing' }),
  },
  'GET /v1/{user_id}/billing-details': {
    ...ofAnybody({}),
    200: async (ask) => ask(of(await tried({}, 'collected'))),
  },
  'GET /v1/{user_id}/active-term': ofAnybody({ billingStatus: 'CANCELLED' }),
};

const PAUSE = { billing_status: 'PAUSED' };
const UNSOLD = { tier: 'Gold', version: 'v1' };
const BASE = { tier: 'Base', version: 'v0' };
const ON_PLUS = { billingAmount: cents(999), receiptTierName: 'Plus:v1' };

const CHANGES: Readonly<Record<string, Cases>> = {
  'PATCH /v1/{user_id}/subscriptions/{subscription_id}': {
    ...anyChange(PAUSE),
    200: async (ask) => ask(of(await member()), { body: PAUSE }),
    'not-found': async (ask) => ask({ ...of(await member()), subscription_id: 'nothing' }, { body: PAUSE }),
    'attempt-open': async (ask) => ask(of(await hanging()), { body: PAUSE }),
    'illegal-transition': async (ask) => ask(of(await member({ billingStatus: 'STALE' })), { body: PAUSE }),
    'period-taken': async (ask) => {
      const [first] = await on.desk.member([{}, { billingDate: inDays(30) }]);
      return ask(of(first!), { body: { billing_date: '2026-12-16' } });
    },
    'unpriced-tier': async (ask) =>
      ask(of(await member({ term: 'YEARLY', receiptTierName: 'Gold:v1' })), { body: PAUSE }),
  },
  'POST /v1/{user_id}/subscriptions/{subscription_id}/waive': {
    ...anyChange({}),
    200: async (ask) => ask(of(await member()), { body: { reason: 'goodwill' } }),
    'not-found': async (ask) => ask({ ...of(await member()), subscription_id: 'nothing' }),
    'attempt-open': async (ask) => ask(of(await hanging())),
    'illegal-transition': async (ask) => ask(of(await member({ billingStatus: 'REFUNDED' }))),
  },
  'POST /v1/{user_id}/ban': {
    200: async (ask) => ask(of(await member()), { body: { reason: 'fraud' } }),
    'not-found': (ask) => ask(NOBODY, { body: { reason: 'fraud' } }),
  },
  'PUT /v1/{user_id}/subscriptions/activate': {
    ...anyChange({}),
    200: async (ask) => ask({ user_id: (await on.user()).userId }),
    'not-found': (ask) => ask(NOBODY),
    'unpriced-tier': async (ask) => ask({ user_id: (await on.user()).userId }, { body: UNSOLD }),
    'user-not-eligible': async (ask) => ask({ user_id: (await on.user({ status: 'BANNED' })).userId }),
    'membership-ended': async (ask) => ask(of(await member({ billingStatus: 'CANCELLED' }))),
  },
  'POST /v1/{user_id}/subscriptions/downgrade': {
    ...anyChange(BASE),
    200: async (ask) => ask(of(await member(ON_PLUS)), { body: BASE }),
    'unpriced-tier': async (ask) => ask(of(await member(ON_PLUS)), { body: UNSOLD }),
    'no-upcoming-period': async (ask) => ask(of(await member({ billingStatus: 'PAUSED' })), { body: BASE }),
    'pending-cancellation': async (ask) => ask(of(await member({ ...ON_PLUS, ...LEAVING })), { body: BASE }),
    'not-a-downgrade': async (ask) => ask(of(await member()), { body: BASE }),
    'attempt-open': async (ask) => ask(of(await hanging(ON_PLUS)), { body: BASE }),
  },
};

/** A membership that ended in October, and one whose next period is 35 days off. */
const FORMER: Fields = { billingStatus: 'CANCELLED', billingDate: at('2026-10-16T06:00:00Z') };
const UPCOMING: Fields = { billingDate: inDays(35) };
/** What the rest of those 35 days costs. */
const PLUS = { tier: 'Plus', version: 'v1', amount: '5.83' };

const CHARGES: Readonly<Record<string, Cases>> = {
  'POST /v1/{user_id}/subscriptions/reactivate': {
    ...anyCharge({}, FORMER),
    201: async (ask) => ask(of(await member(FORMER))),
    202: async (ask) => {
      const former = await member(FORMER);
      return unanswered(former, () => ask(of(former)));
    },
    'unpriced-tier': async (ask) => ask(of(await member({ ...FORMER, receiptTierName: 'Gold:v1' }))),
    'already-active': async (ask) => ask(of(await member())),
    'membership-ended': async (ask) => ask({ user_id: (await on.user()).userId }),
    'attempt-open': async (ask) => {
      const former = await member(FORMER);
      await unanswered(former, () => ask(of(former)));
      await on.desk.happens(former.userId, 'CANCEL');
      return ask(of(former));
    },
    // Asked for again when the janitor has given back what was paid beside a membership that went on.
    'reactivation-undone': async (ask) => {
      const leaving = await member({ ...UPCOMING, ...LEAVING });
      const key = randomUUID();
      on.dieAt('charged', leaving);
      await ask(of(leaving), { key });
      const own = await on.newest(leaving, 'CANCELLED');
      await rewritten(leaving, { initial_run_date: { S: '2027-01-01T08:00:00Z' } });
      await on.settle(own);
      return ask(of(leaving), { key });
    },
  },
  'POST /v1/{user_id}/subscriptions/upgrade': {
    ...anyCharge(PLUS, UPCOMING),
    200: async (ask) => ask(of(await member(UPCOMING)), { body: PLUS }),
    202: async (ask) => {
      const upcoming = await member(UPCOMING);
      return unanswered(upcoming, () => ask(of(upcoming), { body: PLUS }));
    },
    'unpriced-tier': async (ask) => ask(of(await member({ ...UPCOMING, term: 'YEARLY' })), { body: PLUS }),
    'no-upcoming-period': async (ask) => ask(of(await member({ billingStatus: 'PAUSED' })), { body: PLUS }),
    'pending-cancellation': async (ask) => ask(of(await member({ ...UPCOMING, ...LEAVING })), { body: PLUS }),
    'not-an-upgrade': async (ask) => ask(of(await member(UPCOMING)), { body: { ...PLUS, ...BASE } }),
    'attempt-open': async (ask) => ask(of(await hanging()), { body: PLUS }),
    'too-far-ahead': async (ask) => ask(of(await member({ billingDate: inDays(66) })), { body: PLUS }),
    'amount-mismatch': async (ask) => ask(of(await member(UPCOMING)), { body: { ...PLUS, amount: '5.82' } }),
    'upgrade-undone': async (ask) => {
      const upcoming = await member(UPCOMING);
      on.meanwhile('charged', upcoming, () => on.desk.happens(upcoming.userId, 'CLOSEACCOUNT'));
      return ask(of(upcoming), { body: PLUS });
    },
  },
  'POST /v1/{user_id}/subscriptions/{subscription_id}/refund': {
    ...anyChange({}),
    202: async (ask) => ask(of(await tried({}, 'collected')), { body: { reason: 'sorry' } }),
    'not-found': async (ask) => ask({ ...of(await member()), subscription_id: 'nothing' }),
    'not-refundable': async (ask) => ask(of(await member())),
    // The service beside ours has written that the record is paid, and our own charge has no answer yet.
    'attempt-open': async (ask) =>
      ask(of(await rewritten(await hanging(), { ...COMPLETED, transaction_id: { S: 'theirs' } }))),
    frozen: async (ask) => ask(of(await frozen(await tried({}, 'collected')))),
    // The row says that it was paid; the bank knows better, and gives nothing back.
    'refund-declined': async (ask) => ask(of(await rewritten(await tried(DECLINING, 'declined'), COMPLETED))),
  },
};

const ofFloat = ({ userId, floatId }: Pick<Float, 'userId' | 'floatId'>): Places => ({
  user_id: userId,
  float_id: floatId,
});
const NO_FLOAT = { user_id: 'nobody', float_id: 'nothing' };
const ADVANCE = { amount: '50.00', due_date: '2026-11-30' };
const NO_ACCOUNT = { account: null, has_debit_card: false };

const aFloat = (settings?: object): Promise<Float> => floats.float(settings);

const floatThatIs = (status: FloatStatus): Promise<Float> => floats.standing(status);

async function brokenFloat(): Promise<Float> {
  const float = await aFloat();
  await floats.rewrite(float, { amount: { S: 'much' } });
  return float;
}

/** Somebody else works on the floats of this member. */
async function busyWithFloats<R extends Pick<Ids, 'userId'>>(record: R): Promise<R> {
  await on.here.dependencies.locks.acquire(floatLockKey(record.userId));
  return record;
}

async function hangingFloat(): Promise<Float> {
  const float = await aFloat();
  const verdict = await unanswered(float, () => floats.collect('SUPPORT', float));
  expect(verdict).toMatchObject({ verdict: 'unknown' });
  return float;
}

async function bypassed(fields: Item = {}): Promise<Places> {
  const { client, tables } = on.here.store;
  const userId = newUser();
  const row = { user_id: { S: userId }, expiration_date: { S: '2026-11-16' }, reason: { S: 'a test' } };
  await client.send(new PutItemCommand({ TableName: tables.bypass, Item: { ...row, ...fields } }));
  return { user_id: userId };
}

const ofOneFloat: Cases = {
  200: async (ask) => ask(ofFloat(await aFloat())),
  'not-found': async (ask) => ask({ ...ofFloat(await aFloat()), user_id: (await member()).userId }),
  'malformed-record': async (ask) => ask(ofFloat(await brokenFloat())),
};

const PAYBACK = 'POST /v1/{user_id}/floats/{float_id}/payback';
const TO_RETRY = { status: 'RETRY', reason: 'a test' };

const FLOATS: Readonly<Record<string, Cases>> = {
  'POST /v1/{user_id}/floats': {
    201: async (ask) => ask(of(await member()), { body: ADVANCE }),
    'user-busy': async (ask) => ask(of(await busyWithFloats(await member())), { body: ADVANCE }),
    'not-owned': async (ask) => ask(of(await member()), { body: ADVANCE, through: theirs }),
    'malformed-record': async (ask) => ask(of(await broken()), { body: ADVANCE }),
    'no-active-subscription': (ask) => ask(NOBODY, { body: ADVANCE }),
    'over-limit': async (ask) => ask(of(await member()), { body: { ...ADVANCE, amount: '250.01' } }),
    'open-float': async (ask) => {
      const record = await member();
      expect(await ask(of(record), { body: ADVANCE })).toMatchObject({ status: 201 });
      return ask(of(record), { body: ADVANCE });
    },
    'requirements-not-met': async (ask) => ask(of(await member({}, NO_ACCOUNT)), { body: ADVANCE }),
    'request-conflict': async (ask) =>
      ask(of(await member()), { body: { ...ADVANCE, float_id: (await aFloat()).floatId } }),
  },
  'PATCH /v1/{user_id}/floats/{float_id}': {
    200: async (ask) => ask(ofFloat(await aFloat()), { body: TO_RETRY }),
    'user-busy': async (ask) => ask(ofFloat(await busyWithFloats(await aFloat())), { body: TO_RETRY }),
    'not-owned': async (ask) => ask(ofFloat(await aFloat()), { body: TO_RETRY, through: theirs }),
    'malformed-record': async (ask) => ask(ofFloat(await brokenFloat()), { body: TO_RETRY }),
    'not-found': (ask) => ask(NO_FLOAT, { body: TO_RETRY }),
    'attempt-open': async (ask) => ask(ofFloat(await hangingFloat()), { body: TO_RETRY }),
    'illegal-transition': async (ask) => ask(ofFloat(await floatThatIs('ACHSENT')), { body: TO_RETRY }),
  },
  'GET /v1/{user_id}/floats': { 200: async (ask) => ask(ofFloat(await aFloat())) },
  'GET /v1/{user_id}/floats/active': { ...ofOneFloat, 'not-found': (ask) => ask(NO_FLOAT) },
  'GET /v1/{user_id}/floats/{float_id}': ofOneFloat,
  'GET /v1/{user_id}/floats/{float_id}/collection-history': {
    ...ofOneFloat,
    200: async (ask) => {
      const float = await aFloat({ has_debit_card: false });
      expect(await floats.collect('TODAY6AM', float)).toMatchObject({ verdict: 'sent' });
      return ask(ofFloat(float));
    },
  },
  [PAYBACK]: {
    200: async (ask) => ask(ofFloat(await aFloat()), { query: '?wait=30' }),
    202: async (ask) => ask(ofFloat(await aFloat())),
    'not-found': (ask) => ask(NO_FLOAT),
    'not-payable': async (ask) => ask(ofFloat(await floatThatIs('ACHSENT'))),
    'attempt-open': async (ask) => ask(ofFloat(await hangingFloat())),
    frozen: async (ask) => ask(ofFloat(await frozen(await aFloat()))),
    'no-debit-card': async (ask) => ask(ofFloat(await aFloat({ has_debit_card: false }))),
    'not-owned': async (ask) => ask(ofFloat(await aFloat()), { through: theirs }),
    'malformed-record': async (ask) => ask(ofFloat(await brokenFloat())),
    'request-conflict': async (ask) => {
      const key = randomUUID();
      expect(await ask(ofFloat(await aFloat()), { key })).toMatchObject({ status: 202 });
      await keyExpires(key);
      return ask(ofFloat(await aFloat()), { key });
    },
  },
  'POST /v1/{user_id}/bypass': {
    201: (ask) => ask(NOBODY, { body: { expiration_date: '2026-11-16', reason: 'a test' } }),
  },
  'GET /v1/{user_id}/bypass': {
    200: async (ask) => ask(await bypassed()),
    'not-found': (ask) => ask({ user_id: newUser() }),
    'malformed-record': async (ask) => ask(await bypassed({ expiration_date: { S: 'soon' } })),
  },
  'DELETE /v1/{user_id}/bypass': {
    200: async (ask) => ask(await bypassed()),
    'not-found': (ask) => ask({ user_id: newUser() }),
  },
};

const ofRecurring = ({ accountId, recurringId }: RecurringRef): Places => ({
  account_id: accountId,
  subscription_id: recurringId,
});
const NO_RECURRING = { account_id: 'nobody', subscription_id: 'nothing' };

const aRecurring = (fields: Partial<RecurringSubscription> = {}): Promise<RecurringSubscription> =>
  recurring.subscription({}, fields);

async function rewriteRecurring(key: string, { accountId }: Pick<RecurringRef, 'accountId'>): Promise<void> {
  const { client, tables } = on.here.store;
  const Key = { PK: { S: `ACC#${accountId}` }, SK: { S: key } };
  const input = { TableName: tables.recurring, Key };
  const { Item } = await client.send(new GetItemCommand(input));
  const broken = { ...Item!, PaymentAmount: { S: 'much' }, ProcessedAmount: { S: 'much' } };
  await client.send(new PutItemCommand({ TableName: tables.recurring, Item: broken }));
}

async function brokenRecurring(): Promise<Places> {
  const one = await aRecurring();
  await rewriteRecurring(`SUB#${one.recurringId}#SKU#${one.sku}`, one);
  return ofRecurring(one);
}

async function busyRecurring(): Promise<Places> {
  const one = await aRecurring();
  await on.here.dependencies.locks.acquire(recurringLockKey(one.accountId));
  return ofRecurring(one);
}

/** Charged, and nobody knows what became of it. */
async function hangingRecurring(): Promise<Places> {
  const one = await aRecurring();
  const ids = { userId: one.accountId as unknown as UserId, subscriptionId: '' as never };
  expect(await unanswered(ids, () => recurring.collect(one))).toMatchObject({ verdict: 'unknown' });
  return ofRecurring(one);
}

async function paidRecurring(): Promise<RecurringSubscription> {
  const one = await aRecurring();
  expect(await recurring.collect(one)).toMatchObject({ verdict: 'collected' });
  return one;
}

const WISH = {
  sku: 'sku-1',
  email: 'someone@example.com',
  payment_amount: '9.99',
  payment_token: 'tok_9f3c2a10',
  payment_day: 31,
};
const account = async (settings: object = {}): Promise<Places> => ({
  account_id: await recurring.account(settings),
});

/** What whoever changes a recurring payment may meet, whatever is asked for. */
const anyRecurringChange = (body: object): Cases => ({
  'user-busy': async (ask) => ask(await busyRecurring(), { body }),
  'not-owned': async (ask) => ask(ofRecurring(await aRecurring()), { body, through: theirs }),
  'not-found': (ask) => ask(NO_RECURRING, { body }),
  'malformed-record': async (ask) => ask(await brokenRecurring(), { body }),
  'subscription-over': async (ask) =>
    ask(ofRecurring(await aRecurring({ status: 'FAILED', nextPaymentDate: null })), { body }),
});

const OF_RECURRING = '/v1/accounts/{account_id}/recurring';

const RECURRING: Readonly<Record<string, Cases>> = {
  [`POST ${OF_RECURRING}`]: {
    201: async (ask) => ask(await account(), { body: WISH }),
    'user-busy': async (ask) => ask(await busyRecurring(), { body: WISH }),
    'not-owned': async (ask) => ask(await account(), { body: WISH, through: theirs }),
    'not-found': (ask) => ask(NO_RECURRING, { body: WISH }),
    'user-not-eligible': async (ask) => ask(await account({ status: 'BANNED' }), { body: WISH }),
    'request-conflict': async (ask) => {
      const [key, places] = [randomUUID(), await account()];
      expect(await ask(places, { body: WISH, key })).toMatchObject({ status: 201 });
      await keyExpires(key);
      return ask(places, { body: { ...WISH, payment_amount: '1.00' }, key });
    },
    'malformed-record': async (ask) => {
      const [key, places] = [randomUUID(), await account()];
      const { body } = await ask(places, { body: WISH, key });
      const { subscription_id: id } = body as { subscription_id: string };
      const accountId = places['account_id'] as RecurringRef['accountId'];
      await rewriteRecurring(`SUB#${id}#SKU#sku-1`, { accountId });
      await keyExpires(key);
      return ask(places, { body: WISH, key });
    },
  },
  [`PATCH ${OF_RECURRING}/{subscription_id}`]: {
    ...anyRecurringChange({ sku: 'sku-2' }),
    200: async (ask) => ask(ofRecurring(await aRecurring()), { body: { payment_day: 31, sku: 'sku-2' } }),
    'attempt-open': async (ask) => ask(await hangingRecurring(), { body: { sku: 'sku-2' } }),
    'payment-owed': async (ask) =>
      ask(ofRecurring(await aRecurring({ status: 'PAST_DUE' })), { body: { payment_amount: '1.00' } }),
  },
  [`POST ${OF_RECURRING}/{subscription_id}/cancel`]: {
    ...anyRecurringChange({}),
    200: async (ask) => ask(await hangingRecurring()),
  },
  [`GET ${OF_RECURRING}`]: { 200: async (ask) => ask(await brokenRecurring()) },
  [`GET ${OF_RECURRING}/{subscription_id}`]: {
    200: async (ask) => ask(ofRecurring(await aRecurring())),
    'not-found': (ask) => ask(NO_RECURRING),
    'malformed-record': async (ask) => ask(await brokenRecurring()),
  },
  [`GET ${OF_RECURRING}/{subscription_id}/explain`]: {
    200: async (ask) => ask(ofRecurring(await paidRecurring())),
    'not-found': (ask) => ask(NO_RECURRING),
  },
  [`GET ${OF_RECURRING}/receipts`]: { 200: async (ask) => ask(ofRecurring(await paidRecurring())) },
  [`GET ${OF_RECURRING}/receipts/{receipt_number}`]: {
    200: async (ask) => ask({ ...ofRecurring(await paidRecurring()), receipt_number: '0000000001' }),
    'not-found': (ask) => ask({ ...NO_RECURRING, receipt_number: '1' }),
    'malformed-record': async (ask) => {
      const one = await paidRecurring();
      await rewriteRecurring('REC#00000000012026-11-16T08:00:00.000Z#SKU#sku-1', one);
      return ask({ ...ofRecurring(one), receipt_number: '1' });
    },
  },
};

/** Finds nothing to do: what is due here belongs to the other cases. */
const IDLE_RUN = { process: 'stale', as_of: '2026-11-16T07:00:00Z' };
const IDLE_RUN_ID = { run_id: 'stale-20261116T070000Z' };
const NO_RUN_ID = { run_id: 'retry-20200101T000000Z' };

const afterRun: Provoke = async (ask) => {
  expect(await asking('POST /ops/runs')({}, { body: IDLE_RUN })).toMatchObject({ status: 202 });
  return ask(IDLE_RUN_ID);
};

const ofRun: Cases = { 200: afterRun, 'not-found': (ask) => ask(NO_RUN_ID) };

/** An event in quarantine that could be read. */
async function quarantined(): Promise<{ readonly user: UserId; readonly places: Places }> {
  const user = newUser();
  const event = anEvent(user, 1);
  await inbox.inbox.store([event]);
  await inbox.inbox.quarantine(event, 'broken', NOW);
  return { user, places: { quarantine_id: `users.${user}.1` } };
}

/** The same of a record that was kept as it came. */
async function quarantinedRaw(user: UserId, text: string): Promise<Places> {
  const position = { stream: 'users', shardId: user, sequence: '1', userId: user } as const;
  await inbox.inbox.quarantineRaw(position, Buffer.from(text), 'broken', NOW);
  return { quarantine_id: `users.${user}.1` };
}

async function applied(user: UserId, identity: string): Promise<void> {
  const later = anEvent(user, 2, { identity });
  await inbox.inbox.store([later]);
  await inbox.inbox.saveApplied(later, NOTHING, NOW);
}

const OPERATIONS: Readonly<Record<string, Cases>> = {
  'POST /ops/runs': { 202: (ask) => ask({}, { body: IDLE_RUN }) },
  'GET /ops/runs': { 200: afterRun },
  'GET /ops/runs/{run_id}': ofRun,
  'GET /ops/runs/{run_id}/verdicts': ofRun,
  'POST /ops/batch': {
    202: async (ask) => {
      const { subscriptionId } = await member({ billingStatus: 'ERROR' });
      return ask({}, { body: { subscription_ids: [subscriptionId, 'nothing'] } });
    },
  },
  'GET /ops/freezes': {
    200: async (ask) => {
      await frozen(await member());
      return ask();
    },
  },
  'POST /ops/freezes': { 201: (ask) => ask({}, { body: { target: 'user:nobody', reason: 'a test' } }) },
  'DELETE /ops/freezes/{target}': {
    200: async (ask) => ask({ target: `user:${(await frozen(await member())).userId}` }),
    'not-found': async (ask) => ask({ target: `user:${(await member()).userId}` }),
  },
  'GET /ops/quarantine': {
    200: async (ask) => {
      await quarantined();
      return ask();
    },
  },
  'POST /ops/quarantine/{quarantine_id}/replay': {
    200: async (ask) => ask((await quarantined()).places),
    'not-found': (ask) => ask({ quarantine_id: 'nothing' }),
    'user-busy': async (ask) => {
      const { user, places } = await quarantined();
      await on.here.store.takeLock(user);
      return ask(places);
    },
    overtaken: async (ask) => {
      const { user, places } = await quarantined();
      await applied(user, randomUUID());
      return ask(places);
    },
    unreadable: async (ask) => ask(await quarantinedRaw(newUser(), 'no event')),
    'dealt-with': async (ask) => {
      const [user, id] = [newUser(), randomUUID()];
      const event = { id, type: 'CANCEL', source: 'users', data: { user_id: user } };
      const places = await quarantinedRaw(user, JSON.stringify(event));
      await applied(user, id);
      return ask(places, { body: { force: true } });
    },
  },
  'POST /ops/quarantine/{quarantine_id}/drop': {
    200: async (ask) => ask((await quarantined()).places, { body: { reason: 'the member agreed' } }),
    'not-found': (ask) => ask({ quarantine_id: 'nothing' }, { body: { reason: 'the member agreed' } }),
  },
  'GET /health/live': { 200: (ask) => ask() },
  'GET /health/ready': { 200: (ask) => ask(), 503: (ask) => ask({}, { through: lost }) },
  'GET /metrics': { 200: (ask) => ask() },
  'POST /ops/forecast': {
    200: (ask) => ask({}, { body: { process: 'retry' } }),
    202: () => longForecast,
  },
};

const SUBSCRIPTIONS = '/v1/apps/{app_id}/owners/{owner_type}/{owner_id}/subscriptions';
const CHECKOUT = { sku: 'pro', product_id: 'product-1', gateway: 'lemonsqueezy' };

const anOwner = (): Places => ({ app_id: 'app', owner_type: 'user', owner_id: `owner-${randomUUID()}` });

/** An owner who has begun a checkout. */
async function begun(): Promise<Places> {
  const owner = anOwner();
  const { status, body } = await asking(`POST ${SUBSCRIPTIONS}`)(owner, { body: CHECKOUT });
  expect(status).toBe(201);
  return { ...owner, subscription_id: (body as { id: string }).id };
}

const bought = ({ subscription_id: id }: Places): Post =>
  lemonSqueezy('subscription_created', {
    ref: String(Math.floor(Math.random() * 1e12)),
    at: '2026-11-01T10:00:00.000000Z',
    custom: { subscription_id: id! },
  });

const delivered = (ask: Ask, { body, headers }: Post, sent: Sent = {}): Promise<Reply> =>
  ask({}, { body, headers, ...sent });

/** An event that was received, whatever it does. */
async function gatewayEvent(): Promise<Places> {
  const reply = await delivered(asking('POST /webhooks/lemonsqueezy'), bought(await begun()));
  return { event_id: (reply.body as { event_id: string }).event_id };
}

const webhook = (post: () => Promise<Post>): Cases => ({
  200: async (ask) => delivered(ask, await post()),
  'bad-signature': async (ask) => delivered(ask, { ...(await post()), body: '{}' }),
  'gateway-off': async (ask) => delivered(ask, await post(), { through: theirs }),
});

const GATEWAYS: Readonly<Record<string, Cases>> = {
  [`GET ${SUBSCRIPTIONS}`]: { 200: async (ask) => ask(await begun()) },
  [`POST ${SUBSCRIPTIONS}`]: {
    200: async (ask) => ask(await begun(), { body: CHECKOUT }),
    201: (ask) => ask(anOwner(), { body: CHECKOUT }),
    'already-subscribed': async (ask) => {
      const owner = await begun();
      await delivered(asking('POST /webhooks/lemonsqueezy'), bought(owner));
      return eventually('it is bought', async () => {
        const reply = await ask(owner, { body: CHECKOUT });
        return reply.status === 409 && reply;
      });
    },
  },
  [`GET ${SUBSCRIPTIONS}/entitled`]: { 200: async (ask) => ask(await begun(), { query: '?sku=pro' }) },
  [`GET ${SUBSCRIPTIONS}/{subscription_id}`]: {
    200: async (ask) => ask(await begun()),
    'not-found': async (ask) => ask({ ...(await begun()), owner_type: 'org' }),
  },
  [`GET ${SUBSCRIPTIONS}/{subscription_id}/events`]: {
    200: async (ask) => ask(await begun()),
    'not-found': async (ask) => ask({ ...(await begun()), owner_id: 'another' }),
  },
  'GET /ops/gateway-collisions': { 200: (ask) => ask() },
  'GET /ops/gateway-events': { 200: (ask) => ask({}, { query: '?day=2026-11-16' }) },
  'GET /ops/gateway-events/{event_id}': {
    200: async (ask) => ask(await gatewayEvent()),
    'not-found': (ask) => ask({ event_id: 'nothing' }),
  },
  'POST /ops/gateway-events/{event_id}/replay': {
    202: async (ask) => ask(await gatewayEvent()),
    'not-found': (ask) => ask({ event_id: 'lemonsqueezy.1.nothing' }),
  },
  'POST /webhooks/lemonsqueezy': webhook(async () => bought(await begun())),
  'POST /webhooks/apple': webhook(async () =>
    applePost(appleBody(chain, 'TEST', { ref: '1', at: '2026-11-01T10:00:00Z' })),
  ),
};

const CASES = {
  ...SIGNALS,
  ...PAYMENTS,
  ...RECORDS,
  ...CHANGES,
  ...CHARGES,
  ...FLOATS,
  ...RECURRING,
  ...GATEWAYS,
  ...OPERATIONS,
};

const pairOf = ({ operation, answer }: Pick<DeclaredAnswer, 'operation' | 'answer'>): string =>
  `${operation} → ${answer}`;

it('every answer that is declared is provoked, and nothing else', () => {
  const provoked = Object.entries(CASES).flatMap(([operation, cases]) =>
    Object.keys(cases).map((answer) => pairOf({ operation, answer })),
  );
  expect(provoked.toSorted()).toEqual(declared.map(pairOf).toSorted());
});

describe.each(Object.entries(CASES))('%s', (operation, cases) => {
  it.each(Object.entries(cases))('answers %s', async (answer, provoke) => {
    const reply = await provoke(asking(operation));
    const promised = declared.find((each) => pairOf(each) === pairOf({ operation, answer }))!;
    expect(reply, JSON.stringify(reply.body)).toMatchObject({
      status: promised.status,
      ...(isProblemCode(answer) ? { body: { code: answer, status: promised.status } } : {}),
    });
    expect(reply.headers.get('content-type')).toContain(promised.contentType);
    expect(promised.misfit(reply)).toBe('');
  });
});
