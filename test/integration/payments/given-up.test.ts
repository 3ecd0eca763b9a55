import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { fail, inTurn, injectFaults, pass } from '../../support/dynamo-faults.ts';
import type { PaymentDesk } from '../../support/payment-desk.ts';
import { paymentDesk } from '../../support/payment-desk.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

// Without the audit: that one attempt was opened while money of another was under way is for it to name.

const A_DAY = { abandonAfterMs: 86_400_000 };

let here: World;
let desk: PaymentDesk;
beforeAll(async () => {
  here = await world();
  desk = paymentDesk(here);
});
afterAll(async () => {
  await desk.close();
  await here.close();
});

const openOf = async ({ userId, subscriptionId }: StoredSubscription) => {
  const query = { userId, subscriptionId, triggerId: '', accountId: null };
  return (await here.dependencies.pipeline.readBackground(query)).state.open!;
};

async function dieAt(step: 'charged' | 'intent-written', collect: () => Promise<unknown>): Promise<void> {
  here.onStep = (reached) => {
    if (reached === step) throw new Error('it dies');
  };
  await expect(collect()).rejects.toThrow('it dies');
  here.onStep = () => undefined;
}

it('the word about an attempt that was given up waits for another that is under way', async () => {
  const record = await here.member({ has_debit_card: false });
  await dieAt('charged', () => here.collect('INITIAL', record));
  const first = await openOf(record);
  const payment = (await here.dependencies.processor.findByKey(first.attemptId))!;
  here.now = plusDays(here.now, 2);
  const lagging = { ...here.dependencies.processor, findByKey: () => Promise.resolve(null) };
  await settleAttempt({ ...here.dependencies, processor: lagging }, A_DAY, first);

  await dieAt('intent-written', () => here.collect('RETRY', record));
  const told = { ...(await here.row(record)), transactionId: payment.confirmationId };
  const event = await desk.receive('COMPLETED', told);
  await expect(desk.apply(event)).rejects.toMatchObject({ code: 'unknown-record' });
  expect(await desk.isWaiting(event)).toBe(true);

  here.now = plusDays(here.now, 2);
  // The second was never sent, as the processor's silence shows.
  await settleAttempt(here.dependencies, A_DAY, await openOf(record));
  expect(await desk.apply(event)).toMatchObject({ result: 'changed', reason: 'completed' });
  expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED' });
  const made = (await here.ledger(record)).filter(({ type }) => type === 'payment.applied');
  expect(made).toHaveLength(1);
});

