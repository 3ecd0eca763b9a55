import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis } from '../../../queues/connection.ts';
import { QUEUE_GROUPS } from '../../../queues/queue-names.ts';
import { QueueSet } from '../../../queues/queue-set.ts';
import { BatchReader } from '../../../src/adapters/dynamodb/batch-reader.ts';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { DynamoPipeline } from '../../../src/adapters/dynamodb/pipeline.ts';
import { DynamoRequests } from '../../../src/adapters/dynamodb/requests.ts';
import { DynamoRuns } from '../../../src/adapters/dynamodb/runs.ts';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { DynamoSeeder } from '../../../src/adapters/dynamodb/seeder.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { startRun } from '../../../src/app/run-collections.ts';
import type { FloatLife } from '../../../src/demo/float-life.ts';
import type { FloatSituation } from '../../../src/demo/floats.ts';
import { demoFloat } from '../../../src/demo/floats.ts';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import { formatInstant, instantFromMs } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import type { SubscriptionId, UserId } from '../../../src/domain/subscription.ts';
import type { Verdict } from '../../../src/domain/verdict.ts';
import type { Attempt } from '../../../src/ports/pipeline.ts';
import type { Run } from '../../../src/ports/runs.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { NO_SERVICES } from '../../support/api.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Dashboard, Page } from '../../support/dashboard.ts';
import { dashboard, isReady } from '../../support/dashboard.ts';
import type { InboxDesk } from '../../support/inbox-desk.ts';
import { NOW, anEvent, inboxDesk, newUser } from '../../support/inbox-desk.ts';
import { eventually } from '../../support/processes.ts';
import { at, subscription } from '../../support/records.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import { sharedStack } from '../../support/stack.ts';

let store: BillingStore;
let redis: PrivateRedis;
let here: Dashboard;
let desk: InboxDesk;
let queues: QueueSet;
let freezes: DynamoFreezes;
let runs: DynamoRuns;
let pipeline: DynamoPipeline;
let viewer: string;
let operator: string;

beforeAll(async () => {
  [store, redis] = await Promise.all([
    billingStore({ withFloats: true, withRecurring: true }),
    privateRedis(),
  ]);
  desk = inboxDesk(store.client, store.tables);
  const table = store.tables.pipeline;
  const reader = new BatchReader({ client: store.client, table, timer: systemTimer, random: Math.random });
  freezes = new DynamoFreezes({ client: store.client, table, timer: systemTimer });
  runs = new DynamoRuns({ client: store.client, table, reader, log: NO_LOG });
  pipeline = new DynamoPipeline({
    client: store.client,
    table,
    reader,
    timer: systemTimer,
    checkDelaysMs: [300_000],
  });
  queues = new QueueSet(connectRedis({ url: redis.url, whenDown: 'wait', onError: () => undefined }));
  here = await dashboard({
    REDIS_URL: redis.url,
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: store.tables.billing,
    HISTORY_TABLE: store.tables.history,
    LOCKS_TABLE: store.tables.locks,
    PIPELINE_TABLE: table,
    DYNAMO_TABLE: store.tables.floats,
    COLLECTION_HISTORY_TABLE: store.tables.collectionHistory,
    RECURRING_TABLE: store.tables.recurring,
    ...NO_SERVICES,
  });
  await isReady(here);
  [viewer, operator] = await Promise.all([here.signedIn('viewer'), here.signedIn('operator')]);
});
afterAll(async () => {
  await here.close();
  await queues.close();
  await redis.stop();
  await store.drop();
});

const asOperator = (path: string, form: Readonly<Record<string, string>>): Promise<Page> =>
  here.post(path, form, { cookie: operator });
const look = async (path: string, cookie = viewer): Promise<string> =>
  (await here.get(path, { cookie })).text;

/** What a browser would send when the button on the page is pressed. */
function confirmation({ text }: Page): Record<string, string> {
  const [, form = ''] = /<main[\s\S]*?<form method="post"[^>]*>([\s\S]*?)<\/form>/.exec(text) ?? [];
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]));
}

