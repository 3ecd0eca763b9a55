import type { Instant } from '../src/domain/instant.ts';
import { formatInstant, msOf, wholeSecond } from '../src/domain/instant.ts';
import type { Cents } from '../src/domain/money.ts';
import { formatMoney } from '../src/domain/money.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';

/*
 * Values as people read them. Times are UTC everywhere, as in runs and records.
 */

const WHOLE = new Intl.NumberFormat('en-US');

export const count = (value: number): string => WHOLE.format(value);

export function dollars(amount: Cents): string {
  const text = formatMoney(amount);
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  return `${text.startsWith('-') ? '−' : ''}$${WHOLE.format(Number(whole))}.${fraction}`;
}

export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** `16 Nov 2026 08:00:03`; machines find the whole of it in the attribute. */
export function time(instant: Instant): Html {
  const iso = formatInstant(wholeSecond(instant));
  return html`<time datetime="${formatInstant(instant)}" title="${formatInstant(instant)}"
    >${day(iso)} <span class="clock">${iso.slice(11, 19)}</span></time
  >`;
}

export const clockTime = (instant: Instant): Html =>
  html`<time datetime="${formatInstant(instant)}">${formatInstant(instant).slice(11, 16)}</time>`;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `2026-11-16…` → `16 Nov 2026` */
export const day = (iso: string): string =>
  `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1] ?? ''} ${iso.slice(0, 4)}`;

export function duration(from: Instant, to: Instant): string {
  const seconds = Math.max(0, Math.round((msOf(to) - msOf(from)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
