import { payerOf, recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { Lock } from '../../ports/lock.ts';
import type { RecurringRef } from '../../ports/recurring.ts';
import type { OpenCase } from '../any-product.ts';
import { planOfOpener } from '../move-money.ts';
import { readState } from '../read-state.ts';
import { recordRecurringAnswer } from './charge-recurring.ts';
import type { RecurringCase, RecurringDependencies } from './recurring-case.ts';

/** Null: no attempt on the subscription is open. */
export async function openRecurringCase(
  dependencies: RecurringDependencies,
  ref: RecurringRef,
  lock: Lock,
): Promise<OpenCase | null> {
  const { recurring, pipeline, clock } = dependencies;
  const subscriptionId = recurringRecordId(ref);
  const state = await readState(pipeline, { userId: payerOf(ref.accountId), subscriptionId });
  const { open: attempt } = state;
  if (attempt === null) return null;
  const subscription = await recurring.getSubscription(ref);
  if (subscription === null)
    throw new Error(`subscription ${ref.recurringId} is gone while its attempt is open`);
  const theCase: RecurringCase = {
    dependencies,
    triggerId: attempt.triggerId,
    lock,
    state,
    subscription,
    now: clock.now(),
    plan: planOfOpener(attempt),
  };
  const answer: OpenCase['answer'] = (payment) => recordRecurringAnswer(theCase, attempt, payment);
  return { attempt, state, answer, giveBack: null };
}
