import { dateOf } from '../../domain/calendar-date.ts';
import { formatMoney } from '../../domain/money.ts';
import { recurringReminded } from '../../domain/recurring/outcomes.ts';
import { later } from '../../domain/recurring/payment-dates.ts';
import { payerOf, recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { RecurringSubscription } from '../../domain/recurring/recurring.ts';
import {
  RECURRING_REMINDER,
  decideReminder,
  reminderKey,
  whyNotReminded,
} from '../../domain/recurring/reminder.ts';
import type { Verdict } from '../../domain/verdict.ts';
import { isProvisional } from '../../domain/verdict.ts';
import type { Lock } from '../../ports/lock.ts';
import type { PipelineStore } from '../../ports/pipeline.ts';
import type { NotificationService } from '../../ports/services.ts';
import type { CollectResult } from '../consider.ts';
import { leave } from '../consider.ts';
import { verdictOf } from '../verdict-of.ts';
import type { RecurringDependencies, RecurringRequest } from './recurring-case.ts';
import { aboutRecurring, readRecurring, underAccountLock } from './recurring-case.ts';

export interface RemindDependencies extends Pick<
  RecurringDependencies,
  'locks' | 'recurring' | 'users' | 'clock' | 'onStep'
> {
  readonly pipeline: Pick<PipelineStore, 'readBackground' | 'saveVerdict' | 'judge'>;
  readonly notifications: NotificationService;
}

/** Tells an account of a payment that is coming, once for each, and leaves a verdict. */
export function remindRecurring(
  dependencies: RemindDependencies,
  request: RecurringRequest,
): Promise<CollectResult> {
  return underAccountLock(dependencies, request, (lock) => consider(dependencies, request, lock));
}

async function consider(
  dependencies: RemindDependencies,
  request: RecurringRequest,
  lock: Lock,
): Promise<Verdict> {
  const { pipeline, recurring, users, clock } = dependencies;
  const at = clock.now();
  const read = await readRecurring(recurring, request, at);
  if ('unreadable' in read) return leave(dependencies, read.unreadable);
  const { subscription } = read;
  const userId = payerOf(subscription.accountId);
  const [{ verdict: before }, user] = await Promise.all([
    pipeline.readBackground({
      userId,
      subscriptionId: recurringRecordId(subscription),
      triggerId: request.triggerId,
      accountId: null,
    }),
    whyNotReminded(subscription, dateOf(at)) === null ? users.get(userId) : null,
  ]);
  if (before !== null && !isProvisional(before)) return before;

  const decision = decideReminder(subscription, user, at);
  const about = aboutRecurring(request, at);
  const amount = { amount: subscription.paymentAmount };
  if (decision.verdict !== 'remind')
    return leave(dependencies, verdictOf(about, decision.verdict, decision.reason, amount));
  await tell(dependencies, subscription);
  const judgement = verdictOf(about, 'notified', RECURRING_REMINDER, amount);
  const change = recurringReminded(subscription, clock.now());
  await recurring.updateSubscription(lock.fence, subscription, change, [pipeline.judge(judgement)]);
  return judgement;
}

/**
 * Sent first and noted then: the other way round, a crash in between would leave the account untold. What is sent again
 * has the same key, and the notifications service delivers a key once.
 */
async function tell(
  { notifications, clock }: RemindDependencies,
  subscription: RecurringSubscription,
): Promise<void> {
  const { accountId, recurringId, sku, email, paymentAmount, periodDate, nextPaymentDate } = subscription;
  const today = dateOf(clock.now());
  await notifications.send({
    userId: payerOf(accountId),
    template: RECURRING_REMINDER,
    data: {
      subscription_id: recurringId,
      sku,
      email,
      // What was missed is caught up with at the earliest today.
      payment_date: later(nextPaymentDate ?? periodDate, today),
      amount: formatMoney(paymentAmount),
    },
    dedupeKey: reminderKey(subscription),
  });
}
