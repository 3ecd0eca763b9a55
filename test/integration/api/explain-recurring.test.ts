import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { startRun } from '../../../src/app/run-collections.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { recurringRecordId } from '../../../src/domain/recurring/record-id.ts';
import type { RecurringProcess } from '../../../src/domain/recurring/runs.ts';
import type { ApiClient } from '../../support/api.ts';
import { api } from '../../support/api.ts';
import { cli, figuresOf } from '../../support/cli.ts';
import { drive } from '../../support/in-process-run.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import type { RecurringDesk } from '../../support/recurring-desk.ts';
import { recurringDesk } from '../../support/recurring-desk.ts';
import { recurringRuns } from '../../support/recurring-runs.ts';
import { day } from '../../support/floats.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';

let system: Pipeline;
let here: World;
let client: ApiClient;
let desk: RecurringDesk;

beforeAll(async () => {
  system = await pipeline();
  ({ here } = system);
  desk = recurringDesk(here);
  for (const list of ['payments', 'reminders'] as const)
    await here.store.recurring.noteDueSince(list, day('2026-11-01'));
  client = await api(system.environment);
});
afterAll(async () => {
  await client.close();
  await system.close();
});

interface Explained {
  readonly summary: string;
  readonly story: { readonly kind: string; readonly text: string; readonly status: string | null }[];
  readonly attempts: { readonly period_date: string }[];
  readonly now: { readonly notes: string[] };
  readonly subscription: unknown;
  readonly unreadable: string[];
}

const call = async (accountId: string, rest: string): Promise<Explained> => {
  const reply = await client.call('GET', `/v1/accounts/${accountId}/recurring/${rest}/explain`, {
    as: 'viewer',
  });
  expect(reply.status).toBe(200);
  return reply.body as Explained;
};

async function run(process: RecurringProcess): Promise<void> {
  const dependencies = recurringRuns(here, desk);
  await drive(dependencies, await startRun(dependencies, process, here.now));
}

it('tells the story of a payment: begun, changed, told of, declined, paid; with who asked', async () => {
  const accountId = await desk.account({ pinless: { mode: 'decline', code: '05', times: 1 } });
  const wish = {
    sku: 'sku-1',
    email: 'someone@example.com',
    payment_amount: '9.99',
    payment_token: 'tok_9f3c2a10',
    payment_day: 24,
  };
  const { body } = await client.call('POST', `/v1/accounts/${accountId}/recurring`, { body: wish });
  const { subscription_id: id } = body as { subscription_id: string };
  expect(await call(accountId, id)).toMatchObject({
    summary: 'paid next on 2026-11-24, told of on 2026-11-17',
    now: { notes: [] },
  });
  await client.call('PATCH', `/v1/accounts/${accountId}/recurring/${id}`, {
    body: { payment_amount: '19.99', payment_day: 23 },
  });
  for (const [date, process] of [
    ['2026-11-23T14:00:00Z', 'recurring-payments'],
    ['2026-11-23T15:00:00Z', 'recurring-reminders'],
    ['2026-11-23T16:00:00Z', 'recurring-payments'],
    ['2026-11-24T16:00:00Z', 'recurring-payments'],
  ] as const) {
    here.now = at(date);
    await run(process);
  }
  const { story, summary, attempts } = await call(accountId, id);
  expect(story.map(({ text }) => text)).toEqual([
    // The clock stands still, and what is decided comes before what is done.
    expect.stringMatching(
      /^the change \(changed\..*\) told the member of the coming charge: some days ahead$/,
    ),
    'operator-name began $9.99 for sku-1 on day 24 of each month; the next payment is on 2026-11-24',
    'operator-name changed the amount from $9.99 to $19.99, the payment day from 24 to 23; the next payment is on 2026-11-23',
    'the account was told of the payment of 2026-11-23',
    'the recurring-payments run of 2026-11-23T14:00:00Z tried to charge it and was declined: over the debit card, code 05',
    'a charge of $19.99 over the debit card was begun for 2026-11-23',
    expect.stringMatching(
      /^the charge of \$19.99 over the debit card was declined: 05.*; tried again on 2026-11-24$/,
    ),
    'the recurring-payments run of 2026-11-24T16:00:00Z charged it: over the debit card',
    'a charge of $19.99 over the debit card was begun for 2026-11-23',
    'the charge of $19.99 over the debit card was taken; there is a receipt; the next payment is on 2026-12-23',
  ]);
  expect(summary).toBe('paid next on 2026-12-23, told of on 2026-12-16');
  expect(attempts.map(({ period_date: period }) => period)).toEqual(['2026-11-23', '2026-11-23']);
});

