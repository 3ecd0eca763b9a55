import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../../src/domain/instant.ts';
import type { BillingStatus } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { News, PaymentDesk } from '../../support/payment-desk.ts';
import { NEWS, paymentDesk } from '../../support/payment-desk.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

/** Where each word leads to; everything that is not here changes nothing. By hand, not from the code's own table. */
const LEADS_TO: Partial<Record<BillingStatus, Partial<Record<News, BillingStatus>>>> = {
  ACHSENT: { COMPLETED: 'COMPLETED', RETURNED: 'ERROR', REFUNDED: 'REFUNDED', CHARGED_BACK: 'ERROR' },
  COMPLETED: { RETURNED: 'ERROR', REFUNDED: 'REFUNDED', CHARGED_BACK: 'ERROR' },
};

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

/** A record that the Go service collected: we have no attempt, only what stands in the row. */
async function collectedByGo(billingStatus: BillingStatus): Promise<StoredSubscription> {
  const { userId, ...record } = await here.member();
  const item = (await here.store.billingRow(userId, formatInstant(record.billingDate)))!;
  await here.store.putBillingRow({
    ...item,
    billing_status: { S: billingStatus },
    transaction_id: { S: `JPM-${randomUUID()}` },
    process: { S: 'RETRY' },
    usio_error: { S: '62: insufficient funds' },
    ...(billingStatus === 'COMPLETED' ? { completion_date: { S: '2026-11-16T07:00:00Z' } } : {}),
  });
  return here.row({ ...record, userId });
}

const changes = async ({ userId }: StoredSubscription) => (await here.store.historyRows(userId)).length;

// INACTIVE stands for "no subscription at all": no row ever holds it.
const statuses = BILLING_STATUSES.filter((status) => status !== 'INACTIVE');

describe.each(statuses)('a payment of a record that is %s', (status) => {
  it.each(NEWS)('and is told to be %s', async (news) => {
    const record = await collectedByGo(status);
    const before = await changes(record);
    const outcome = await desk.tell(news, record);
    const row = await here.row(record);
    const isBanned = (await here.dependencies.users.get(record.userId))?.status === 'BANNED';
    expect(isBanned).toBe(news === 'CHARGED_BACK');
    const to = LEADS_TO[status]?.[news];
    if (to === undefined) {
      expect(outcome).toEqual({ result: 'no-op', reason: `record-is-${status.toLowerCase()}`, changed: [] });
      expect(row).toEqual(record);
      expect(await changes(record)).toBe(before);
      return;
    }
    expect(outcome).toMatchObject({ result: 'changed', changed: [record.subscriptionId] });
    expect(row).toMatchObject({
      billingStatus: to,
      process: 'RETRY',
      transactionId: record.transactionId,
      completionDate: to === 'ERROR' ? null : here.now,
    });
    expect(await changes(record)).toBe(before + 1);
  });
});

it('an entry that the Go service sent and that came back is known as presented from then on', async () => {
  const record = await collectedByGo('ACHSENT');
  await desk.tell('RETURNED', record, { return_code: 'R02' });
  const { state } = await here.dependencies.pipeline.readBackground({
    ...record,
    triggerId: '',
    accountId: null,
  });
  expect(state.past).toMatchObject([
    { rail: 'ACH', result: 'RETURNED', returnCode: 'R02', accountId: null, process: 'RETRY' },
  ]);
});