async function memberWithRecord(userId = newUser(), fields = {}) {
  const fence = await store.takeLock(userId);
  const record = await store.subscriptions.add(
    fence,
    subscription({ userId, billingDate: at('2026-10-16T06:00:00Z'), ...fields }),
    await store.context(userId, { cause: 'plan-changed', now: at('2026-10-01T08:00:00Z') }),
  );
  await store.releaseLock(userId);
  return record;
}

describe('freezes', () => {
  it('are asked about, ordered in the name of whoever is signed in, listed and lifted', async () => {
    const form = { scope: 'ach', user_id: '', hours: '2', reason: 'returns & <more>' };
    const question = await asOperator('/freezes', form);
    expect(question.text).toContain('Freeze ach?');
    expect(await freezes.list()).toEqual([]);

    const fields = confirmation(question);
    expect(fields).toMatchObject({ scope: 'ach', hours: '2', confirmed: 'yes' });
    const done = await asOperator('/freezes', { ...form, confirmed: 'yes' });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/freezes?done=frozen']);
    const [order] = await freezes.list();
    expect(order).toMatchObject({
      target: { scope: 'ACH' },
      who: 'operator-name',
      reason: 'returns & <more>',
    });
    expect(order!.until! - order!.at).toBe(7_200_000_000_000n);
    expect(await look('/freezes')).toContain('returns &amp; &lt;more&gt;');
    expect(await look('/')).toContain('Frozen: ach');

    expect((await asOperator('/freezes/lift', { target: 'ach' })).text).toContain('Lift the freeze of ach?');
    const lifted = await asOperator('/freezes/lift', { target: 'ach', confirmed: 'yes' });
    expect(lifted.headers.get('location')).toBe('/freezes?done=lifted');
    expect(await freezes.list()).toEqual([]);
    const again = await asOperator('/freezes/lift', { target: 'ach', confirmed: 'yes' });
    expect(again.headers.get('location')).toBe('/freezes?done=not-frozen');
  });

  it('of a member go back to the member, or to the list where nothing is known of the member', async () => {
    const { userId } = await memberWithRecord();
    const form = (who: string) => ({ scope: 'user', user_id: who, hours: '', reason: 'x', confirmed: 'yes' });
    const known = await asOperator('/freezes', form(userId));
    expect(known.headers.get('location')).toBe(`/users/${userId}?done=frozen`);
    const stranger = newUser();
    const unknown = await asOperator('/freezes', form(stranger));
    const location = unknown.headers.get('location')!;
    expect(await here.get(location, { cookie: viewer })).toMatchObject({
      status: 200,
      text: expect.stringMatching(new RegExp(`Frozen\\. It holds[\\s\\S]*user:${stranger}`)) as string,
    });
    for (const who of [userId, stranger])
      await freezes.unfreeze({ scope: 'user', userId: who }, { who: 'x', at: NOW });
  });

  it.each([
    { scope: 'everything', user_id: '', hours: '', reason: 'x' },
    { scope: 'ach', user_id: '', hours: '-1', reason: 'x' },
    { scope: 'ach', user_id: '', hours: '', reason: ' ' },
    { scope: 'user', user_id: '', hours: '', reason: 'x' },
    { scope: 'user', user_id: 'a b', hours: '', reason: 'x' },
    { scope: 'ach', user_id: 'somebody', hours: '', reason: 'x' },
  ])('are refused when they say nothing clear: %j', async (form) => {
    expect((await asOperator('/freezes', { ...form, confirmed: 'yes' })).status).toBe(400);
    expect(await freezes.list()).toEqual([]);
  });
});

