import type { Float } from '../domain/floats/float.ts';
import { formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import { timeOrNull } from './subscription-figures.ts';

/** A float for machines, named as its row is. Stamps are Unix nanoseconds, more than a number of JSON holds: text. */
export const floatFigures = (float: Float) => ({
  float_id: float.floatId,
  user_id: float.userId,
  status: float.status,
  amount: formatMoney(float.amount),
  due_date: float.dueDate,
  created_at: formatInstant(float.createdAt),
  completed_at: timeOrNull(float.completedAt),
  last_run_time: String(float.lastRunTime),
  confirmation_id: float.confirmationId,
  error: float.error,
});
