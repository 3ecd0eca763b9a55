import type { AchAttempt, AttemptProcess, PastAttempt } from '../attempt.ts';
import { addBankingDays, bankDateOf, startOfBankDay } from '../bank-calendar.ts';
import type { CalendarDate } from '../calendar-date.ts';
import { addDays } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';

export interface AchReturn {
  readonly result: 'RETURNED';
  /** Null where the processor gives no code. */
  readonly returnCode: string | null;
  readonly message: string | null;
}

/** The bank's word about an entry that was sent to it. */
export type AchOutcome = { readonly result: 'COMPLETED' } | AchReturn;

/** Which entry the word is about. `accountId` is null where the Go service sent it. */
export interface AchEntry {
  readonly process: AttemptProcess;
  /** When its attempt was opened: past attempts are dated so. */
  readonly at: Instant;
  readonly accountId: string | null;
}

/**
 * Settlement is on the next banking day and a return reaches us within two more, so before the third is over the
 * outcome cannot be known. Processors without callbacks treat an entry as paid then.
 */
const UNCERTAIN_BANKING_DAYS = 3;

/** Until so long after it was paid an entry may come back: a consumer has sixty days to say that it was not authorized. */
export const RETURNABLE_DAYS = 60;

/** When to ask for the first time what became of an entry: the third banking day after it was sent is over. */
export const firstLook = (sentAt: Instant): Instant =>
  endOf(addBankingDays(bankDateOf(sentAt), UNCERTAIN_BANKING_DAYS));

/** When to ask again: banks book once a banking day, so at the end of the one that is going on or comes next. */
export const nextLook = (now: Instant): Instant => endOf(addBankingDays(bankDateOf(now), 0));

const endOf = (bankDay: CalendarDate): Instant => startOfBankDay(addDays(bankDay, 1));

/**
 * A record's attempts with the bank's word in them. An entry that is not among them was sent by the Go service: it is
 * added, because it was a presentment like any other.
 */
export function withSettled(
  past: readonly PastAttempt[],
  entry: AchEntry,
  outcome: AchOutcome,
): PastAttempt[] {
  const { process, at, accountId } = entry;
  const word = {
    rail: 'ACH',
    result: outcome.result,
    returnCode: outcome.result === 'RETURNED' ? outcome.returnCode : null,
  } as const;
  const index = past.findLastIndex((attempt) => attempt.rail === 'ACH' && isSame(attempt, entry));
  const settled = past[index];
  if (settled === undefined) return [...past, { process, at, accountId, ...word }];
  return past.with(index, { accountId, ...settled, ...word });
}

/** An entry of the Go service has no attempt: it is the one without an account that has not been returned. */
function isSame(attempt: PastAttempt & AchAttempt, { at, accountId }: AchEntry): boolean {
  if (accountId !== null) return attempt.at === at;
  return attempt.accountId === null && (attempt.result === 'ACHSENT' || attempt.result === 'COMPLETED');
}
