const RFC3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;
const NANOS_PER_MS = 1_000_000n;

/** Go's zero time: not set. */
const UNSET = '0001-01-01T00:00:00Z';

/** Nanoseconds since 1970. Null for what is no instant. */
export function parseInstant(text: string): bigint | null {
  const [, seconds = '', fraction = '', zone = ''] = RFC3339.exec(text) ?? [];
  const ms = Date.parse(seconds + zone);
  return Number.isNaN(ms) ? null : BigInt(ms) * NANOS_PER_MS + BigInt(fraction.padEnd(9, '0'));
}

export const isUnset = (text: string): boolean => text === '' || text === UNSET;

export const plusMs = (instant: bigint, ms: number): bigint => instant + BigInt(ms) * NANOS_PER_MS;

export const byInstant = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** To the millisecond, for people. */
export const instantText = (instant: bigint): string =>
  new Date(Number(instant / NANOS_PER_MS)).toISOString();
