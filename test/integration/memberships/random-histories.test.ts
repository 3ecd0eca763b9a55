import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HANDLED_EVENTS } from '../../../src/domain/memberships/membership-event.ts';
import { billingInstant } from '../../../src/domain/billing-dates.ts';
import { dateOf } from '../../../src/domain/calendar-date.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import type { Subscription, UserId } from '../../../src/domain/subscription.ts';
import { isTerminal } from '../../../src/domain/transitions.ts';
import type { Bench } from '../../audit/bench.ts';
import { bench } from '../../audit/bench.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import type { World } from '../../support/world.ts';

let on: Bench;
let here: World;
let desk: MembershipDesk;

beforeAll(async () => {
  on = await bench();
  here = on.here;
  desk = membershipDesk(here);
});
afterAll(() => on.close());

/** What can happen to a member. */
type Step =
  | { readonly kind: 'event'; readonly type: (typeof HANDLED_EVENTS)[number]; readonly data: object }
  | { readonly kind: 'runs' }
  | { readonly kind: 'days'; readonly days: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      // Nothing follows the end of a membership: it comes seldom.
      type: fc.constantFrom(...HANDLED_EVENTS.filter((type) => type !== 'CLOSEACCOUNT'), ...HANDLED_EVENTS),
      data: fc.record({
        term: fc.constantFrom('MONTHLY', 'YEARLY', ''),
        pause_duration_months: fc.integer({ min: -1, max: 3 }),
      }),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'runs' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('days' as const), days: fc.integer({ min: 1, max: 40 }) }),
  },
);
const banks = fc.constantFrom<object>(
  {},
  { pinless: { mode: 'decline', code: '14' } },
  { pinless: { mode: 'decline', code: '62', times: 1 }, has_debit_card: true },
  { balance: { amount: '3.00' } },
);
const plans = fc.constantFrom<Partial<Subscription>>(
  {},
  { term: 'YEARLY', billingAmount: cents(3999) },
  { receiptTierName: 'Plus:v1', billingAmount: cents(999) },
);

/** As the runs of a day would, each record by itself. */
async function runs(userId: UserId): Promise<void> {
  for (const path of ['RETRY', 'INITIAL', 'PAUSE'] as const)
    for (const record of await here.partition(userId)) await here.collect(path, record);
}

describe('memberships that change while they are billed', () => {
  it('leave records that the audit has nothing to say about, and never open again what is over', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        banks,
        plans,
        fc.array(steps, { minLength: 4, maxLength: 12 }),
        async (bank, plan, story) => {
          await on.at(plusDays(here.now, 1));
          const billingDate = billingInstant(dateOf(here.now));
          const [first] = await desk.member([{ ...plan, billingDate }], bank);
          const { userId } = first!;
          for (const step of story) {
            const before = await here.partition(userId);
            if (step.kind === 'days') await on.at(plusDays(here.now, step.days));
            if (step.kind === 'runs') await runs(userId);
            if (step.kind === 'event') {
              const { result, reason } = await happens(userId, step);
              seen.add(`${step.type} ${result} ${reason}`);
              const rows = await here.partition(userId);
              for (const record of before.filter(({ billingStatus }) => isTerminal(billingStatus)))
                expect(rows).toContainEqual(record);
            }
          }
          expect(await on.found(first!)).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
    // It was not clean because nothing happened.
    for (const reason of [
      'cancellation-pending',
      'paused',
      'retracted',
      'unpaused',
      'charged-on-resuming',
      'account-closed',
    ])
      expect([...seen].join('\n')).toContain(` changed ${reason}`);
  });
});

/** A price that is not on the list stops the event, and an operator drops it. */
async function happens(userId: UserId, { type, data }: Extract<Step, { kind: 'event' }>) {
  const event = await desk.store(userId, type, data);
  try {
    const applied = await desk.apply(event);
    if ('busy' in applied) throw new Error('nobody else is here');
    return applied.outcome;
  } catch (error) {
    if ((error as { code?: string }).code !== 'unpriced-tier') throw error;
    const outcome = { result: 'no-op', reason: 'unpriced-tier', changed: [] } as const;
    await desk.inbox.saveApplied(event, outcome, here.now);
    return outcome;
  }
}
