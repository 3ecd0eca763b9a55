import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecurringSubscription } from '../../../src/domain/recurring/recurring.ts';
import type { Dashboard, Page } from '../../support/dashboard.ts';
import { dashboard, isReady } from '../../support/dashboard.ts';
import { day } from '../../support/floats.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import type { RecurringDesk } from '../../support/recurring-desk.ts';
import { recurringDesk } from '../../support/recurring-desk.ts';

/** Today is Monday, 16 November 2026. */
let system: Pipeline;
let desk: RecurringDesk;
let here: Dashboard;
let viewer: string;
let operator: string;

beforeAll(async () => {
  system = await pipeline();
  desk = recurringDesk(system.here);
  here = await dashboard(system.environment);
  await isReady(here);
  [viewer, operator] = await Promise.all([here.signedIn('viewer'), here.signedIn('operator')]);
});
afterAll(async () => {
  await here.close();
  await system.close();
});

const look = (path: string, cookie = viewer): Promise<Page> => here.get(path, { cookie });
const page = async (path: string, cookie = viewer): Promise<string> => (await look(path, cookie)).text;
const urlOf = ({ accountId }: RecurringSubscription): string => `/recurring/${accountId}`;

describe('the page of recurring payments', () => {
  it('lists what is to be paid and told of on a day, and the days around it', async () => {
    const due = await desk.subscription();
    const soon = await desk.subscription(
      {},
      { nextReminderDate: day('2026-11-16'), nextPaymentDate: day('2026-11-23') },
    );
    const today = await page('/recurring');
    expect(today).toContain('Payments due on 16 Nov 2026');
    for (const one of [due, soon]) expect(today).toContain(`${urlOf(one)}?subscription=${one.recurringId}`);
    const later = await page('/recurring?day=2026-11-23');
    expect(later).toContain(soon.recurringId);
    expect(later).not.toContain(due.recurringId);
    expect(await page('/recurring?day=2026-12-24')).toContain('None, or all have been made.');
    expect((await look('/recurring?day=tomorrow')).status).toBe(400);
    await system.here.store.recurring.noteDueSince('payments', day('2026-11-02'));
    expect(await page('/recurring')).toContain('href="/recurring?day=2026-11-02"');
  });

  it('finds an account, by its id or by the name that runs give to a payment', async () => {
    const one = await desk.subscription();
    const found = await look(`/recurring?account=${one.accountId}`);
    expect([found.status, found.headers.get('location')]).toEqual([303, urlOf(one)]);
    expect(await page('/recurring?account=nobody')).toMatch(/pays for\s+anything/);
    const named = `recurring.${one.accountId}.${one.recurringId}`;
    const member = await look(`/users?q=${named}`);
    expect(member.headers.get('location')).toBe(`${urlOf(one)}?subscription=${one.recurringId}`);
    expect((await look(`/users?q=${one.accountId}`)).headers.get('location')).toBe(urlOf(one));
  });
});

describe('the page of an account', () => {
  it('shows what it pays for, why each was or was not charged, and the receipts', async () => {
    const paid = await desk.subscription();
    const other = await desk.subscription(
      {},
      { accountId: paid.accountId, sku: 'sku <2>', nextReminderDate: day('2026-11-09') },
    );
    await desk.collect(paid, 'recurring-payments-20261116T160000Z');
    await desk.collect(other);
    const shown = await page(`${urlOf(paid)}?subscription=${paid.recurringId}`);
    expect(shown).toContain('sku &lt;2&gt;');
    expect(shown).toContain('paid next on 2026-12-16, told of on 2026-12-09');
    expect(shown).toContain('was taken; there is a receipt');
    expect(shown).toContain('href="/runs/recurring-payments-20261116T160000Z"');
    expect(shown).toContain('0000000001');
    expect(shown).not.toContain('tok_visa_abc');
    expect(shown).not.toContain('/recurring/cancel');
    const waits = await page(`${urlOf(other)}?subscription=${other.recurringId}`);
    expect(waits).toContain('the account has not been told of it yet');
    expect((await look('/recurring/nobody')).status).toBe(404);
    expect((await look('/recurring/a%20b')).status).toBe(404);
  });

  it('says which row cannot be read', async () => {
    const one = await desk.subscription();
    const PK = { S: `ACC#${one.accountId}` };
    const Item = { PK, SK: { S: 'SUB#odd#SKU#x' }, SKU: { S: 'x' }, PaymentAmount: { S: 'much' } };
    const TableName = system.here.store.tables.recurring;
    await system.here.store.client.send(new PutItemCommand({ TableName, Item }));
    expect(await page(urlOf(one))).toMatch(/1 row of this account cannot be read/);
  });

  it('lets operators end a payment, after they were asked once more; and nobody else', async () => {
    const one = await desk.subscription();
    const form = { account: one.accountId, subscription: one.recurringId };
    const sure = { ...form, confirmed: 'yes' };
    expect((await here.post('/recurring/cancel', sure, { cookie: viewer })).status).toBe(403);
    expect(await page(urlOf(one), operator)).toContain(`id="cancel-${one.recurringId}"`);
    const question = await here.post('/recurring/cancel', form, { cookie: operator });
    expect(question.text).toContain('End this recurring payment?');
    expect((await desk.row(one)).status).toBe('ACTIVE');
    const done = await here.post('/recurring/cancel', sure, { cookie: operator });
    expect(done.status).toBe(303);
    expect((await desk.row(one)).status).toBe('CANCELLED');
    const after = await page(done.headers.get('location')!, operator);
    expect(after).toContain('The recurring payment has ended.');
    expect(after).toContain('operator-name cancelled it');
    expect(after).not.toContain(`id="cancel-${one.recurringId}"`);
    const failed = await desk.subscription({}, { status: 'FAILED', nextPaymentDate: null });
    const refused = { account: failed.accountId, subscription: failed.recurringId, confirmed: 'yes' };
    expect((await here.post('/recurring/cancel', refused, { cookie: operator })).status).toBe(409);
    const nobody = { account: 'nobody', subscription: 'nothing', confirmed: 'yes' };
    expect((await here.post('/recurring/cancel', nobody, { cookie: operator })).status).toBe(409);
  });
});
