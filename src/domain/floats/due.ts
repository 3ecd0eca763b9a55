import { addBankingDays } from '../bank-calendar.ts';
import type { CalendarDate } from '../calendar-date.ts';
import { addDays } from '../calendar-date.ts';
import type { Float, FloatStatus, Stage } from './float.ts';

/** A member may pay at any time what is owed; but not a second time what is under way. */
export const COLLECTED_BY: Record<Stage, readonly FloatStatus[]> = {
  TOMORROW: ['SCHEDULING'],
  TODAY6AM: ['SCHEDULING'],
  RETRY: ['RETRY', 'UNCOLLECTABLE'],
  WEBHOOK: ['RETRY', 'UNCOLLECTABLE'],
  SUPPORT: ['SCHEDULING', 'RETRY', 'UNCOLLECTABLE'],
};

/** Both ends included; null is no bound. */
export interface DueDates {
  readonly from: CalendarDate | null;
  readonly to: CalendarDate | null;
}

/**
 * An ACH debit that is to arrive on the due date leaves on the banking day before. So on the day before a long weekend
 * everything goes that is due until the banks have opened again.
 */
export function dueDates(stage: Stage, today: CalendarDate): DueDates {
  switch (stage) {
    case 'TOMORROW':
      return { from: addDays(today, 1), to: addBankingDays(today, 1) };
    case 'TODAY6AM':
    case 'RETRY':
    case 'WEBHOOK':
      return { from: null, to: today };
    case 'SUPPORT':
      return { from: null, to: null };
  }
}

export interface FloatRange extends DueDates {
  readonly status: FloatStatus;
}

/** What a stage has to read from the index by status and due date. */
export const floatRanges = (stage: Stage, today: CalendarDate): FloatRange[] =>
  COLLECTED_BY[stage].map((status) => ({ status, ...dueDates(stage, today) }));

export type NotCollectedReason = 'status-not-collected' | 'not-due';

/** Cheap: needs nothing but the float. With an answer here the caller need not ask for the facts. */
export function whyNotCollected(
  stage: Stage,
  { status, dueDate }: Pick<Float, 'status' | 'dueDate'>,
  today: CalendarDate,
): NotCollectedReason | null {
  if (!COLLECTED_BY[stage].includes(status)) return 'status-not-collected';
  const { from, to } = dueDates(stage, today);
  const isDue = (from === null || dueDate >= from) && (to === null || dueDate <= to);
  return isDue ? null : 'not-due';
}
