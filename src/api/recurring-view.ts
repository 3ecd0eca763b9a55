import { z } from 'zod';
import { RECURRING_STATUSES } from '../domain/recurring/recurring.ts';
import { amountText, dateText, timeText } from './fields.ts';

export const recurringView = z.strictObject({
  subscription_id: z.string(),
  account_id: z.string(),
  sku: z.string(),
  status: z
    .enum(RECURRING_STATUSES)
    .meta({ description: 'PAST_DUE is tried again; FAILED and CANCELLED are ends' }),
  email: z.string(),
  payment_amount: amountText,
  payment_day: z.int(),
  payment_token: z.string().meta({ description: 'The end of it' }),
  payment_details: z.record(z.string(), z.string()),
  period_date: dateText.meta({ description: 'The day for which the payment of this period was meant' }),
  next_payment_date: dateText.nullable().meta({ description: 'Null: never again' }),
  next_reminder_date: dateText
    .nullable()
    .meta({ description: 'Null: the account has been told of this period’s payment, or there is none' }),
  last_payment_date: timeText.meta({ description: 'Begins with the creation' }),
  last_reminder_date: timeText.meta({ description: 'Begins with the creation' }),
  failed_tries: z.int().meta({ description: 'How often this period’s payment was declined' }),
  error: z.string().meta({ description: 'Why it is not paid' }),
  created_date: timeText,
});
