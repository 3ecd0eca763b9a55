import type { CurrentSubscription } from '../domain/current-subscription.ts';
import { formatIfSet, formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import { isToCome } from '../domain/plans/upcoming.ts';
import type { Subscription } from '../domain/subscription.ts';

/** What a member is billed, when and how, and what was paid last. */
export function billingFigures(
  { membership, record, owedAmount }: CurrentSubscription<Subscription>,
  partition: readonly Subscription[],
) {
  const plan = partition.find(isToCome) ?? record;
  const [tier = null, version = null] = plan.receiptTierName === '' ? [] : plan.receiptTierName.split(':');
  const paid = partition.findLast(({ billingStatus }) => billingStatus === 'COMPLETED');
  return {
    user_id: plan.userId,
    membership,
    tier,
    version,
    term: plan.term,
    billing_amount: formatMoney(plan.billingAmount),
    next_billing_date: isToCome(plan) ? formatInstant(plan.billingDate) : null,
    billing_week: plan.billingWeek,
    is_friday_billing: plan.billingWeek !== null,
    pause_duration_months: plan.pauseDurationMonths,
    is_pending_downgrade: plan.isPendingDowngrade,
    owed_amount: formatMoney(owedAmount),
    last_payment: paid === undefined ? null : paymentFigures(paid),
  };
}

const paymentFigures = (paid: Subscription) => ({
  subscription_id: paid.subscriptionId,
  amount: formatMoney(paid.billingAmount),
  at: formatIfSet(paid.completionDate),
  payment_type: paid.receiptPaymentType,
  account_mask: paid.receiptAccountMask,
});

/** The term of the membership; null once it has ended. */
export function termFigures(
  { membership, record }: CurrentSubscription<Subscription>,
  partition: readonly Subscription[],
) {
  const active = partition.find(isToCome);
  return {
    user_id: record.userId,
    membership,
    term: active?.term ?? null,
    subscription_id: active?.subscriptionId ?? null,
  };
}