describe('although another payment was made since, the word about an attempt that was given up', () => {
  /** The record as the word about the entry names it: nobody knew of that entry for a day. */
  async function givenUp(): Promise<{ record: StoredSubscription; entry: StoredSubscription }> {
    const record = await here.member({ has_debit_card: false });
    await dieAt('charged', () => here.collect('INITIAL', record));
    const attempt = await openOf(record);
    const { confirmationId } = (await here.dependencies.processor.findByKey(attempt.attemptId))!;
    here.now = plusDays(here.now, 2);
    const lagging = { ...here.dependencies.processor, findByKey: () => Promise.resolve(null) };
    await settleAttempt({ ...here.dependencies, processor: lagging }, A_DAY, attempt);
    return { record, entry: { ...(await here.row(record)), transactionId: confirmationId } };
  }

  const giveCard = ({ userId }: StoredSubscription) =>
    here.bank('PUT', `/sandbox/users/${userId}`, { has_debit_card: true });
  const entriesOf = async ({ userId, subscriptionId }: StoredSubscription) => {
    const query = { userId, subscriptionId, triggerId: '', accountId: null };
    const { state } = await here.dependencies.pipeline.readBackground(query);
    return state.past.filter(({ rail }) => rail === 'ACH');
  };
  const causesOf = async ({ subscriptionId }: StoredSubscription) =>
    (await here.store.history.getByID(subscriptionId)).entries.map(({ data }) => data['cause']);
  const alarmsAbout = ({ subscriptionId }: StoredSubscription) =>
    here.alarms.filter((one) => 'subscriptionId' in one && one.subscriptionId === subscriptionId);

  it.each([
    ['paid', 'COMPLETED', [{ alarm: 'subscription-overpaid' }]],
    ['returned', 'RETURNED', []],
  ] as const)('leaves the record with that one: %s', async (_, news, alarms) => {
    const { record, entry } = await givenUp();
    await giveCard(record);
    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'collected' });
    const paid = await here.row(record);

    expect(await desk.tell(news, entry)).toMatchObject({ result: 'changed', reason: news.toLowerCase() });
    const after = await here.row(record);
    expect(after).toEqual({ ...paid, lastRunDate: after.lastRunDate, row: after.row });
    expect((await causesOf(record)).slice(-2)).toEqual(['told-aside', 'told-aside']);
    expect(await entriesOf(record)).toMatchObject([{ result: news }]);
    expect(alarmsAbout(record)).toMatchObject(alarms);
    expect(await desk.tell('REFUNDED', entry)).toMatchObject({ reason: 'another-payment-since' });

    // Nobody is asked for it a third time.
    here.now = plusDays(here.now, 3);
    await here.collect('RETRY', record);
    const made = (await here.ledger(record)).filter(({ type }) => type === 'payment.applied');
    expect(made).toHaveLength(2);
  });

  it('leaves another entry that is under way as it is, and its watch', async () => {
    const { record, entry } = await givenUp();
    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'sent' });
    const { watches } = here.dependencies.pipeline;
    const [sent, watch] = [await here.row(record), await watches.get(record.subscriptionId)];

    expect(await desk.tell('COMPLETED', entry)).toMatchObject({ result: 'changed' });
    expect(await watches.get(record.subscriptionId)).toEqual(watch);
    expect(await desk.tell('COMPLETED', sent)).toMatchObject({ result: 'changed', reason: 'completed' });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'COMPLETED',
      transactionId: sent.transactionId,
    });
    expect(alarmsAbout(record)).toMatchObject([{ confirmationId: entry.transactionId }]);
  });

  it('is written down beside whatever became of the record since', async () => {
    const { record, entry } = await givenUp();
    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'sent' });
    await desk.tell('COMPLETED', entry);
    await desk.tell('RETURNED', await here.row(record));
    expect(await here.row(record)).toMatchObject({ billingStatus: 'ERROR' });
    expect(await desk.tell('RETURNED', entry)).toMatchObject({ result: 'changed', reason: 'returned' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'ERROR' });
    expect(await entriesOf(record)).toMatchObject([{ result: 'RETURNED' }, { result: 'RETURNED' }]);
  });

  it('still closes an account to us', async () => {
    const { record, entry } = await givenUp();
    await giveCard(record);
    await here.collect('RETRY', record);
    await desk.tell('RETURNED', entry, { return_code: 'R02' });
    const { accountId } = (await here.dependencies.accounts.primary(record.userId))!;
    const query = { ...record, triggerId: '', accountId };
    expect((await here.dependencies.pipeline.readBackground(query)).achBlock).toBe('R02');
  });

  it('goes on where whoever wrote down that it was made has died', async () => {
    const { record, entry } = await givenUp();
    await giveCard(record);
    await here.collect('RETRY', record);
    const event = await desk.receive('COMPLETED', entry);
    const faults = injectFaults(here.store.client);
    faults.script('TransactWriteItemsCommand', inTurn(pass, fail(new Error('died'))), { times: 2 });
    await expect(desk.apply(event)).rejects.toThrow('died');
    faults.remove();
    expect(await entriesOf(record)).toMatchObject([{ result: 'ACHSENT' }]);
    expect(await desk.apply(event)).toMatchObject({ result: 'changed' });
    expect(await entriesOf(record)).toMatchObject([{ result: 'COMPLETED' }]);
  });

  it('of a card that was given back by now is no alarm', async () => {
    const record = await here.member();
    await dieAt('charged', () => here.collect('INITIAL', record));
    const attempt = await openOf(record);
    const { confirmationId } = (await here.dependencies.processor.findByKey(attempt.attemptId))!;
    here.now = plusDays(here.now, 2);
    const lagging = { ...here.dependencies.processor, findByKey: () => Promise.resolve(null) };
    await settleAttempt({ ...here.dependencies, processor: lagging }, A_DAY, attempt);
    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'collected' });
    const paid = await here.row(record);
    const told = { ...paid, transactionId: confirmationId };
    expect(await desk.tell('REFUNDED', told)).toMatchObject({ reason: 'another-payment-since' });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'COMPLETED',
      transactionId: paid.transactionId,
    });
    expect(alarmsAbout(record)).toEqual([]);
  });
});
