/*
 * The oracle's own reading of what is stored. It knows attributes by their names in the tables' documents, and no code that
 * writes them.
 */

export type Item = Readonly<
  Record<
    string,
    {
      readonly S?: string;
      readonly N?: string;
      readonly BOOL?: boolean;
      readonly M?: Item;
      readonly NULL?: boolean;
    }
  >
>;

export interface Change {
  readonly table: string;
  readonly before: Item | null;
  readonly after: Item | null;
}

export const text = (item: Item | null, name: string): string => item?.[name]?.S ?? '';

/** Of the pipeline table: a charge or a refund. */
export const isAttempt = (item: Item): boolean => text(item, 'sk').startsWith('ATTEMPT#');

/** How an attempt ended. Empty: it has not. */
export const resolutionOf = (attempt: Item): string => text(attempt['resolution']?.M ?? null, 'status');

export const isToCome = (row: Item): boolean => ['SCHEDULED', 'PAUSED'].includes(text(row, 'billing_status'));

export const isLeaving = (row: Item): boolean => text(row, 'updated_event') === 'PENDING_CANCELLATION';

/** Times that are not set are of the year 1. */
export const isUntried = (row: Item): boolean => text(row, 'initial_run_date') < '0002';

/** Who a change in the lock table, the billing table or an attempt concerns. */
export const LOCK_PREFIX = 'subscription-billing:user_id:';

export function cents(amount: string): number {
  const [whole = '0', fraction = ''] = amount.split('.');
  return Number(whole) * 100 + Number(fraction.padEnd(2, '0').slice(0, 2));
}

/** Nanoseconds since 1970 of an RFC 3339 text in UTC. */
export function nanos(instant: string): bigint {
  const [, seconds = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(instant) ?? [];
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9) || '0');
}

export const ms = (instant: string): number => Number(nanos(instant) / 1_000_000n);