it('says what is in its way, and what cannot be read', async () => {
  here.now = at('2026-11-16T08:00:00Z');
  const one = await desk.subscription();
  await here.faults([{ id: 'lost', service: 'payments', fault: 'error-after' }]);
  await desk.collect(one);
  await here.faults([]);
  await client.call('POST', '/ops/freezes', { body: { target: `user:${one.accountId}`, reason: 'odd' } });
  const { summary, now } = await call(one.accountId, one.recurringId);
  expect(summary).toMatch(/has no answer yet: nobody knows whether the money has moved$/);
  expect(now.notes).toEqual([
    expect.stringMatching(
      /^a charge of \$10.00 over the debit card has no answer since .*; the janitor asks/,
    ),
    expect.stringMatching(/^this member is frozen by operator-name since .*: odd$/),
  ]);
  const TableName = here.store.tables.recurring;
  const PK = { S: `ACC#${one.accountId}` };
  const Item = { PK, SK: { S: 'SUB#odd#SKU#x' }, SKU: { S: 'x' }, PaymentAmount: { S: 'much' } };
  await here.store.client.send(new PutItemCommand({ TableName, Item }));
  expect(await call(one.accountId, 'odd')).toMatchObject({
    subscription: null,
    summary: 'its row cannot be read, so nobody touches it',
    unreadable: [expect.stringContaining('SUB#odd#SKU#x')],
  });
});

it('tells of a charge that was given up', async () => {
  here.now = at('2026-11-16T16:00:00Z');
  const one = await desk.subscription();
  await here.faults([{ id: 'down', service: 'payments', fault: 'error-before' }]);
  expect(await desk.collect(one)).toMatchObject({ verdict: 'unknown' });
  await here.faults([]);
  const [attempt] = await here.dependencies.pipeline.attemptsOn(recurringRecordId(one));
  here.now = at('2026-11-17T16:00:00Z');
  await settleAttempt(here.dependencies, { abandonAfterMs: 86_400_000 }, attempt!);
  const { story, summary } = await call(one.accountId, one.recurringId);
  expect(story.at(-1)!.text).toBe(
    'the charge was given up, because the processor never knew of it; tried again on 2026-11-18',
  );
  expect(summary).toBe('paid next on 2026-11-18, and told of');
});

it.each([
  [{ status: 'FAILED', nextPaymentDate: null, error: '05: no' }, /^given up: .* to the last: 05: no$/],
  [{ status: 'CANCELLED', nextPaymentDate: null }, /^cancelled/],
  [
    { status: 'PAST_DUE', nextPaymentDate: day('2026-11-20'), error: '62: no' },
    /^owed since 2026-11-16, and tried again on 2026-11-20: 62: no$/,
  ],
  [{}, /^due since 2026-11-16, and not paid yet$/],
] as const)('%j is in short: %s', async (fields, summary) => {
  const one = await desk.subscription({}, fields);
  expect((await call(one.accountId, one.recurringId)).summary).toMatch(summary);
});

describe('explain on the command line', () => {
  const collections = (...args: string[]) => cli(['explain', ...args], system.environment);

  it('explains a recurring payment by either of its names, and lists those of an account', async () => {
    const one = await desk.subscription();
    const named = `recurring.${one.accountId}.${one.recurringId}`;
    for (const id of [one.recurringId, named]) {
      const { code, out } = await collections(one.accountId, id);
      expect(code).toBe(0);
      expect(out).toContain(`recurring payment ${one.recurringId}, 10.00 for sku-1 on day 16, ACTIVE`);
      expect(out).toContain('due since 2026-11-16, and not paid yet');
    }
    const json = await collections(one.accountId, '--json');
    expect(json.error).toContain(named);
    expect(figuresOf(json)).toEqual(await call(one.accountId, one.recurringId));
  });
});
