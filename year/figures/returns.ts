import type { AchCounts, ReturnClass } from '../../src/domain/ach/return-rates.ts';
import { RETURN_RATE_LIMITS, returnRates } from '../../src/domain/ach/return-rates.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';

/** What the pipeline's own meters said on a day, of the sixty days up to it. */
export interface MeterReading {
  readonly date: CalendarDate;
  readonly counts: AchCounts;
}

/** Null while there was no debit yet. */
export const shareOf = ({ counts }: MeterReading, name: ReturnClass): number | null =>
  counts.debits === 0 ? null : counts.returns[name] / counts.debits;

export type Judgement = 'over the limit' | 'within the limit' | 'too few debits to tell';

/** By the pipeline's own measure of what can be told: of a few debits a single return is over every limit. */
export function judgementOf(readings: readonly MeterReading[], name: ReturnClass): Judgement {
  const rates = readings.flatMap(({ counts }) => returnRates(counts).filter((one) => one.class === name));
  if (rates.some(({ exceeded }) => exceeded)) return 'over the limit';
  const looksOver = readings.some((reading) => (shareOf(reading, name) ?? 0) > RETURN_RATE_LIMITS[name]);
  const canTell = rates.some(({ rate }) => rate !== null);
  return canTell && !looksOver ? 'within the limit' : 'too few debits to tell';
}
