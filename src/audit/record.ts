import { byInstant, isUnset, parseInstant } from './instant.ts';
import type { PlainItem } from './source.ts';

/** A state of a billing record: the billing row, or one of its history rows. */
export interface RecordState {
  readonly item: PlainItem;
  readonly userId: string;
  readonly subscriptionId: string;
  readonly status: string;
  readonly billingDate: bigint;
  readonly billingDateText: string;
  readonly lastRunDate: bigint;
  readonly lastRunDateText: string;
  readonly attempted: boolean;
  readonly updatedEvent: string;
  readonly amountCents: number;
  readonly monthsPerTerm: 1 | 12;
  readonly billingWeek: number | null;
  /** By this record the member came back: it is paid, and a membership begins anew with it. */
  readonly cameBack: boolean;
  /** 0: it was not paused. */
  readonly pauseMonths: number;
}

/** A history row also tells why, unless the Go service wrote it. */
export interface Change extends RecordState {
  readonly cause: string | null;
  readonly attemptId: string | null;
  readonly triggerId: string | null;
  /** An attempt that began with the outcome of another: what was paid for in vain is given back. */
  readonly openedAttemptId: string | null;
}

export interface Attempt {
  readonly id: string;
  readonly triggerId: string;
  /** What asked for it: of a float's, its stage. */
  readonly process: string;
  readonly rail: string;
  readonly isRefund: boolean;
  /** The card's attempt after whose decline the account was asked. */
  readonly insteadOf: string | null;
  readonly openedAt: bigint;
  /** When it was sent again last. */
  readonly sentAgainAt: bigint | null;
  readonly resolution: { readonly status: string; readonly at: bigint } | null;
}

/** Something is stored that cannot be read. The message names the attribute, not its value. */
export class UnreadableItem extends Error {}

export function readState(item: PlainItem): RecordState {
  const attempted = !isUnset(optionalText(item, 'initial_run_date'));
  return {
    item,
    userId: text(item, 'user_id'),
    subscriptionId: text(item, 'subscription_id'),
    status: text(item, 'billing_status'),
    billingDate: instant(item, 'billing_date'),
    billingDateText: text(item, 'billing_date'),
    lastRunDate: instant(item, 'last_run_date'),
    lastRunDateText: text(item, 'last_run_date'),
    attempted,
    updatedEvent: optionalText(item, 'updated_event'),
    amountCents: cents(item, 'billing_amount'),
    monthsPerTerm: optionalText(item, 'term') === 'YEARLY' ? 12 : 1,
    billingWeek: typeof item['billing_week'] === 'number' ? item['billing_week'] : null,
    cameBack: attempted && optionalText(item, 'process') === 'REACTIVATION',
    pauseMonths: typeof item['pause_duration_months'] === 'number' ? item['pause_duration_months'] : 0,
  };
}

export const readChange = (item: PlainItem): Change => ({
  ...readState(item),
  cause: optionalText(item, 'data_cause') || null,
  attemptId: optionalText(item, 'data_attempt_id') || null,
  triggerId: optionalText(item, 'data_trigger_id') || null,
  openedAttemptId: optionalText(item, 'data_opened_attempt_id') || null,
});

export function readAttempt(item: PlainItem): Attempt {
  const resolution = item['resolution'] as PlainItem | null | undefined;
  return {
    id: text(item, 'attemptId'),
    triggerId: text(item, 'triggerId'),
    process: optionalText(item, 'process'),
    rail: text(item, 'rail'),
    isRefund: optionalText(item, 'refundOf') !== '',
    insteadOf: optionalText(item, 'insteadOf') || null,
    openedAt: instant(item, 'openedAt'),
    sentAgainAt: optionalText(item, 'sentAgainAt') === '' ? null : instant(item, 'sentAgainAt'),
    resolution:
      resolution === null || resolution === undefined
        ? null
        : { status: text(resolution, 'status'), at: instant(resolution, 'at') },
  };
}

export function parseCents(amount: string): number | null {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(amount) ?? [];
  return whole === undefined ? null : Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
}

export const oldestFirst = (a: RecordState, b: RecordState): number =>
  byInstant(a.lastRunDate, b.lastRunDate);

export function text(item: PlainItem, name: string): string {
  const value = optionalText(item, name);
  if (value === '') throw new UnreadableItem(`${name} is missing`);
  return value;
}

export function optionalText(item: PlainItem, name: string): string {
  const value = item[name];
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new UnreadableItem(`${name} is no text`);
  return value;
}

export function instant(item: PlainItem, name: string): bigint {
  const found = parseInstant(text(item, name));
  if (found === null) throw new UnreadableItem(`${name} is no time`);
  return found;
}

export function cents(item: PlainItem, name: string): number {
  const found = parseCents(text(item, name));
  if (found === null) throw new UnreadableItem(`${name} is no amount`);
  return found;
}
