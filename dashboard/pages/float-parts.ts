import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import { daysBetween } from '../../src/domain/calendar-date.ts';
import type { Float, FloatStatus } from '../../src/domain/floats/float.ts';
import { day, plural } from '../format.ts';
import type { Html, Renderable } from '../html.ts';
import { html } from '../html.ts';

const TONES: Record<FloatStatus, string> = {
  SCHEDULING: '',
  ACHSENT: 'warn',
  RETRY: 'bad',
  UNCOLLECTABLE: 'bad',
  COMPLETED: 'good',
  DEFAULTED: 'bad',
};

export const floatPill = (status: FloatStatus): Html =>
  html`<span class="pill ${TONES[status]}">${status}</span>`;

export const floatUrl = ({ userId, floatId }: Pick<Float, 'userId' | 'floatId'>): string =>
  `/users/${encodeURIComponent(userId)}?float=${encodeURIComponent(floatId)}`;

/** `16 Nov 2026 4 days ago` */
export const dueDay = (dueDate: CalendarDate, today: CalendarDate, between: Renderable = ' '): Html =>
  html`<span
    ><time datetime="${dueDate}">${day(dueDate)}</time>${between}<span class="sub"
      >${distance(dueDate, today)}</span
    ></span
  >`;

function distance(dueDate: CalendarDate, today: CalendarDate): string {
  const days = daysBetween(today, dueDate);
  if (days === 0) return 'today';
  return days > 0 ? `in ${plural(days, 'day')}` : `${plural(-days, 'day')} ago`;
}

/** What reads badly over two lines. */
export const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0');
