import type { AchCounts, ReturnClass } from '../../src/domain/ach/return-rates.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';

/** What the pipeline's own meters said on a day, of the sixty days up to it. */
export interface MeterReading {
  readonly date: CalendarDate;
  readonly counts: AchCounts;
}

/** Null while there was no debit yet. */
export const shareOf = ({ counts }: MeterReading, name: ReturnClass): number | null =>
  counts.debits === 0 ? null : counts.returns[name] / counts.debits;
