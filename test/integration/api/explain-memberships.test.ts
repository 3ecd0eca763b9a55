import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plusDays } from '../../../src/domain/instant.ts';
import type { Subscription } from '../../../src/domain/subscription.ts';
import type { MembershipApi } from '../../support/membership-api.ts';
import { membershipApi } from '../../support/membership-api.ts';
import { at } from '../../support/records.ts';

/** How changes by hand, and what they bring about, are told. */

let on: MembershipApi;

beforeAll(async () => {
  on = await membershipApi();
});
afterAll(() => on.close());
afterEach(() => on.calmDown());

const TODAY = 'scheduled-20261116T080000Z';
const PLUS = { tier: 'Plus', version: 'v1', amount: '5.83' };
const UNKNOWN = 'has no answer yet: nobody knows whether the money has moved';

interface Explained {
  readonly summary: string;
  readonly story: readonly { readonly text: string; readonly kind: string }[];
}

async function explained({ userId, subscriptionId }: Subscription): Promise<Explained> {
  const { status, body } = await on.send('GET', { userId }, `subscriptions/${subscriptionId}/explain`);
  expect(status).toBe(200);
  return body as Explained;
}

const texts = async (record: Subscription): Promise<string[]> =>
  (await explained(record)).story.map(({ text }) => text);

/** Billed in 35 days: the upgrade costs 5.83. */
const upcomingMember = () => on.here.member({}, { billingDate: plusDays(at('2026-11-16T06:00:00Z'), 35) });

describe('the period that another one opened', () => {
  it('was not charged: the charge was that of the one before', async () => {
    const record = await on.here.member();
    await on.here.collect('INITIAL', record, TODAY);
    expect(await texts(await on.newest(record, 'SCHEDULED'))).toEqual([
      `opened as the next period of 11/2026 (${record.subscriptionId}), where a charge was begun, the base tier at $4.99 a month, due on 2026-12-16T06:00:00Z, first as SCHEDULED`,
    ]);
  });

  it('had no money to be charged before it, which is not its own want', async () => {
    const record = await on.here.member({ balance: { amount: '3.00' } });
    await on.here.collect('INITIAL', record, TODAY);
    expect(await texts(await on.newest(record, 'SCHEDULED'))).toEqual([
      expect.stringMatching(
        /^opened as the next period of 11\/2026 .*, where it was not charged for want of money/,
      ),
    ]);
  });

  it('follows a reactivation, for which the member has paid', async () => {
    const [former] = await on.desk.member([{ billingStatus: 'CANCELLED' }]);
    expect(await on.send('POST', former!, 'subscriptions/reactivate', {})).toMatchObject({ status: 201 });
    const paid = await on.newest(former!, 'COMPLETED');
    expect(await texts(await on.newest(former!, 'SCHEDULED'))).toEqual([
      `opened as the next period of the reactivation of 11/2026 (${paid.subscriptionId}), where the charge was taken, the base tier at $4.99 a month, due on 2026-12-16T06:00:00Z, first as SCHEDULED, by operator-name`,
    ]);
    expect(await texts(paid)).toEqual([
      expect.stringMatching(
        /^a reactivation that operator-name asked for \(reactivate\.[\da-f-]+\) charged it: over the debit card$/,
      ),
      'a charge of $4.99 over the debit card was begun, first as CANCELLED, which it is until it is paid, by operator-name',
      'the charge of $4.99 over the debit card was taken, CANCELLED → COMPLETED, by operator-name',
    ]);
  });

  it('follows one that support waived', async () => {
    const record = await on.here.member();
    await on.send('PATCH', record, `subscriptions/${record.subscriptionId}`, { billing_status: 'WAIVED' });
    expect(await texts(await on.newest(record, 'SCHEDULED'))).toEqual([
      expect.stringMatching(
        /^opened as the next period of 11\/2026 .*, where support changed it, .*by operator-name/,
      ),
    ]);
  });
});

describe('a change by support', () => {
  it('is told with the date before and after', async () => {
    const record = await on.here.member();
    await on.send('PATCH', record, `subscriptions/${record.subscriptionId}`, { billing_date: '2026-11-20' });
    expect((await texts(record)).at(-1)).toBe(
      'support changed it, due on 2026-11-16T06:00:00Z → due on 2026-11-20T06:00:00Z, by operator-name',
    );
  });

  it('is told with the status and the pause before and after', async () => {
    const record = await on.here.member();
    const body = { billing_status: 'PAUSED', pause_duration_months: 2, reason: 'a long journey' };
    await on.send('PATCH', record, `subscriptions/${record.subscriptionId}`, body);
    expect((await texts(record)).at(-1)).toBe(
      'support changed it, SCHEDULED → PAUSED, no pause → a pause of 2 months, by operator-name, because: a long journey',
    );
  });
});

describe('a change of the plan', () => {
  it('names the tier and the amount, and what asked for the proration', async () => {
    const upcoming = await upcomingMember();
    expect(await on.send('POST', upcoming, 'subscriptions/upgrade', PLUS)).toMatchObject({ status: 200 });
    expect((await texts(upcoming)).at(-1)).toBe(
      'the plan was changed, the base tier → Plus:v1, $4.99 → $9.99, by operator-name',
    );
    expect((await texts(await on.newest(upcoming, 'COMPLETED')))[0]).toMatch(
      /^an upgrade that operator-name asked for \(upgrade\.[\da-f-]+\) charged it: over the debit card$/,
    );
  });
});

describe('while an answer is missing', () => {
  it('a proration that was debited is not called cancelled', async () => {
    const upcoming = await upcomingMember();
    await on.loseAnswers(upcoming, 'payments');
    expect(await on.send('POST', upcoming, 'subscriptions/upgrade', PLUS)).toMatchObject({ status: 202 });
    const proration = await on.newest(upcoming, 'CANCELLED');
    expect((await explained(proration)).summary).toBe(
      `a charge of $5.83 over the debit card was begun on 2026-11-16T08:00:00Z and ${UNKNOWN}`,
    );
    await on.settle(proration);
    expect((await explained(proration)).summary).toBe('paid on 2026-11-16T08:00:00Z by PINLESS');
  });

  it('a refund is called one', async () => {
    const record = await on.here.member();
    await on.here.collect('INITIAL', record, TODAY);
    await on.loseAnswers(record, 'refunds');
    const path = `subscriptions/${record.subscriptionId}/refund`;
    expect(await on.send('POST', record, path, { reason: 'sorry' })).toMatchObject({ status: 202 });
    const { summary, story } = await explained(record);
    expect(summary).toBe(
      `paid on 2026-11-16T08:00:00Z by PINLESS; a refund of $4.99 was begun on 2026-11-16T08:00:00Z and ${UNKNOWN}`,
    );
    expect(story.filter(({ kind }) => kind === 'decision').map(({ text }) => text)).toContainEqual(
      expect.stringMatching(
        /^a refund that operator-name asked for \(refund\.[\da-f-]+\) sent a refund to which no answer came: the processor is asked again later/,
      ),
    );
  });
});
