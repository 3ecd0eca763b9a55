import { formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import { hasCardNumber } from '../domain/recurring/card-number.ts';
import type { Receipt, RecurringSubscription } from '../domain/recurring/recurring.ts';
import { receiptNumberText } from '../domain/recurring/receipt-key.ts';

/* Recurring payments for machines, named as their rows are. */

export const recurringFigures = (subscription: RecurringSubscription) => ({
  subscription_id: subscription.recurringId,
  account_id: subscription.accountId,
  sku: subscription.sku,
  status: subscription.status,
  email: subscription.email,
  payment_amount: formatMoney(subscription.paymentAmount),
  payment_day: subscription.paymentDay,
  payment_token: masked(subscription.paymentToken),
  payment_details: withoutCards(subscription.paymentDetails),
  period_date: subscription.periodDate,
  next_payment_date: subscription.nextPaymentDate,
  next_reminder_date: subscription.nextReminderDate,
  last_payment_date: formatInstant(subscription.lastPaymentDate),
  last_reminder_date: formatInstant(subscription.lastReminderDate),
  failed_tries: subscription.failedTries,
  error: subscription.error,
  created_date: formatInstant(subscription.createdDate),
});

/** Whoever filled the table before may have kept what we refuse. */
const withoutCards = (details: RecurringSubscription['paymentDetails']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(details).map(([name, text]) => [name, hasCardNumber(text) ? masked(text) : text]),
  );

/** Enough to recognise it, too little to use it. */
const SHOWN = 4;
const masked = (token: string): string => (token.length < 2 * SHOWN ? '…' : `…${token.slice(-SHOWN)}`);

export const receiptFigures = (receipt: Receipt) => ({
  receipt_number: receiptNumberText(receipt.number),
  account_id: receipt.accountId,
  subscription_id: receipt.recurringId,
  sku: receipt.sku,
  email: receipt.email,
  period_date: receipt.periodDate,
  processed_date: formatInstant(receipt.processedDate),
  processed_amount: formatMoney(receipt.processedAmount),
  confirmation_id: receipt.confirmationId,
  expires_at: formatInstant(receipt.expiresAt),
});
