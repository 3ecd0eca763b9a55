import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AchTarget } from '../../../src/domain/ach/gate.ts';
import { achGate } from '../../../src/domain/ach/gate.ts';
import type { PastAttempt } from '../../../src/domain/attempt.ts';
import type { CalendarDate } from '../../../src/domain/calendar-date.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { pastAttempts, policies } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

const ACCOUNT: AchTarget = { accountId: 'acc-1', achBlock: null };
const FRESH = { open: true, representment: false };
const AGAIN = { open: true, representment: true };
const closed = (reason: string, until: string | null = null) => ({ open: false, reason, until });

/** Sent at ten in the morning in New York. */
const entry = (
  day: string,
  fields: Partial<Extract<PastAttempt, { rail: 'ACH' }>> = {},
): Extract<PastAttempt, { rail: 'ACH' }> => ({
  process: 'RETRY',
  at: at(`${day}T15:00:00Z`),
  rail: 'ACH',
  result: 'RETURNED',
  returnCode: 'R01',
  accountId: 'acc-1',
  ...fields,
});

const ask = (attempts: readonly PastAttempt[], today: string, target = ACCOUNT, policy = DEFAULT_POLICY) =>
  achGate(target, attempts, today as CalendarDate, policy);

describe('the first entry', () => {
  it('may go', () => {
    expect(ask([], '2026-11-16')).toEqual(FRESH);
  });

  it('is still the first after card attempts, refusals and entries that never left', () => {
    const attempts: PastAttempt[] = [
      { process: 'INITIAL', at: at('2026-11-16T08:00:00Z'), rail: 'PINLESS', result: 'FAILED' },
      { process: 'RETRY', at: at('2026-11-16T09:00:00Z'), rail: 'PINLESS', result: 'COMPLETED' },
      { process: 'RETRY', at: at('2026-11-16T10:00:00Z'), rail: null, result: 'REFUSED' },
      entry('2026-11-16', { result: 'FAILED', returnCode: null }),
      entry('2026-11-16', { result: 'FAILED', returnCode: 'R02' }),
    ];
    expect(ask(attempts, '2026-11-16')).toEqual(FRESH);
  });

  it('to another account is a first one again, whatever happened to the one before', () => {
    const elsewhere = { accountId: 'acc-2' };
    const attempts = ['2026-11-09', '2026-11-12', '2026-11-16'].map((day) =>
      entry(day, { ...elsewhere, returnCode: 'R02' }),
    );
    expect(ask(attempts, '2026-11-16')).toEqual(FRESH);
    expect(
      ask([entry('2026-11-16', { ...elsewhere, result: 'ACHSENT', returnCode: null })], '2026-11-16'),
    ).toEqual(FRESH);
  });

  it('may not go to an account that a hard return has blocked, not even the very first', () => {
    const blocked = { ...ACCOUNT, achBlock: 'R02' };
    expect(ask([], '2026-11-16', blocked)).toEqual(closed('ach-account-blocked'));
    expect(ask([entry('2026-10-01')], '2026-11-16', blocked)).toEqual(closed('ach-account-blocked'));
  });
});

describe('an entry that came back', () => {
  it.each(['R01', 'R09'])('with %s may be presented again', (returnCode) => {
    expect(ask([entry('2026-11-02', { returnCode })], '2026-11-16')).toEqual(AGAIN);
  });

  it.each([
    ...[
      'R02',
      'R03',
      'R04',
      'R05',
      'R07',
      'R08',
      'R10',
      'R11',
      'R12',
      'R14',
      'R15',
      'R16',
      'R20',
      'R29',
      'R51',
    ],
    ...['AC01', 'AC04', 'AC06', 'BE01', 'R99', '', null],
  ])('with %j may not', (returnCode) => {
    expect(ask([entry('2026-11-02', { returnCode })], '2026-11-16')).toEqual(closed('ach-not-representable'));
  });

  it('from an account that nobody wrote down counts as this account', () => {
    const unknown = { accountId: null };
    expect(ask([entry('2026-11-02', unknown)], '2026-11-16')).toEqual(AGAIN);
    expect(ask([entry('2026-11-02', { ...unknown, returnCode: 'R02' })], '2026-11-16')).toEqual(
      closed('ach-not-representable'),
    );
  });

  it.each(['ACHSENT', 'COMPLETED'] as const)('does not go a second time while it is %s', (result) => {
    expect(ask([entry('2026-10-01', { result, returnCode: null })], '2026-11-16')).toEqual(
      closed('ach-entry-pending'),
    );
  });

  it.each(['ACHSENT', 'COMPLETED'] as const)('does not go when any entry before is %s', (result) => {
    const attempts = [entry('2026-10-01', { result, returnCode: null }), entry('2026-10-15')];
    expect(ask(attempts, '2026-11-16')).toEqual(closed('ach-entry-pending'));
  });

  it('does not go when any entry before came back for good', () => {
    const attempts = [entry('2026-10-01', { returnCode: 'R10' }), entry('2026-10-15')];
    expect(ask(attempts, '2026-11-16')).toEqual(closed('ach-not-representable'));
  });
});

