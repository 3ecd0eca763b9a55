import { randomUUID } from 'node:crypto';
import type { AttemptId } from '../../src/domain/attempt.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import { parseDate } from '../../src/domain/calendar-date.ts';
import type { Float, FloatId, LogEntry } from '../../src/domain/floats/float.ts';
import { cents } from '../../src/domain/money.ts';
import type { UserId } from '../../src/domain/subscription.ts';
import { at } from './records.ts';

/** A day from its text; a test that misspells one fails at once. */
export function day(text: string): CalendarDate {
  const date = parseDate(text);
  if (date === null) throw new Error(`not a day: ${text}`);
  return date;
}

/** An advance of 60 dollars that is due today, and that nobody has tried to collect. */
export function aFloat(fields: Partial<Float> = {}): Float {
  return {
    floatId: randomUUID() as FloatId,
    userId: 'user-1' as UserId,
    status: 'SCHEDULING',
    amount: cents(6_000),
    dueDate: day('2026-11-16'),
    createdAt: at('2026-11-02T15:00:00Z'),
    lastRunTime: at('2026-11-02T15:00:00.000000001Z'),
    completedAt: null,
    creditReturnedAt: null,
    confirmationId: '',
    error: '',
    ...fields,
  };
}

/** A declined retry over the card, some days ago. Its `runDate` is that of its `runTime` unless it is given. */
export function logEntry(fields: Partial<LogEntry> = {}): LogEntry {
  const runTime = fields.runTime ?? at('2026-11-10T08:30:00.000000001Z');
  return {
    floatId: 'float-1' as FloatId,
    runTime,
    userId: 'user-1' as UserId,
    dueDate: day('2026-11-09'),
    runDate: day(new Date(Number(runTime / 1_000_000n)).toISOString().slice(0, 10)),
    process: 'RETRY',
    outcome: 'RETURNED',
    confirmationId: null,
    method: 'PINLESS',
    attemptId: randomUUID() as AttemptId,
    achModel: null,
    ...fields,
  };
}
