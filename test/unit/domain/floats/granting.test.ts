import { describe, expect, it } from 'vitest';
import { dateOf } from '../../../../src/domain/calendar-date.ts';
import type { Float, FloatId } from '../../../../src/domain/floats/float.ts';
import { FLOAT_STATUSES } from '../../../../src/domain/floats/float.ts';
import {
  DEFAULT_FLOAT_LIMITS,
  bypassCounts,
  limitPassed,
  newFloat,
  unmetRequirement,
} from '../../../../src/domain/floats/granting.ts';
import { cents } from '../../../../src/domain/money.ts';
import type { UserId } from '../../../../src/domain/subscription.ts';
import { day } from '../../../support/floats.ts';
import { at } from '../../../support/records.ts';

const TODAY = day('2026-11-16');

describe('the limits for anybody', () => {
  const passed = (amount: number, dueDate: string) =>
    limitPassed({ amount: cents(amount), dueDate: day(dueDate) }, DEFAULT_FLOAT_LIMITS, TODAY);

  it.each([
    [25_000, '2026-12-31', null],
    [1, '2026-11-16', null],
    [25_001, '2026-11-30', 'amount: at most 250.00'],
    [25_000, '2027-01-01', 'due_date: 2026-12-31 at the latest'],
    [25_001, '2027-01-01', 'amount: at most 250.00'],
  ])('of %i cents due on %s: %s', (amount, dueDate, text) => {
    expect(passed(amount, dueDate)).toBe(text);
  });
});

describe('what a float requires', () => {
  const past = (status: Float['status']) => [
    { floatId: 'f-1' as FloatId, status: 'COMPLETED' as const },
    { floatId: 'f-2' as FloatId, status },
  ];

  it('is an account to collect it from', () => {
    expect(unmetRequirement({ hasPrimaryAccount: true, floats: [] })).toBeNull();
    expect(unmetRequirement({ hasPrimaryAccount: false, floats: past('DEFAULTED') })).toBe(
      'the member has no primary account',
    );
  });

  it.each(FLOAT_STATUSES)('and none before it that was never paid back: %s', (status) => {
    const unmet = unmetRequirement({ hasPrimaryAccount: true, floats: past(status) });
    expect(unmet).toBe(status === 'DEFAULTED' ? 'float f-2 of this member was not paid back' : null);
  });
});

it.each([
  ['2026-11-15T23:59:59.999999999Z', true],
  ['2026-11-16T00:00:00Z', true],
  ['2026-11-16T23:59:59.999999999Z', true],
  ['2026-11-17T00:00:00Z', false],
])('a bypass up to 16 November counts at %s: %s', (now, counts) => {
  expect(bypassCounts(TODAY, dateOf(at(now)))).toBe(counts);
});

it('a new float is to be collected on its due date, and nothing has happened to it', () => {
  const advance = {
    floatId: 'f-1' as FloatId,
    userId: 'user-1' as UserId,
    amount: cents(5_000),
    dueDate: day('2026-11-30'),
  };
  const now = at('2026-11-16T08:00:00.5Z');
  expect(newFloat(advance, now)).toEqual({
    ...advance,
    status: 'SCHEDULING',
    createdAt: now,
    lastRunTime: now,
    completedAt: null,
    creditReturnedAt: null,
    confirmationId: '',
    error: '',
  });
});
