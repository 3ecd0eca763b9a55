import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UserId } from '../../src/domain/subscription.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import type { ApiClient } from '../support/api.ts';
import { API_TOKENS, TOKENS, caller } from '../support/api.ts';
import type { EventStreamBench } from '../support/event-stream.ts';
import { eventStream } from '../support/event-stream.ts';
import type { InboxDesk } from '../support/inbox-desk.ts';
import { inboxDesk } from '../support/inbox-desk.ts';
import type { Pipeline } from '../support/pipeline.ts';
import { pipeline } from '../support/pipeline.ts';
import { tellsMask } from '../support/masks.ts';
import { eventually } from '../support/processes.ts';
import type { RoleName, RoleProcess } from '../support/role-process.ts';
import { roleProcess } from '../support/role-process.ts';
import { sharedStack } from '../support/stack.ts';

/** Whatever of these stands in a log line tells on somebody. */
const SECRETS = {
  name: 'Zebulonia',
  email: 'quetzalcoatlus',
  wrongToken: 'a-token-that-nobody-has-given',
  wrongPassword: 'what-somebody-typed-into-the-form',
  paymentsToken: 'the-token-of-the-payments-service',
  accountsToken: 'the-token-of-the-transactions-service',
  noticesToken: 'the-token-of-the-notifications-service',
  ...TOKENS,
};
const EMAIL = `${SECRETS.email}@example.com`;
const MASKS = ['8317', '8329', '8353', '8363'] as const;
const [CARD_MASK, ACCOUNT_MASK, DECLINED_MASK, POOR_MASK] = MASKS;
/** What people write where something else belongs. */
const GOSSIP = `${SECRETS.name} <${EMAIL}> ****${CARD_MASK}`;

const ROLES: readonly RoleName[] = ['scheduler', 'workers', 'bridges', 'api', 'dashboard'];

let system: Pipeline;
let users: EventStreamBench;
let payments: EventStreamBench;
let processes: Record<RoleName, RoleProcess>;
let call: ApiClient['call'];
let quarantine: InboxDesk['quarantine'];

beforeAll(async () => {
  [system, users, payments] = await Promise.all([pipeline(), eventStream(1), eventStream(1)]);
  quarantine = inboxDesk(system.here.store.client, system.here.store.tables).quarantine;
  const env = {
    ...system.environment,
    LOG_LEVEL: 'trace',
    API_TOKENS,
    PORT: '0',
    DASHBOARD_PORT: '0',
    AWS_ENDPOINT_URL_KINESIS: sharedStack().kinesisUrl,
    USERS_STREAM: users.name,
    PAYMENTS_STREAM: payments.name,
    KINESIS_START: 'TRIM_HORIZON',
    PAYMENTS_TOKEN: SECRETS.paymentsToken,
    TXN_TOKEN: SECRETS.accountsToken,
    NOTIFICATIONS_TOKEN: SECRETS.noticesToken,
  };
  const started = ROLES.map(async (role) => [role, await roleProcess(role, env)] as const);
  processes = Object.fromEntries(await Promise.all(started)) as Record<RoleName, RoleProcess>;
  call = caller(processes.api.url);
});
afterAll(async () => {
  await Promise.all(Object.values(processes).map((one) => one.kill()));
  users.close();
  payments.close();
  await system.close();
});

const member = (mask: string, settings: object = {}): Promise<StoredSubscription> =>
  system.here.member({ email: EMAIL, account: { mask }, ...settings });

const becomes = (record: StoredSubscription, status: string): Promise<true> =>
  eventually(`the record is ${status}`, async () => (await system.here.row(record)).billingStatus === status);

const pathOf = ({ userId, subscriptionId }: StoredSubscription, act: string): string =>
  `/v1/${userId}/subscriptions/${subscriptionId}/${act}`;

async function run(process: string): Promise<void> {
  const { status, body } = await call('POST', '/ops/runs', { body: { process } });
  expect([status, body]).toEqual([202, expect.anything()]);
  const { run_id: id } = body as { run_id: string };
  await eventually('the run is over', async () => {
    const report = (await call('GET', `/ops/runs/${id}`)).body as { status: string };
    return report.status !== 'running';
  });
}

const event = (type: string, userId: UserId, data: object): { key: string; data: string } => ({
  key: userId,
  data: JSON.stringify({ id: randomUUID(), type, source: 'test', data: { user_id: userId, ...data } }),
});

const quarantined = (count: number): Promise<true> =>
  eventually(`${count} are in quarantine`, async () => {
    const { items } = await quarantine.list(null);
    return items.length >= count;
  });