describe('what is unsettled', () => {
  it('is nothing at first', async () => {
    const page = await look('/unsettled');
    expect(page).toContain('Everything has its answer.');
    expect(page).toContain('None.');
  });

  const attemptOn = ({ userId, subscriptionId }: StoredSubscription): Attempt => ({
    attemptId: randomUUID() as AttemptId,
    subscriptionId,
    userId,
    triggerId: 'run-1',
    process: 'INITIAL',
    rail: 'PINLESS',
    amount: cents(499),
    accountId: null,
    description: null,
    insteadOf: null,
    refundOf: null,
    upgrades: null,
    openedAt: at('2026-11-16T08:00:00Z'),
  });

  async function leftOpen() {
    const record = await memberWithRecord();
    const { state } = await pipeline.readBackground({ ...record, triggerId: '', accountId: null });
    const opened = pipeline.open(state, attemptOn(record));
    await desk.commit(opened.writes);
    return { record, opened };
  }

  it('are charges without an answer, all of them, until they have one', async () => {
    // Enough to lie in several parts of the list.
    const open = await Promise.all(Array.from({ length: 12 }, leftOpen));
    const page = await eventually('the index has them', async () => {
      const text = await look('/unsettled');
      return open.every(({ record }) => text.includes(record.subscriptionId)) && text;
    });
    const [first] = open;
    const { userId, subscriptionId } = first!.record;
    expect(page).toContain(`href="/users/${userId}?record=${subscriptionId}"`);
    expect(page).toContain('charge, card');
    expect(page).toContain('$4.99');
    const resolution = {
      status: 'COMPLETED',
      at: at('2026-11-16T08:05:00Z'),
      confirmationId: 'payment-1',
      errorCode: null,
      errorMessage: null,
    } as const;
    for (const { opened } of open) await desk.commit(pipeline.resolve(opened.state, resolution).writes);
    await eventually('all have their answers', async () =>
      (await look('/unsettled')).includes('Everything has its answer.'),
    );
  });

  it.each([
    ['returns that came too late', 'staleReturns', 'Came back', 'R10'],
    ['refunds that were refused', 'refusedRefunds', 'Refused', 'abandoned'],
  ] as const)('are %s, until nobody has to decide about them', async (_, list, when, code) => {
    const { userId, subscriptionId } = await memberWithRecord();
    const confirmationId = `payment-${randomUUID()}`;
    const money = { userId, subscriptionId, confirmationId, code, amount: cents(1234) };
    await desk.commit([pipeline[list].note({ ...money, at: at('2026-11-15T08:00:00Z') })]);
    const page = await eventually('the index has it', async () => {
      const text = await look('/unsettled');
      return text.includes(confirmationId) && text;
    });
    for (const said of [when, code, '$12.34', `href="/users/${userId}?record=${subscriptionId}"`])
      expect(page).toContain(said);
    await desk.commit([pipeline[list].forget(subscriptionId)]);
    await eventually('it is gone', async () => !(await look('/unsettled')).includes(confirmationId));
  });
});

describe('the quarantine', () => {
  async function quarantined(userId: UserId, sequence: number): Promise<string> {
    const event = anEvent(userId, sequence);
    await desk.inbox.store([event]);
    await desk.inbox.quarantine(event, 'broken <b>', NOW);
    return `users.${userId}.${sequence}`;
  }

  it('shows what waits, replays it and hands it to the workers', async () => {
    const userId = newUser();
    const id = await quarantined(userId, 1);
    expect(await look('/quarantine')).toContain('broken &lt;b&gt;');
    expect(await look('/quarantine')).toContain('What it says');
    expect((await look('/quarantine')).replaceAll('<wbr />', '')).toContain(id);
    expect((await asOperator('/quarantine/replay', { id })).text).toContain('Replay this event?');
    expect(await desk.quarantine.get(id)).not.toBeNull();
    const done = await asOperator('/quarantine/replay', { id, confirmed: 'yes' });
    expect(done.headers.get('location')).toBe('/quarantine?done=replayed');
    expect(await desk.quarantine.get(id)).toBeNull();
    expect(await queues.get('membership-events').getJobCountByTypes('waiting', 'active')).toBeGreaterThan(0);
    const gone = await asOperator('/quarantine/replay', { id, confirmed: 'yes' });
    expect(gone.status).toBe(404);
  });

  it('asks once more before it replays out of order', async () => {
    const userId = newUser();
    const id = await quarantined(userId, 1);
    const later = anEvent(userId, 2);
    await desk.inbox.store([later]);
    await desk.inbox.saveApplied(later, { result: 'no-op', reason: 'x', changed: [] }, NOW);
    const question = await asOperator('/quarantine/replay', { id, confirmed: 'yes' });
    expect(question.text).toContain('Replay it out of order?');
    expect(confirmation(question)).toMatchObject({ id, force: 'yes', confirmed: 'yes' });
    const done = await asOperator('/quarantine/replay', { id, force: 'yes', confirmed: 'yes' });
    expect(done.headers.get('location')).toBe('/quarantine?done=replayed');
  });

  it('drops with a reason only', async () => {
    const id = await quarantined(newUser(), 1);
    const question = await asOperator('/quarantine/drop', { id, confirmed: 'yes' });
    expect(question.text).toContain('Drop this event?');
    const done = await asOperator('/quarantine/drop', { id, reason: 'a test event', confirmed: 'yes' });
    expect(done.headers.get('location')).toBe('/quarantine?done=dropped');
    expect(await desk.quarantine.get(id)).toBeNull();
  });
});

