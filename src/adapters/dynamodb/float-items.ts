import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { CalendarDate } from '../../domain/calendar-date.ts';
import { parseDate } from '../../domain/calendar-date.ts';
import type { Float, FloatId, LogEntry } from '../../domain/floats/float.ts';
import { FLOAT_STATUSES, LOG_OUTCOMES, LOG_REMARKS, STAGES } from '../../domain/floats/float.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import type { Instant } from '../../domain/instant.ts';
import { formatIfSet, formatInstant } from '../../domain/instant.ts';
import { formatMoney } from '../../domain/money.ts';
import { RAILS } from '../../domain/subscription.ts';
import type { Bypass } from '../../ports/floats.ts';
import { instant, money } from '../codecs.ts';
import { attemptId, userId } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';
import { readRow } from './read-rows.ts';

/*
 *   FLOAT#id         a float
 *   USER#id          which of a user's floats are not paid back; without attributes of the indexes, so that it is in none
 *
 * and the rows of `collection-history` and `requirements-bypass`, as the service before us wrote them.
 */

export const floatKeys = {
  float: (id: FloatId) => ({ PK: `FLOAT#${id}` }),
  openOf: (user: string) => ({ PK: `USER#${user}` }),
} as const;

const floatId = z.custom<FloatId>((value) => typeof value === 'string' && value !== '');
const date = z.string().transform((text, context): CalendarDate => {
  const parsed = parseDate(text);
  if (parsed === null) context.addIssue('not a date');
  return parsed ?? z.NEVER;
});
/** Unix nanoseconds exceed what a double holds. */
const nanos = z.union([z.bigint(), z.int()]).transform((value) => BigInt(value) as Instant);
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);

const float = z.object({
  float_id: floatId,
  user_id: userId,
  status: z.enum(FLOAT_STATUSES),
  amount: money,
  due_date: date,
  created_at: instant,
  last_run_time: nanos,
  completed_at: optional(instant),
  credit_returned_at: optional(instant),
  confirmation_id: z.string(),
  error: z.string(),
});

const logEntry = z.object({
  loan_id: floatId,
  run_time: nanos,
  user_id: userId,
  due_date: date,
  run_date: date,
  process: z.enum(STAGES),
  outcome: z.enum(LOG_OUTCOMES),
  confirmation_id: optional(z.string()),
  // Rows of the service before us have none of these.
  method: optional(z.enum(RAILS)),
  attempt_id: optional(attemptId),
  ach_model_version: optional(z.string()),
  ach_model_override: optional(z.boolean()),
  ach_model_features: optional(z.record(z.string(), z.number())),
  ach_model_probability: optional(z.number()),
  remark: z.enum(LOG_REMARKS).optional(),
  support_who: optional(z.string()),
  support_reason: optional(z.string()),
});

const bypass = z.object({ user_id: userId, expiration_date: date, reason: z.string() });

export function readFloat(item: RawItem): Float {
  const row = read(float, item, item['float_id']?.S ?? item['PK']?.S ?? '?');
  return {
    floatId: row.float_id,
    userId: row.user_id,
    status: row.status,
    amount: row.amount,
    dueDate: row.due_date,
    createdAt: row.created_at,
    lastRunTime: row.last_run_time,
    completedAt: row.completed_at,
    creditReturnedAt: row.credit_returned_at,
    confirmationId: row.confirmation_id,
    error: row.error,
  };
}

/** `changeId` names the transaction that wrote it. */
export const writeFloat = (content: Float, changeId: string): RawItem =>
  marshall({
    ...floatKeys.float(content.floatId),
    float_id: content.floatId,
    user_id: content.userId,
    status: content.status,
    amount: formatMoney(content.amount),
    due_date: content.dueDate,
    created_at: formatInstant(content.createdAt),
    last_run_time: content.lastRunTime,
    completed_at: formatIfSet(content.completedAt),
    credit_returned_at: formatIfSet(content.creditReturnedAt),
    confirmation_id: content.confirmationId,
    error: content.error,
    change_id: changeId,
  });

export function readLogEntry(item: RawItem): LogEntry {
  const row = read(logEntry, item, item['loan_id']?.S ?? '?');
  return {
    floatId: row.loan_id,
    runTime: row.run_time,
    userId: row.user_id,
    dueDate: row.due_date,
    runDate: row.run_date,
    process: row.process,
    outcome: row.outcome,
    confirmationId: row.confirmation_id,
    method: row.method,
    attemptId: row.attempt_id,
    achModel: modelOf(row),
    remark: row.remark,
    said: row.support_who === null ? undefined : { who: row.support_who, reason: row.support_reason },
  };
}

function modelOf(row: z.output<typeof logEntry>): LogEntry['achModel'] {
  if (row.ach_model_version === null) return null;
  return {
    version: row.ach_model_version,
    override: row.ach_model_override ?? false,
    features: row.ach_model_features ?? {},
    probability: row.ach_model_probability ?? 0,
  };
}

export const writeLogEntry = ({ achModel: model, said, ...entry }: LogEntry): RawItem =>
  marshall(
    {
      loan_id: entry.floatId,
      run_time: entry.runTime,
      user_id: entry.userId,
      due_date: entry.dueDate,
      run_date: entry.runDate,
      process: entry.process,
      outcome: entry.outcome,
      confirmation_id: entry.confirmationId ?? undefined,
      method: entry.method ?? undefined,
      attempt_id: entry.attemptId ?? undefined,
      ach_model_version: model?.version,
      ach_model_override: model?.override,
      ach_model_features: model?.features,
      ach_model_probability: model?.probability,
      remark: entry.remark,
      support_who: said?.who,
      support_reason: said?.reason ?? undefined,
    },
    { removeUndefinedValues: true },
  );

export function readBypass(item: RawItem): Bypass {
  const row = read(bypass, item, item['user_id']?.S ?? '?');
  return { userId: row.user_id, expirationDate: row.expiration_date, reason: row.reason };
}

export const writeBypass = ({ userId: user, expirationDate, reason }: Bypass): RawItem =>
  marshall({ user_id: user, expiration_date: expirationDate, reason });

const read = <T>(schema: z.ZodType<T>, item: RawItem, id: string): T =>
  readRow(schema, item, {
    name: `row of ${id}`,
    userId: item['user_id']?.S ?? '',
    subscriptionId: recordIdOf(id as FloatId),
  });
