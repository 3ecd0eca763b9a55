import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { achGate } from '../../../src/domain/ach/gate.ts';
import type { AchEntry, AchOutcome } from '../../../src/domain/ach/settlement.ts';
import { firstLook, nextLook, withSettled } from '../../../src/domain/ach/settlement.ts';
import type { PastAttempt } from '../../../src/domain/attempt.ts';
import { bankDateOf, isBankingDay } from '../../../src/domain/bank-calendar.ts';
import type { CalendarDate } from '../../../src/domain/calendar-date.ts';
import { addDays, parseDate } from '../../../src/domain/calendar-date.ts';
import { formatInstant, plusDays, plusMs, plusNanos } from '../../../src/domain/instant.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { instants, pastAttempts } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

const NOW = at('2026-11-16T08:00:00Z');
const days = instants(at('2024-01-01T00:00:00Z'), at('2031-01-01T00:00:00Z'));

/** How many banking days lie after `from`, up to and with `to`. */
function bankingDaysBetween(from: CalendarDate, to: CalendarDate): number {
  let count = 0;
  for (let day = addDays(from, 1); day <= to; day = addDays(day, 1)) {
    if (isBankingDay(day)) count += 1;
  }
  return count;
}

describe('the first look at an entry', () => {
  it.each([
    ['Monday, looked at when Thursday is over', '2026-11-16T14:00:00Z', '2026-11-20T05:00:00Z'],
    ['late on a Sunday by New York time', '2026-11-16T04:59:59Z', '2026-11-19T05:00:00Z'],
    ['Wednesday, over a weekend', '2026-11-18T14:00:00Z', '2026-11-24T05:00:00Z'],
    ['Friday, looked at on Thursday', '2026-11-13T14:00:00Z', '2026-11-19T05:00:00Z'],
    ['before Thanksgiving', '2026-11-24T14:00:00Z', '2026-12-01T05:00:00Z'],
    ['in summer', '2026-07-06T14:00:00Z', '2026-07-10T04:00:00Z'],
    ['over the change to summer time', '2026-03-05T14:00:00Z', '2026-03-11T04:00:00Z'],
  ])('sent %s', (_, sentAt, look) => {
    expect(formatInstant(firstLook(at(sentAt)))).toBe(look);
  });

  it('comes as soon as the third banking day after it is over, and not before', () => {
    fc.assert(
      fc.property(days, (sentAt) => {
        const look = firstLook(sentAt);
        const lastMoment = bankDateOf(plusNanos(look, -1n));
        expect(isBankingDay(lastMoment)).toBe(true);
        expect(bankingDaysBetween(bankDateOf(sentAt), lastMoment)).toBe(3);
        expect(bankDateOf(look)).toBe(addDays(lastMoment, 1));
      }),
    );
  });
});

describe('the next look', () => {
  it.each([
    ['on a Friday is when that day is over', '2026-11-20T05:00:00Z', '2026-11-21T05:00:00Z'],
    ['on a Saturday waits for Monday’s end', '2026-11-21T05:00:00Z', '2026-11-24T05:00:00Z'],
  ])('%s', (_, now, look) => {
    expect(formatInstant(nextLook(at(now)))).toBe(look);
  });

  it('is later than now, with exactly one banking day gone on or after today', () => {
    fc.assert(
      fc.property(days, (now) => {
        const look = nextLook(now);
        expect(look > now).toBe(true);
        const yesterday = addDays(bankDateOf(now), -1);
        expect(bankingDaysBetween(yesterday, bankDateOf(plusNanos(look, -1n)))).toBe(1);
      }),
    );
  });
});

const returned = (returnCode: string | null): AchOutcome => ({
  result: 'RETURNED',
  returnCode,
  message: null,
});
const entries: fc.Arbitrary<AchEntry> = fc.record({
  process: fc.constant('INITIAL' as const),
  at: fc.integer({ min: 0, max: 5 }).map((day) => plusDays(NOW, -day)),
  accountId: fc.constantFrom('account-1', null),
});
const outcomes: fc.Arbitrary<AchOutcome> = fc.constantFrom(
  { result: 'COMPLETED' },
  returned('R01'),
  returned('R02'),
  returned(null),
);

describe('the bank’s word among the attempts', () => {
  const attempt: PastAttempt = {
    process: 'RETRY',
    at: NOW,
    rail: 'ACH',
    result: 'ACHSENT',
    returnCode: null,
    accountId: 'account-1',
  };
  const entry: AchEntry = { process: 'RETRY', at: NOW, accountId: 'account-1' };

  it('is put to the entry that it is about and to no other', () => {
    const before = { ...attempt, at: plusMs(NOW, -1), result: 'RETURNED', returnCode: 'R09' } as const;
    const card: PastAttempt = { process: 'RETRY', at: NOW, rail: 'PINLESS', result: 'FAILED' };
    expect(withSettled([before, card, attempt], entry, returned('R01'))).toEqual([
      before,
      card,
      { ...attempt, result: 'RETURNED', returnCode: 'R01' },
    ]);
    const later: PastAttempt = { ...attempt, at: plusMs(NOW, 1) };
    expect(withSettled([attempt, later], entry, { result: 'COMPLETED' })).toEqual([
      { ...attempt, result: 'COMPLETED' },
      later,
    ]);
    expect(withSettled([attempt], entry, { result: 'COMPLETED' })).toEqual([
      { ...attempt, result: 'COMPLETED' },
    ]);
  });

  it('is put over an earlier word: a return after completion', () => {
    const completed = withSettled([attempt], entry, { result: 'COMPLETED' });
    expect(withSettled(completed, entry, returned('R10'))).toEqual([
      { ...attempt, result: 'RETURNED', returnCode: 'R10' },
    ]);
  });

  it('makes an entry of the Go service known, once, and takes no entry of ours for it', () => {
    const go: AchEntry = { process: 'INITIAL', at: plusDays(NOW, -9), accountId: null };
    const completed = withSettled([attempt], go, { result: 'COMPLETED' });
    const known = { ...go, rail: 'ACH', result: 'COMPLETED', returnCode: null };
    expect(completed).toEqual([attempt, known]);
    // Its date is the row's last change, which is another by now.
    const late = { ...go, at: NOW };
    expect(withSettled(completed, late, returned('R01'))).toEqual([
      attempt,
      { ...known, result: 'RETURNED', returnCode: 'R01' },
    ]);
  });

  it('written twice is written once, and the number of attempts grows by one at most', () => {
    fc.assert(
      fc.property(
        fc.array(pastAttempts(NOW), { maxLength: 6 }),
        entries,
        outcomes,
        (past, entry, outcome) => {
          const once = withSettled(past, entry, outcome);
          expect(once.length - past.length).toBeGreaterThanOrEqual(0);
          expect(once.length - past.length).toBeLessThanOrEqual(1);
          expect(past.every((one, i) => one.rail === 'ACH' || once[i] === one)).toBe(true);
          if (entry.accountId !== null) expect(withSettled(once, entry, outcome)).toEqual(once);
        },
      ),
    );
  });

  it('after a return that may not be presented again the gate is closed', () => {
    fc.assert(
      fc.property(entries, fc.constantFrom('R02', 'R10', 'X99', null), (entry, code) => {
        const past = withSettled([], entry, returned(code));
        const target = { accountId: 'account-1', achBlock: null };
        const gate = achGate(target, past, parseDate('2027-01-04')!, DEFAULT_POLICY);
        expect(gate).toMatchObject({ open: false, reason: 'ach-not-representable' });
      }),
    );
  });
});
