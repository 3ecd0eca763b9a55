import { msOf } from '../../src/domain/instant.ts';
import type { Change } from './changes.ts';
import { byRecord } from './changes.ts';
import type { Month } from './months.ts';
import { monthOf } from './months.ts';

/** A period whose first attempt failed, and what became of it. */
export interface FailedFirst {
  readonly month: Month;
  /** Which attempt collected it, and how many days after the first had failed. Null: none so far. */
  readonly recovered: { readonly attempt: number; readonly days: number } | null;
  /** No run will try again. */
  readonly isLost: boolean;
}

const FAILURES = new Set(['attempt-declined', 'balance-refused', 'ach-returned']);
const STILL_TRIED = new Set(['ERROR', 'ACHSENT', 'SCHEDULED']);
const DAY_MS = 86_400_000;

/** Every period whose first attempt came to nothing: no money, declined, or sent back by the bank. */
export const failedFirsts = (changes: readonly Change[]): FailedFirst[] =>
  [...byRecord(changes).values()].flatMap((history) => failedFirst(history) ?? []);

function failedFirst(history: readonly Change[]): FailedFirst | null {
  const first = history.find(({ status }) => status === 'ERROR' || status === 'COMPLETED');
  const last = history.at(-1);
  if (first === undefined || last === undefined || !FAILURES.has(first.cause)) return null;
  const failures = history.filter(({ status, cause }) => status === 'ERROR' && FAILURES.has(cause));
  const collected = last.status === 'COMPLETED' ? whenCollected(history) : null;
  return {
    month: monthOf(first.at),
    recovered:
      collected === null
        ? null
        : {
            attempt: failures.length + 1,
            days: Math.max(0, Math.round((msOf(collected.at) - msOf(first.at)) / DAY_MS)),
          },
    isLost: collected === null && !STILL_TRIED.has(last.status),
  };
}

/** When the attempt was made that went through; the bank's word on an ACH entry comes days later. */
function whenCollected(history: readonly Change[]): Change | null {
  return history.findLast(({ cause }) => cause === 'attempt-succeeded' || cause === 'ach-accepted') ?? null;
}

export interface MonthOfRecovery {
  readonly month: Month;
  readonly failed: number;
  readonly soon: number;
  readonly later: number;
  readonly open: number;
  readonly lost: number;
}

/** So many days are called soon: a wage at the latest every other week. */
export const SOON_DAYS = 7;

export function recoveryByMonth(failed: readonly FailedFirst[], months: readonly Month[]): MonthOfRecovery[] {
  return months.map((month) => {
    const own = failed.filter((period) => period.month === month);
    const count = (counts: (period: FailedFirst) => boolean): number => own.filter(counts).length;
    return {
      month,
      failed: own.length,
      soon: count(({ recovered }) => recovered !== null && recovered.days <= SOON_DAYS),
      later: count(({ recovered }) => recovered !== null && recovered.days > SOON_DAYS),
      open: count(({ recovered, isLost }) => recovered === null && !isLost),
      lost: count(({ isLost }) => isLost),
    };
  });
}

/**
 * Of all failed first attempts, the share that was collected within so many days, for each day up to `days`. None without
 * a failed attempt: there is no share of nothing.
 */
export function recoveryCurve(failed: readonly FailedFirst[], days: number): number[] {
  if (failed.length === 0) return [];
  return Array.from({ length: days + 1 }, (_, within) => {
    const recovered = failed.filter((period) => period.recovered !== null && period.recovered.days <= within);
    return recovered.length / failed.length;
  });
}

/** How many were collected by the second attempt, the third, and so on. */
export function recoveredByAttempt(failed: readonly FailedFirst[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { recovered } of failed)
    if (recovered !== null) counts.set(recovered.attempt, (counts.get(recovered.attempt) ?? 0) + 1);
  return new Map([...counts].sort(([one], [other]) => one - other));
}
