import type { CalendarDate } from '../../domain/calendar-date.ts';
import { addDays, parseDate } from '../../domain/calendar-date.ts';
import type { RecurringProcess } from '../../domain/recurring/runs.ts';
import { BadCursorError } from '../../errors.ts';
import type { DueList, DueRecurringPage, RecurringRepository } from '../../ports/recurring.ts';
import type { PageKey } from '../../ports/subscriptions.ts';

/*
 * The indexes have a partition for each day, so what is due is read day by day: from the first that may still have
 * something to today. Days that were missed are read like any other, and one that is empty costs a look.
 *
 *   since ─── … ─── three days ago ─── today
 *   nothing before it is due    always read: a write that was late, or an index
 */

export type DueDays = Pick<
  RecurringRepository,
  'getDuePaymentsByDate' | 'getDueRemindersByDate' | 'dueSince'
>;
export type DueMarks = DueDays & Pick<RecurringRepository, 'noteDueSince'>;

export const LIST_OF_RUN: Record<RecurringProcess, DueList> = {
  'recurring-payments': 'payments',
  'recurring-reminders': 'reminders',
};

/** How far back a table that another system has filled is looked through, once. */
const FIRST_LOOK_DAYS = 400;
/** Clocks differ, and what was written last may show late in an index. */
const ALWAYS_READ_DAYS = 3;

export interface DueQuery {
  readonly list: DueList;
  readonly today: CalendarDate;
  readonly cursor: PageKey | null;
}

/** What is due by that day, a page at a time; the oldest first. */
export async function readDueDays(
  recurring: DueDays,
  { list, today, cursor }: DueQuery,
): Promise<DueRecurringPage> {
  let { day, key } =
    cursor === null ? { day: await firstDay(recurring, list, today), key: null } : placeIn(cursor);
  for (;;) {
    const page = await onDay(recurring, list, day, key);
    if (page.nextKey !== null) return { ...page, nextKey: cursorOf(day, page.nextKey) };
    const isLast = day >= today;
    if (isLast || !isEmpty(page))
      return { ...page, nextKey: isLast ? null : cursorOf(addDays(day, 1), null) };
    day = addDays(day, 1);
    key = null;
  }
}

/** Days on which nothing is left to do need not be read again. */
export async function passEmptyDays(recurring: DueMarks, list: DueList, today: CalendarDate): Promise<void> {
  const since = await recurring.dueSince(list);
  let day = await firstDay(recurring, list, today);
  while (day < addDays(today, -ALWAYS_READ_DAYS) && isEmpty(await onDay(recurring, list, day, null)))
    day = addDays(day, 1);
  if (day !== since) await recurring.noteDueSince(list, day);
}

/** A clock that was set back, as a sandbox's can be, finds what was due by it before. */
async function firstDay(
  recurring: Pick<DueDays, 'dueSince'>,
  list: DueList,
  today: CalendarDate,
): Promise<CalendarDate> {
  const since = (await recurring.dueSince(list)) ?? addDays(today, -FIRST_LOOK_DAYS);
  const latest = addDays(today, -ALWAYS_READ_DAYS);
  return since < latest ? since : latest;
}

const onDay = (
  recurring: Pick<DueDays, 'getDuePaymentsByDate' | 'getDueRemindersByDate'>,
  list: DueList,
  day: CalendarDate,
  key: PageKey | null,
): Promise<DueRecurringPage> =>
  list === 'payments' ? recurring.getDuePaymentsByDate(day, key) : recurring.getDueRemindersByDate(day, key);

const isEmpty = ({ due, malformed, nextKey }: DueRecurringPage): boolean =>
  due.length === 0 && malformed.length === 0 && nextKey === null;

const cursorOf = (day: CalendarDate, key: PageKey | null): PageKey => `${day}:${key ?? ''}` as PageKey;

function placeIn(cursor: PageKey): { readonly day: CalendarDate; readonly key: PageKey | null } {
  const [, text = '', key = ''] = /^([^:]*):(.*)$/.exec(cursor) ?? [];
  const day = parseDate(text);
  if (day === null) throw new BadCursorError('this is no cursor');
  return { day, key: key === '' ? null : (key as PageKey) };
}
