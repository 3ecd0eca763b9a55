import type { CalendarDate } from '../calendar-date.ts';
import { addDays } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import type { Cents } from '../money.ts';
import { cents, formatMoney } from '../money.ts';
import type { Float } from './float.ts';
import { FLOAT_BIRTH_STATUS } from './transitions.ts';

/** What is asked for when a float is recorded. */
export type Advance = Pick<Float, 'floatId' | 'userId' | 'amount' | 'dueDate'>;

/** How much is advanced at most, and for how long. Each is configuration. */
export interface FloatLimits {
  /** What a wage can pay back at once. */
  readonly maxAmount: Cents;
  /** A month and a half: the wage after next, also for a member who is paid by the month. */
  readonly maxDaysAhead: number;
}

export const DEFAULT_FLOAT_LIMITS: FloatLimits = { maxAmount: cents(25_000), maxDaysAhead: 45 };

/** Which limit is passed, and what it is. Null: none. */
export function limitPassed(
  { amount, dueDate }: Pick<Advance, 'amount' | 'dueDate'>,
  { maxAmount, maxDaysAhead }: FloatLimits,
  today: CalendarDate,
): string | null {
  if (amount > maxAmount) return `amount: at most ${formatMoney(maxAmount)}`;
  const latest = addDays(today, maxDaysAhead);
  return dueDate > latest ? `due_date: ${latest} at the latest` : null;
}

/** What can be checked without underwriting, which is not ours. A new requirement goes here, with its reason. */
export interface Requirements {
  readonly hasPrimaryAccount: boolean;
  readonly floats: readonly Pick<Float, 'floatId' | 'status'>[];
}

/** The first requirement that is not met, or null. */
export function unmetRequirement({ hasPrimaryAccount, floats }: Requirements): string | null {
  // There would be nothing to collect it from.
  if (!hasPrimaryAccount) return 'the member has no primary account';
  const lost = floats.find(({ status }) => status === 'DEFAULTED');
  return lost === undefined ? null : `float ${lost.floatId} of this member was not paid back`;
}

/** Whether a bypass still counts: its date is the last day on which it does. */
export const bypassCounts = (expirationDate: CalendarDate, today: CalendarDate): boolean =>
  today <= expirationDate;

export const newFloat = ({ floatId, userId, amount, dueDate }: Advance, now: Instant): Float => ({
  floatId,
  userId,
  status: FLOAT_BIRTH_STATUS,
  amount,
  dueDate,
  createdAt: now,
  lastRunTime: now,
  completedAt: null,
  creditReturnedAt: null,
  confirmationId: '',
  error: '',
});
