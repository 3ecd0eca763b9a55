import { afterAll, beforeAll, expect, it } from 'vitest';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
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
