import { z } from 'zod';
import { FLOAT_STATUSES } from '../domain/floats/float.ts';
import { amountText, dateText, timeText } from './fields.ts';

export const stamp = z.string().meta({
  description: 'Unix nanoseconds: more than a number of JSON holds',
  examples: ['1794787200000000001'],
});

export const floatView = z.strictObject({
  float_id: z.string(),
  user_id: z.string(),
  status: z.enum(FLOAT_STATUSES),
  amount: amountText,
  due_date: dateText,
  created_at: timeText,
  completed_at: timeText.nullable(),
  credit_returned_at: timeText.nullable().meta({ description: 'When the advance itself came back' }),
  last_run_time: stamp,
  confirmation_id: z.string(),
  error: z.string().meta({ description: 'Why it is not paid' }),
});
