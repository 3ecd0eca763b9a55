import type { CurrentSubscription } from '../domain/current-subscription.ts';
import { formatIfSet, formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { HistoryEntry } from '../ports/subscriptions.ts';

/** A billing record for machines, named as its row is. The mask of the account stays here: it is the member's own. */
export const subscriptionFigures = (record: Subscription) => ({
  subscription_id: record.subscriptionId,
  user_id: record.userId,
  billing_date: formatInstant(record.billingDate),
  billing_period: record.billingPeriod,
  billing_amount: formatMoney(record.billingAmount),
  billing_status: record.billingStatus,
  term: record.term,
  process: record.process,
  updated_event: record.updatedEvent,
  transaction_id: record.transactionId,
  usio_error: record.usioError,
  initial_run_date: formatIfSet(record.initialRunDate),
  completion_date: formatIfSet(record.completionDate),
  last_run_date: formatIfSet(record.lastRunDate),
  created_date: formatIfSet(record.createdDate),
  receipt_tier_name: record.receiptTierName,
  receipt_payment_type: record.receiptPaymentType,
  billing_week: record.billingWeek,
  pause_duration_months: record.pauseDurationMonths,
  is_pending_downgrade: record.isPendingDowngrade,
});

/** A change of a record: what it was then, and who or what made it so. */
export const historyFigures = ({ subscription, data }: HistoryEntry) => ({
  at: formatIfSet(subscription.lastRunDate),
  record: subscriptionFigures(subscription),
  data,
});

export const currentFigures = ({
  membership,
  record,
  nextBilling,
  owed,
  owedAmount,
}: CurrentSubscription<Subscription>) => ({
  membership,
  record: subscriptionFigures(record),
  next_billing:
    nextBilling === null
      ? null
      : {
          subscription_id: nextBilling.subscriptionId,
          billing_date: formatInstant(nextBilling.billingDate),
          billing_amount: formatMoney(nextBilling.billingAmount),
        },
  owed: {
    amount: formatMoney(owedAmount),
    subscription_ids: owed.map(({ subscriptionId }) => subscriptionId),
  },
});
