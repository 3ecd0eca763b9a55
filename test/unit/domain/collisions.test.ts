import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeInstant } from '../../../src/domain/collisions.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import type { BillingStatus } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import { NANOS_PER_HOUR } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

const WANTED = at('2026-11-16T06:00:00Z');
const taken = (...times: string[]): ReadonlySet<Instant> => new Set(times.map(at));
const MOVABLE = BILLING_STATUSES.filter((status) => status !== 'SCHEDULED');

describe('a row whose instant is free', () => {
  it.each(BILLING_STATUSES)('stays where it is when it is %s', (status) => {
    expect(freeInstant(WANTED, status, taken())).toBe(WANTED);
    expect(freeInstant(WANTED, status, taken('2026-11-16T07:00:00Z', '2026-11-16T06:00:00.5Z'))).toBe(WANTED);
  });
});

describe('a row whose instant is taken', () => {
  it('may not move when it is SCHEDULED: the period is taken', () => {
    expect(freeInstant(WANTED, 'SCHEDULED', taken('2026-11-16T06:00:00Z'))).toBeNull();
  });

  it.each(MOVABLE)('moves by an hour when it is %s', (status: BillingStatus) => {
    expect(freeInstant(WANTED, status, taken('2026-11-16T06:00:00Z'))).toBe(at('2026-11-16T07:00:00Z'));
  });

  it('moves on by whole hours to the first that is free, over midnight too', () => {
    const day = Array.from({ length: 19 }, (_, hour) => (WANTED + BigInt(hour) * NANOS_PER_HOUR) as Instant);
    expect(freeInstant(WANTED, 'CANCELLED', new Set(day))).toBe(at('2026-11-17T01:00:00Z'));
  });

  it('takes a gap between taken hours', () => {
    const busy = taken('2026-11-16T06:00:00Z', '2026-11-16T07:00:00Z', '2026-11-16T09:00:00Z');
    expect(freeInstant(WANTED, 'COMPLETED', busy)).toBe(at('2026-11-16T08:00:00Z'));
  });

  it('always ends on a free instant, whole hours on, with nothing free in between', () => {
    const busyHours = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 31 });
    fc.assert(
      fc.property(fc.constantFrom(...MOVABLE), busyHours, (status, hours) => {
        const busy = new Set(hours.map((hour) => (WANTED + BigInt(hour) * NANOS_PER_HOUR) as Instant));
        const expected = Array.from({ length: 32 }, (_, hour) => hour).find((hour) => !hours.includes(hour))!;
        expect(freeInstant(WANTED, status, busy)).toBe(WANTED + BigInt(expected) * NANOS_PER_HOUR);
      }),
    );
  });
});
