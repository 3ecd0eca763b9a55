import type { AchAttempt, PastAttempt } from '../attempt.ts';
import { addBankingDays, bankDateOf } from '../bank-calendar.ts';
import type { CalendarDate } from '../calendar-date.ts';
import { daysBetween } from '../calendar-date.ts';
import { compareInstants } from '../instant.ts';
import type { CollectionPolicy } from '../policy.ts';
import { mayBePresentedAgain } from './return-codes.ts';

export type GateReason =
  | 'ach-account-blocked'
  | 'ach-entry-pending'
  | 'ach-not-representable'
  | 'ach-representments-used-up'
  | 'ach-window-over'
  | 'ach-too-soon';

/** May an ACH debit for this record go to this account today, and would it be a re-presentment (`RETRY PYMT`)? */
export type GateAnswer =
  | { readonly open: true; readonly representment: boolean }
  | { readonly open: false; readonly reason: GateReason; readonly until: CalendarDate | null };

export type AchPolicy = Pick<
  CollectionPolicy,
  'achRepresentMax' | 'achRepresentWindowDays' | 'achRepresentMinBankingDays'
>;

export interface AchTarget {
  readonly accountId: string;
  /** The hard return code that stopped ACH for this account, if one did. */
  readonly achBlock: string | null;
}

const closed = (reason: GateReason, until: CalendarDate | null = null): GateAnswer => ({
  open: false,
  reason,
  until,
});

/**
 * Counts what was really presented to this account for this record. Card attempts, refusals and entries that never
 * left are no presentments; an entry to another account was another entry.
 */
export function achGate(
  target: AchTarget,
  attempts: readonly PastAttempt[],
  today: CalendarDate,
  policy: AchPolicy,
): GateAnswer {
  if (target.achBlock !== null) return closed('ach-account-blocked');
  const presented = presentments(attempts, target.accountId);
  const first = presented[0];
  const last = presented.at(-1);
  if (first === undefined || last === undefined) return { open: true, representment: false };

  if (!presented.every(({ result }) => result === 'RETURNED')) return closed('ach-entry-pending');
  if (!presented.every(({ returnCode }) => returnCode !== null && mayBePresentedAgain(returnCode)))
    return closed('ach-not-representable');
  if (presented.length > policy.achRepresentMax) return closed('ach-representments-used-up');
  const earliest = addBankingDays(bankDateOf(last.at), policy.achRepresentMinBankingDays);
  const day = earliest > today ? earliest : today;
  // The next permitted day counts, not today: "too soon until" a day on which it is too late would be a false promise.
  if (daysBetween(bankDateOf(first.at), day) > policy.achRepresentWindowDays)
    return closed('ach-window-over');
  if (day > today) return closed('ach-too-soon', day);
  return { open: true, representment: true };
}

function presentments(attempts: readonly PastAttempt[], accountId: string): (PastAttempt & AchAttempt)[] {
  return attempts
    .filter((attempt) => attempt.rail === 'ACH')
    .filter((attempt) => attempt.result !== 'FAILED')
    .filter((attempt) => attempt.accountId === null || attempt.accountId === accountId)
    .sort((a, b) => compareInstants(a.at, b.at));
}