describe('how often', () => {
  const days = ['2026-10-01', '2026-10-08', '2026-10-15', '2026-10-22'];
  const presented = (count: number): PastAttempt[] => days.slice(0, count).map((day) => entry(day));

  it.each([
    [1, AGAIN],
    [2, AGAIN],
    [3, closed('ach-representments-used-up')],
    [4, closed('ach-representments-used-up')],
  ])('after %i presentments: %j', (count, expected) => {
    expect(ask(presented(count), '2026-11-16')).toEqual(expected);
  });

  it('counts presentments only, in whatever order they are listed', () => {
    const others: PastAttempt[] = [
      { process: 'RETRY', at: at('2026-10-20T08:00:00Z'), rail: 'PINLESS', result: 'FAILED' },
      entry('2026-10-21', { result: 'FAILED', returnCode: null }),
      entry('2026-10-22', { accountId: 'acc-2' }),
    ];
    expect(ask([...others, ...presented(2)].reverse(), '2026-11-16')).toEqual(AGAIN);
    expect(ask([...others, ...presented(3)].reverse(), '2026-11-16')).toEqual(
      closed('ach-representments-used-up'),
    );
  });

  it('is a setting', () => {
    const never = { ...DEFAULT_POLICY, achRepresentMax: 0 };
    expect(ask(presented(1), '2026-11-16', ACCOUNT, never)).toEqual(closed('ach-representments-used-up'));
    expect(ask([], '2026-11-16', ACCOUNT, never)).toEqual(FRESH);
  });
});

describe('how long', () => {
  it('up to 180 days after the first presentment', () => {
    expect(ask([entry('2026-01-05')], '2026-07-04')).toEqual(AGAIN);
    expect(ask([entry('2026-01-05')], '2026-07-05')).toEqual(closed('ach-window-over'));
  });

  it('counts from the first and not from the last', () => {
    const attempts = [entry('2026-06-01'), entry('2026-01-05')];
    expect(ask(attempts, '2026-07-04')).toEqual(AGAIN);
    expect(ask(attempts, '2026-07-05')).toEqual(closed('ach-window-over'));
  });

  it('takes the day that the banks had when it was sent', () => {
    const lateEvening = entry('2026-01-05', { at: at('2026-01-06T04:59:59Z') });
    expect(ask([lateEvening], '2026-07-04')).toEqual(AGAIN);
    expect(ask([lateEvening], '2026-07-05')).toEqual(closed('ach-window-over'));
  });
});

describe('how soon', () => {
  it.each([
    ['2026-11-16', '2026-11-18', '2026-11-19'], // Monday to Thursday
    ['2026-11-12', '2026-11-16', '2026-11-17'], // over a weekend
    ['2026-11-24', '2026-11-29', '2026-11-30'], // over Thanksgiving and a weekend
    ['2026-12-23', '2026-12-28', '2026-12-29'], // over Christmas and a weekend
    ['2027-07-01', '2027-07-06', '2027-07-07'], // over the Fourth, which closes a Monday
    ['2026-07-01', '2026-07-05', '2026-07-06'], // a Fourth that closes nothing
    ['2026-11-14', '2026-11-17', '2026-11-18'], // sent on a Saturday
  ])('after %s not on %s but on %s', (sent, tooSoon, soonEnough) => {
    expect(ask([entry(sent)], sent)).toEqual(closed('ach-too-soon', soonEnough));
    expect(ask([entry(sent)], tooSoon)).toEqual(closed('ach-too-soon', soonEnough));
    expect(ask([entry(sent)], soonEnough)).toEqual(AGAIN);
  });

  it('counts from the last presentment and not from the first', () => {
    expect(ask([entry('2026-11-16'), entry('2026-11-02')], '2026-11-18')).toEqual(
      closed('ach-too-soon', '2026-11-19'),
    );
  });

  it('is a setting', () => {
    const nextDay = { ...DEFAULT_POLICY, achRepresentMinBankingDays: 1 };
    expect(ask([entry('2026-11-16')], '2026-11-17', ACCOUNT, nextDay)).toEqual(AGAIN);
  });
});

describe('whatever has happened', () => {
  const now = at('2026-11-16T15:00:00Z');
  const today = '2026-11-16' as CalendarDate;
  const histories = fc.array(pastAttempts(now), { maxLength: 6 });

  it('one attempt more never opens the gate', () => {
    fc.assert(
      fc.property(histories, pastAttempts(now), policies, (attempts, more, policy) => {
        const before = achGate(ACCOUNT, attempts, today, policy);
        const after = achGate(ACCOUNT, [...attempts, more], today, policy);
        expect(after.open && !before.open).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('the order of the list does not matter', () => {
    const shuffled = histories.chain((attempts) =>
      fc.tuple(
        fc.constant(attempts),
        fc.shuffledSubarray(attempts, { minLength: attempts.length, maxLength: attempts.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, policies, ([attempts, reordered], policy) => {
        expect(achGate(ACCOUNT, reordered, today, policy)).toEqual(achGate(ACCOUNT, attempts, today, policy));
      }),
    );
  });

  it('a gate that is closed until a day is open on it, and closed on the day before', () => {
    fc.assert(
      fc.property(histories, policies, (attempts, policy) => {
        const answer = achGate(ACCOUNT, attempts, today, policy);
        fc.pre(!answer.open && answer.until !== null);
        expect(answer.until > today).toBe(true);
        const dayBefore = new Date(Date.parse(answer.until) - 86_400_000).toISOString().slice(0, 10);
        expect(achGate(ACCOUNT, attempts, dayBefore as CalendarDate, policy)).toEqual(answer);
        expect(achGate(ACCOUNT, attempts, answer.until, policy)).toEqual(AGAIN);
      }),
      { numRuns: 2_000 },
    );
  });
});
