import { describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar-date.ts';
import { parseMoney } from '../../../src/domain/money.ts';
import type { Signal } from '../../../src/domain/signals.ts';
import { dayInChicago, whyIgnored } from '../../../src/domain/signals.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import { at } from '../../support/records.ts';

const base = { signalId: 's-1', userId: 'u-1' as UserId };
const income = (amount: string, date: string): Signal => ({
  ...base,
  kind: 'income',
  amount: parseMoney(amount)!,
  date: parseDate(date)!,
});

describe('the day in Chicago', () => {
  it.each([
    ['2026-11-16T05:59:59Z', '2026-11-15', 'winter: six hours behind'],
    ['2026-11-16T06:00:00Z', '2026-11-16', 'winter: midnight there'],
    ['2026-07-16T04:59:59Z', '2026-07-15', 'summer: five hours behind'],
    ['2026-07-16T05:00:00Z', '2026-07-16', 'summer: midnight there'],
    ['2027-01-01T03:00:00Z', '2026-12-31', 'another year there'],
  ])('at %s is %s (%s)', (now, day) => {
    expect(dayInChicago(at(now))).toBe(day);
  });
});

describe('an income signal', () => {
  const now = at('2026-11-16T15:00:00Z');

  it.each([
    ['75.00', '2026-11-16', 'amount-too-small'],
    ['75.01', '2026-11-16', null],
    ['900.00', '2026-11-15', 'not-today'],
    ['900.00', '2026-11-17', 'not-today'],
    ['10.00', '2026-11-15', 'amount-too-small'],
  ])('of %s on %s: %s', (amount, date, why) => {
    expect(whyIgnored(income(amount, date), now)).toBe(why);
  });

  it('late in the evening counts by the day there, not by ours', () => {
    const evening = at('2026-11-17T02:00:00Z');
    expect(whyIgnored(income('100.00', '2026-11-16'), evening)).toBeNull();
    expect(whyIgnored(income('100.00', '2026-11-17'), evening)).toBe('not-today');
  });
});

describe('a balance signal', () => {
  it.each([
    [true, null],
    [false, 'not-primary-account'],
  ])('of an account that is primary: %s → %s', (isPrimary, why) => {
    expect(whyIgnored({ ...base, kind: 'balance', isPrimary }, at('2026-11-16T15:00:00Z'))).toBe(why);
  });
});