/** Signs in, looks around, and signs out. Gives what the browser was told to keep. */
async function visitDashboard({ userId }: StoredSubscription): Promise<string> {
  const { url } = processes.dashboard;
  const signIn = (token: string, name = 'operator-name'): Promise<Response> =>
    fetch(`${url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url },
      body: new URLSearchParams({ name, token }),
    });
  expect((await signIn(SECRETS.wrongPassword)).status).toBeGreaterThanOrEqual(400);
  expect((await signIn(SECRETS.wrongPassword, GOSSIP)).status).toBeGreaterThanOrEqual(400);
  const signedIn = await signIn(TOKENS.operator);
  expect(signedIn.status).toBe(303);
  const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
  const pages = ['/', `/users/${userId}`, '/quarantine', `/users?q=${encodeURIComponent(GOSSIP)}`];
  for (const page of [...pages, `/${encodeURIComponent(GOSSIP)}`, '/queues'])
    expect((await fetch(url + page, { headers: { cookie } })).status).toBeLessThan(500);
  await fetch(`${url}/sign-out`, { method: 'POST', headers: { cookie, origin: url }, redirect: 'manual' });
  await fetch(`${url}/`, { headers: { cookie: `${cookie}-worn-out` } });
  return cookie.slice(cookie.indexOf('=') + 1);
}

async function gossipToTheApi(record: StoredSubscription): Promise<void> {
  const told = encodeURIComponent(GOSSIP);
  const bearer = { authorization: `Bearer ${SECRETS.wrongToken}` };
  const replies = [
    await call('GET', `/v1/${record.userId}/subscriptions/current`, { as: null, headers: bearer }),
    await call('GET', `/v1/${told}/subscriptions/current?email=${told}`),
    await call('GET', `/${told}`),
    await call('POST', pathOf(record, 'refund'), { body: { reason: 7, [GOSSIP]: GOSSIP } }),
    await call('POST', pathOf(record, 'refund'), { body: `{"reason": "${GOSSIP}` }),
    await call('POST', pathOf(record, 'pay'), {
      headers: { 'idempotency-key': GOSSIP, 'x-request-id': EMAIL, cookie: `session=${SECRETS.wrongToken}` },
    }),
  ];
  for (const { status } of replies) expect([400, 401, 404, 409]).toContain(status);
}

function leaks(text: string, cookie: string): string[] {
  const secrets = [...Object.values(SECRETS), cookie, encodeURIComponent(GOSSIP)];
  const lines = text.split('\n');
  return lines.filter(
    (line) => secrets.some((secret) => line.includes(secret)) || MASKS.some((mask) => tellsMask(line, mask)),
  );
}

it('what all roles log over a day tells of ids, and of nobody’s name, mask, email, token or cookie', async () => {
  const payer = await member(CARD_MASK);
  const byAccount = await member(ACCOUNT_MASK, { has_debit_card: false });
  const declined = await member(DECLINED_MASK, { pinless: { mode: 'decline', code: '05' } });
  const poor = await member(POOR_MASK, { balance: { amount: '0.10' } });
  await run('scheduled');
  await becomes(payer, 'COMPLETED');
  await becomes(byAccount, 'ACHSENT');

  const later = await member(CARD_MASK);
  expect(await call('POST', `${pathOf(later, 'pay')}?wait=30`)).toMatchObject({ status: 200 });
  expect((await call('POST', `${pathOf(declined, 'pay')}?wait=30`)).status).toBeLessThan(500);
  const reason = { body: { reason: GOSSIP } };
  expect(await call('POST', pathOf(payer, 'refund'), reason)).toMatchObject({ status: 202 });
  await gossipToTheApi(payer);

  const sent = await system.here.row(byAccount);
  const about = { email: EMAIL, first_name: SECRETS.name, account_mask: ACCOUNT_MASK, address: GOSSIP };
  await payments.put([
    event('SUBSCRIPTION_RETURNED', sent.userId, {
      confirmation_id: sent.transactionId,
      subscription_id: sent.subscriptionId,
      status: 'FAILED',
      amount: '4.99',
      return_code: 'R01',
      error_message: GOSSIP,
      ...about,
    }),
    event('SUBSCRIPTION_COMPLETED', poor.userId, { confirmation_id: 7, amount: GOSSIP, status: GOSSIP }),
  ]);
  await users.put([
    event('CANCEL', later.userId, about),
    event('SUB_PAUSED', poor.userId, { ...about, pause_duration_months: GOSSIP }),
    { key: poor.userId, data: GOSSIP },
    { key: poor.userId, data: JSON.stringify({ id: 7, type: 'CANCEL', data: GOSSIP }) },
  ]);
  await eventually('the entry has come back', async () => {
    const { billingStatus } = await system.here.row(byAccount);
    return billingStatus !== 'ACHSENT';
  });
  await quarantined(3);
  const cookie = await visitDashboard(poor);
  expect(cookie.length).toBeGreaterThan(20);

  const ended = await Promise.all(ROLES.map((role) => processes[role].stop()));
  expect(ended).toEqual(ROLES.map(() => 0));
  for (const role of ROLES) expect([role, leaks(processes[role].output(), cookie)]).toEqual([role, []]);
  // They did speak, of all that.
  for (const role of ROLES) expect(processes[role].output()).toContain('stopped');
  for (const { userId } of [payer, byAccount, declined, poor])
    expect(processes.workers.output()).toContain(userId);
  expect(processes.api.output()).toContain('/v1/{user_id}/subscriptions/{subscription_id}/refund');
  expect(processes.bridges.output()).toContain('shardId-');
});
