import type { Float, LogEntry } from '../domain/floats/float.ts';
import { formatIfSet, formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';

/*
 * Floats and their log for machines, named as their rows are. Stamps are Unix nanoseconds, more than a number of JSON
 * holds, so they are text.
 */

export const floatFigures = (float: Float) => ({
  float_id: float.floatId,
  user_id: float.userId,
  status: float.status,
  amount: formatMoney(float.amount),
  due_date: float.dueDate,
  created_at: formatInstant(float.createdAt),
  completed_at: formatIfSet(float.completedAt),
  credit_returned_at: formatIfSet(float.creditReturnedAt),
  last_run_time: String(float.lastRunTime),
  confirmation_id: float.confirmationId,
  error: float.error,
});

export const logFigures = ({ achModel, said, ...entry }: LogEntry) => ({
  loan_id: entry.floatId,
  run_time: String(entry.runTime),
  user_id: entry.userId,
  due_date: entry.dueDate,
  run_date: entry.runDate,
  process: entry.process,
  outcome: entry.outcome,
  confirmation_id: entry.confirmationId,
  method: entry.method,
  attempt_id: entry.attemptId,
  ach_model_override: achModel?.override ?? null,
  ach_model_version: achModel?.version ?? null,
  ach_model_features: achModel?.features ?? null,
  ach_model_probability: achModel?.probability ?? null,
  support_who: said?.who ?? null,
  support_reason: said?.reason ?? null,
});
