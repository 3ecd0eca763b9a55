/**
 * Durations as Go's `time.ParseDuration` reads and `Duration.String` writes them: "1m0s", "1.5h", "100ms". Lock rows
 * carry the holder's lease in this text.
 */

const NANOS_PER_UNIT: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5, micro sign
  μs: 1_000n, // U+03BC, Greek letter mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const NANOS_PER_MS = 1_000_000n;
const LONGEST_NANOS = 2n ** 63n - 1n;
const WHOLE = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const PART = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;

/** In milliseconds, with a fraction where the text has one. Null for text that Go would not read either. */
export function parseGoDuration(text: string): number | null {
  if (/^[+-]?0$/.test(text)) return 0;
  const match = WHOLE.exec(text);
  if (match === null) return null;
  const [, sign, parts = ''] = match;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of parts.matchAll(PART)) {
    nanos += nanosOf(whole, fraction, NANOS_PER_UNIT[unit] ?? 0n);
  }
  if (nanos > LONGEST_NANOS) return null;
  // Apart, because nanoseconds beyond 104 days do not fit a number.
  const ms = Number(nanos / NANOS_PER_MS) + Number(nanos % NANOS_PER_MS) / Number(NANOS_PER_MS);
  return sign === '-' ? -ms : ms;
}

/** As `Duration.String` prints whole milliseconds: units from hours down, without leading zero units. */
export function formatGoDuration(ms: number): string {
  if (!Number.isSafeInteger(ms)) throw new RangeError(`a duration is whole milliseconds, not ${ms}`);
  if (ms < 0) return `-${formatGoDuration(-ms)}`;
  if (ms === 0) return '0s';
  if (ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = (ms % 60_000) / 1000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** Go cuts what is finer than a nanosecond. */
function nanosOf(whole: string, fraction: string, unitNanos: bigint): bigint {
  const scale = 10n ** BigInt(fraction.length);
  return BigInt(whole || '0') * unitNanos + (BigInt(fraction || '0') * unitNanos) / scale;
}
