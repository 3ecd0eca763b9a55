import type { RecurringPlan, RecurringWish } from '../../domain/recurring/by-hand.ts';
import { planRecurringCancel, planRecurringChange } from '../../domain/recurring/by-hand.ts';
import type { RecurringPolicy } from '../../domain/recurring/policy.ts';
import { payerOf, recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { RecurringSubscription } from '../../domain/recurring/recurring.ts';
import { recurringLockKey } from '../../ports/lock.ts';
import type { PipelineStore } from '../../ports/pipeline.ts';
import type { RecurringRef } from '../../ports/recurring.ts';
import type { LockDependencies } from '../desk/desk.ts';
import { underLock } from '../desk/desk.ts';
import { Refusal } from '../desk/refusal.ts';
import { readState } from '../read-state.ts';
import type { RemindAtOnceDependencies } from './remind-at-once.ts';
import { remindAtOnce } from './remind-at-once.ts';

export type ChangeRecurringDependencies = LockDependencies &
  RemindAtOnceDependencies & {
    readonly pipeline: PipelineStore;
    readonly recurringPolicy: RecurringPolicy;
  };

/** Amount, SKU, day and token, as the account wishes from now on. */
export async function changeRecurring(
  dependencies: ChangeRecurringDependencies,
  ref: RecurringRef,
  { wish, by }: { readonly wish: RecurringWish; readonly by: string },
): Promise<RecurringSubscription> {
  const { recurringPolicy: policy, clock } = dependencies;
  const changed = await carryOut(dependencies, ref, async (subscription) => {
    const subscriptionId = recurringRecordId(subscription);
    const userId = payerOf(ref.accountId);
    const { open } = await readState(dependencies.pipeline, { userId, subscriptionId });
    return planRecurringChange(subscription, wish, by, open, { policy, now: clock.now() });
  });
  return remindAtOnce(dependencies, changed);
}

/** What ending one takes: nothing that could charge a member or send a reminder. */
export type CancelRecurringDependencies = LockDependencies &
  Pick<ChangeRecurringDependencies, 'recurring' | 'clock'>;

export const cancelRecurring = (
  dependencies: CancelRecurringDependencies,
  ref: RecurringRef,
  by: string,
): Promise<RecurringSubscription> =>
  carryOut(dependencies, ref, (subscription) =>
    Promise.resolve(planRecurringCancel(subscription, by, dependencies.clock.now())),
  );

const CODES = {
  'open-attempt': 'attempt-open',
  over: 'subscription-over',
  owed: 'payment-owed',
} as const;

function carryOut(
  dependencies: CancelRecurringDependencies,
  ref: RecurringRef,
  planFor: (subscription: RecurringSubscription) => Promise<RecurringPlan>,
): Promise<RecurringSubscription> {
  const { recurring } = dependencies;
  const member = { userId: payerOf(ref.accountId), key: recurringLockKey(ref.accountId) };
  return underLock(dependencies, member, async (lock) => {
    const subscription = await recurring.getSubscription(ref);
    if (subscription === null) throw new Refusal('not-found', 'no such subscription of this account');
    const plan = await planFor(subscription);
    switch (plan.plan) {
      case 'nothing':
        return subscription;
      case 'refused':
        throw new Refusal(CODES[plan.reason], plan.detail);
      case 'change':
        await recurring.updateSubscription(lock.fence, subscription, plan.change);
        return plan.change.subscription;
    }
  });
}