describe('a member', () => {
  it('is found by the id of the member or of a record', async () => {
    const { userId, subscriptionId } = await memberWithRecord();
    expect((await here.get(`/users?q=${userId}`, { cookie: viewer })).headers.get('location')).toBe(
      `/users/${userId}`,
    );
    const location = `/users/${userId}?record=${subscriptionId}`;
    const byRecord = () => here.get(`/users?q=${subscriptionId}`, { cookie: viewer });
    await eventually(
      'the index has the record',
      async () => (await byRecord()).headers.get('location') === location,
    );
    expect(await look('/users?q=nobody-at-all')).toContain('Neither a member nor a record');
  });

  it('is found by the id of a record that cannot be read', async () => {
    const { userId, subscriptionId, billingDate } = await memberWithRecord();
    const row = await store.billingRow(userId, formatInstant(billingDate));
    await store.putBillingRow({ ...row, billing_amount: { S: 'much' } });
    const location = `/users/${userId}?record=${subscriptionId}`;
    await eventually('the index has the row', async () => {
      const page = await here.get(`/users?q=${subscriptionId}`, { cookie: viewer });
      return page.headers.get('location') === location;
    });
    expect(await look(location)).toContain('1 row of this member cannot be read');
  });

  it('is shown with records, lock and story', async () => {
    const { userId, subscriptionId } = await memberWithRecord();
    await store.takeLock(userId);
    const text = await look(`/users/${userId}`);
    for (const part of ['SCHEDULED', '$4.99', subscriptionId, 'held', 'first as SCHEDULED'])
      expect(text).toContain(part);
    expect(text).not.toContain('<button class="small">Pay');
    await store.releaseLock(userId);
    const again = await look(`/users/${userId}`, operator);
    expect(again).toContain('free');
    expect(again).toMatch(/Pay…/);
  });

  it('with a nasty id is shown as text', async () => {
    const nasty = `"><script>alert(1)</script>'&${randomUUID().slice(0, 8)}` as UserId;
    await memberWithRecord(nasty);
    const text = await look(`/users/${encodeURIComponent(nasty)}`, operator);
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    const missing = await look(`/users?q=${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
    expect(missing).not.toContain('<img');
    const done = await look(`/freezes?done=${encodeURIComponent('<b>')}`);
    expect(done).not.toContain('<b>');
  });

  it('is charged once, however often the button is pressed', async () => {
    const { userId, subscriptionId } = await memberWithRecord();
    const question = await asOperator(`/users/${userId}/pay`, { record: subscriptionId });
    expect(question.text).toContain('Charge $4.99?');
    const form = confirmation(question);
    const pressed = await Promise.all([1, 2, 3].map(() => asOperator(`/users/${userId}/pay`, form)));
    for (const page of pressed) expect(page.status).toBe(303);
    const request = await new DynamoRequests({ client: store.client, table: store.tables.pipeline }).get(
      form['request']!,
    );
    expect(request).toMatchObject({
      path: 'MANUAL_REPAYMENT',
      subscriptionId,
      by: 'operator-name',
      status: 'accepted',
    });
    const jobs = await queues.get('manual-repayments').getJobs();
    expect(
      jobs.filter(({ data }) => (data as { requestId: string }).requestId === form['request']),
    ).toHaveLength(1);
    expect(await look(pressed[0]!.headers.get('location')!)).toContain('The payment is under way');
  });

  it('is not charged for what cannot be paid', async () => {
    const { userId, subscriptionId } = await memberWithRecord();
    const row = (await store.historyRows(userId))[0]!;
    await store.putBillingRow({ ...row, billing_status: { S: 'COMPLETED' } });
    const form = { record: subscriptionId, request: `console.${randomUUID()}`, confirmed: 'yes' };
    const refused = await asOperator(`/users/${userId}/pay`, form);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('The record is COMPLETED')]);
    const other = await asOperator(`/users/${newUser()}/pay`, form);
    expect(other.status).toBe(409);
  });

  it('is let off a period with a reason, and that is on record', async () => {
    const { userId, subscriptionId } = await memberWithRecord();
    const question = await asOperator(`/users/${userId}/waive`, { record: subscriptionId, confirmed: 'yes' });
    expect(question.text).toContain('Waive $4.99?');
    const form = { record: subscriptionId, reason: 'a goodwill <gesture>', confirmed: 'yes' };
    const done = await asOperator(`/users/${userId}/waive`, form);
    expect(done.headers.get('location')).toBe(`/users/${userId}?record=${subscriptionId}&done=waived`);
    const page = () => look(done.headers.get('location')!);
    await eventually('the history has it', async () => (await page()).includes('a goodwill &lt;gesture&gt;'));
    expect(await page()).toContain('WAIVED');
    expect(await page()).toContain('operator-name');
    const again = await asOperator(`/users/${userId}/waive`, { ...form, record: randomUUID() });
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('Nothing was changed')]);
  });
});

describe('floats', () => {
  const moment = instantFromMs(Date.now());
  const seeder = (): DynamoSeeder =>
    new DynamoSeeder({
      client: store.client,
      billingTable: store.tables.billing,
      historyTable: store.tables.history,
      pipelineTable: store.tables.pipeline,
      floatsTable: store.tables.floats,
      collectionHistoryTable: store.tables.collectionHistory,
      recurringTable: store.tables.recurring,
      timer: systemTimer,
      random: Math.random,
    });
  const advance = (situation: FloatSituation, userId = newUser()): FloatLife =>
    demoFloat(userId, situation, 1, moment);
  const seeded = async (...floats: FloatLife[]): Promise<void> =>
    seeder().write([{ records: [], floats, recurring: [] }]);

  it('are counted by status and due date, and listed', async () => {
    const [due, lost, retried] = [advance('due'), advance('given-up'), advance('retry-after-card')];
    await seeded(due);
    await seeded(lost);
    await seeded(retried);
    await eventually('the index has them', async () => (await look('/floats')).includes(due.float.userId));
    const text = await look('/floats');
    for (const part of ['Due by today', 'SCHEDULING', 'Longest overdue', 'the bank returned as many debits'])
      expect(text).toContain(part);
    for (const { float } of [due, lost, retried])
      expect(text).toContain(`/users/${float.userId}?float=${float.floatId}`);
    expect(text).toMatch(/aria-current="page">Floats/);
  });

  it('of a member are shown with story and history, the model’s word among it', async () => {
    const { userId, subscriptionId } = await memberWithRecord();
    const { float, attempts } = advance('retry-after-card', userId);
    await seeded(advance('retry-after-card', userId));
    const page = (query: string) => look(`/users/${userId}${query}`);
    await eventually('the index has it', async () => (await page('')).includes(float.floatId));
    const text = await page(`?float=${float.floatId}`);
    for (const part of [
      'RETRY',
      'owed since',
      'because there was no money on the card',
      'rule-1',
      'in 100 to be paid',
      '1 failed ACH debit',
      'JPM-',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('first as SCHEDULED');
    expect(attempts).toHaveLength(2);
    // Without a choice both are told; with a record only that.
    expect(await page('')).toMatch(/first as SCHEDULED[\s\S]*What happened to float/);
    const record = await page(`?record=${subscriptionId}`);
    expect(record).toContain(float.floatId);
    expect(record).not.toContain('What happened to float');
    // As runs name it.
    expect(await page(`?record=float.${float.floatId}`)).toContain('What happened to float');
  });

  it('make a member known who has no billing record, by any of their names', async () => {
    const { float } = advance('tomorrow');
    await seeded(advance('tomorrow', float.userId));
    const location = async (q: string): Promise<string | null> =>
      (await here.get(`/users?q=${q}`, { cookie: viewer })).headers.get('location');
    await eventually('the index has it', async () => (await location(float.userId)) !== null);
    expect(await location(float.userId)).toBe(`/users/${float.userId}`);
    const page = `/users/${float.userId}?float=${float.floatId}`;
    expect(await location(float.floatId)).toBe(page);
    expect(await location(`float.${float.floatId}`)).toBe(page);
    expect(await look(page)).toContain('not charged yet: it is due on');
    const nobody = await here.get(`/users/${newUser()}`, { cookie: viewer });
    expect(nobody.status).toBe(404);
  });
});

describe('runs', () => {
  const verdict = (run: Run, name: Verdict['verdict'], fields: Partial<Verdict> = {}): Verdict => ({
    subscriptionId: randomUUID() as SubscriptionId,
    userId: newUser(),
    triggerId: run.runId,
    verdict: name,
    reason: 'because',
    amount: cents(499),
    at: NOW,
    attemptId: null,
    until: null,
    plan: { plan: 'charge', reason: 'PINLESS' },
    heldIn: null,
    detail: null,
    ...fields,
  });

  it('show what came of them so far, down to the records', async () => {
    const tick = at('2026-11-16T08:00:00Z');
    const run = await startRun({ runs, clock: { now: () => tick } }, 'scheduled', tick);
    const declined = verdict(run, 'declined', { userId: '<nasty>' as UserId, detail: 'a <detail>' });
    for (const one of [verdict(run, 'collected'), verdict(run, 'collected'), declined])
      await pipeline.saveVerdict(one);
    await runs.advance(run, { ...run, due: 3, enqueued: 3, page: 1 });

    const page = () => look(`/runs/${run.runId}`);
    await eventually('the index has them all', async () => (await page()).includes('3 records over $14.97'));
    expect(await page()).toMatch(/collected[\s\S]*\$9\.98/);
    const records = await look(`/runs/${run.runId}/records?verdict=declined`);
    expect(records).toContain('&lt;nasty&gt;');
    expect(records).toContain('a &lt;detail&gt;');
    expect(records).not.toContain('>collected<');
    expect(await look(`/runs/${run.runId}/records`)).toContain('collected');
    expect(await look('/')).toContain(run.runId);
  });

  it.each([
    ['/runs/nonsense', 404],
    ['/runs/scheduled-20200101T080000Z', 404],
    ['/runs/scheduled-20261116T080000Z/records?verdict=nonsense', 400],
    ['/runs/scheduled-20261116T080000Z/records?after=nonsense', 400],
    ['/quarantine?after=nonsense', 400],
    ['/users/nobody', 404],
    ['/users/%00', 404],
    ['/users/%E0%A4%A', 400],
    ['/nowhere', 404],
  ])('%s is answered %i with a page', async (path, status) => {
    const page = await here.get(path, { cookie: viewer });
    expect([page.status, page.text]).toEqual([status, expect.stringContaining('<h1>')]);
    expect(page.text).not.toMatch(/\bat .*\.(ts|js):\d/);
  });
});

describe('a forecast', () => {
  it('is made when an operator asks, and shown to everybody', async () => {
    await memberWithRecord();
    expect(await look('/forecast')).toContain('No forecast has been made yet');
    const started = await asOperator('/forecast', { process: 'scheduled' });
    expect([started.status, started.headers.get('location')]).toEqual([303, '/forecast?done=forecast']);
    await eventually('it is made', async () => (await look('/forecast')).includes('it would look at'));
    // The services are out of reach here.
    expect(await look('/forecast')).toMatch(/records? more are not in the forecast/);
    expect((await asOperator('/forecast', { process: 'notify' })).status).toBe(400);
  });
});

describe('a viewer', () => {
  it.each([
    '/forecast',
    '/freezes',
    '/freezes/lift',
    '/quarantine/replay',
    '/quarantine/drop',
    '/users/somebody/pay',
    '/users/somebody/waive',
    '/queues/api/queues/pause',
    '/queues/api/queues/upkeep.janitor/retry/failed',
  ])('may not POST %s', async (path) => {
    for (const cookie of [viewer, await here.signedIn('service')]) {
      const page = await here.post(path, { confirmed: 'yes' }, { cookie });
      expect([page.status, page.text]).toEqual([403, expect.stringContaining('role operator')]);
    }
  });
});

describe('Bull Board', () => {
  interface Listed {
    readonly queues: readonly {
      readonly name: string;
      readonly readOnlyMode: boolean;
      readonly jobs: readonly object[];
    }[];
  }
  const list = async (cookie: string, query = ''): Promise<Listed> =>
    JSON.parse(await look(`/queues/api/queues?${query}`, cookie)) as Listed;
  const put = async (path: string, cookie: string): Promise<number> =>
    (
      await fetch(`${here.url}/queues/api/queues/${path}`, {
        method: 'PUT',
        headers: { cookie, origin: here.url },
      })
    ).status;

  it('shows every queue in its group, read-only to viewers', async () => {
    const [seen, acted] = await Promise.all([list(viewer), list(operator)]);
    const grouped = Object.entries(QUEUE_GROUPS).flatMap(([group, names]) =>
      names.map((name) => `${group}.${name}`),
    );
    expect(grouped).toContain('collections.collections-scheduled');
    expect(seen.queues.map(({ name }) => name)).toEqual(grouped);
    expect(seen.queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
    expect(acted.queues.some(({ readOnlyMode }) => readOnlyMode)).toBe(false);
    const page = await look('/queues/');
    expect(page).toContain('<title>Queues</title>');
    expect(page).toMatch(/<link href="static\/css\/main/);
    expect(page).not.toMatch(/https?:\/\//);
  });

  it('hides what is not an id', async () => {
    const data = {
      requestId: 'r-1',
      eventId: 'lemonsqueezy.1042.e-1',
      email: 'jane@example.com',
      note: 'secret',
    };
    await queues.get('collections-batch').add('x', data, { jobId: 'hidden-1' });
    const { queues: all } = await list(
      viewer,
      'activeQueue=collections.collections-batch&status=waiting&page=1&jobsPerPage=10',
    );
    const text = JSON.stringify(all.find(({ name }) => name === 'collections.collections-batch')?.jobs);
    for (const id of ['r-1', 'lemonsqueezy.1042.e-1']) expect(text).toContain(id);
    expect(text).not.toMatch(/jane|secret/);
  });

  it('lets operators hold a queue, and nobody write jobs or throw a queue away', async () => {
    const queue = queues.get('janitor');
    expect(await put('upkeep.janitor/pause', operator)).toBe(200);
    expect(await queue.isPaused()).toBe(true);
    expect(await put('upkeep.janitor/resume', operator)).toBe(200);
    for (const path of ['upkeep.janitor/obliterate', 'upkeep.janitor/empty', 'upkeep.janitor/concurrency']) {
      expect(await put(path, operator)).toBe(403);
    }
    expect(await put('upkeep.janitor/pause', viewer)).toBe(403);
    expect(await queue.isPaused()).toBe(false);
  });
});

describe('live pages', () => {
  it('are told what has changed, and nothing else', async () => {
    const stopped = new AbortController();
    const response = await fetch(`${here.url}/live?topic=today&topic=banner&topic=nonsense`, {
      headers: { cookie: viewer },
      signal: stopped.signal,
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const read = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    const until = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(heard)) heard += (await read.read()).value ?? '';
    };
    await until(/"today-runs"[\s\S]*\n\n/);
    for (const part of ['today-now', 'today-days', 'today-queues']) expect(heard).toContain(part);
    heard = '';
    await freezes.freeze({ target: { scope: 'global' }, reason: 'live', who: 'x', at: NOW, until: null });
    await until(/Frozen: global/);
    expect(heard).not.toContain('today-queues');
    await freezes.unfreeze({ scope: 'global' }, { who: 'x', at: NOW });
    stopped.abort();
  });
});
