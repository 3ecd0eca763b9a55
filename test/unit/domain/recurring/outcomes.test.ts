import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptId } from '../../../../src/domain/attempt.ts';
import type { CalendarDate } from '../../../../src/domain/calendar-date.ts';
import { dateOf, partsOf } from '../../../../src/domain/calendar-date.ts';
import type { Instant } from '../../../../src/domain/instant.ts';
import type { Cents } from '../../../../src/domain/money.ts';
import { cents } from '../../../../src/domain/money.ts';
import {
  planRecurringCancel,
  planRecurringChange,
  recurringCreated,
} from '../../../../src/domain/recurring/by-hand.ts';
import { decideRecurring } from '../../../../src/domain/recurring/decide-recurring.ts';
import type { PaidAttempt, RecurringChange } from '../../../../src/domain/recurring/outcomes.ts';
import {
  recurringAbandoned,
  recurringDeclined,
  recurringOpened,
  recurringPaid,
  recurringReminded,
  recurringTooOld,
} from '../../../../src/domain/recurring/outcomes.ts';
import { DEFAULT_RECURRING_POLICY } from '../../../../src/domain/recurring/policy.ts';
import { decideReminder } from '../../../../src/domain/recurring/reminder.ts';
import type { RecurringSubscription } from '../../../../src/domain/recurring/recurring.ts';
import { isReminded } from '../../../../src/domain/recurring/recurring.ts';
import { isLegalForRecurring } from '../../../../src/domain/recurring/transitions.ts';
import { day } from '../../../support/floats.ts';
import { at } from '../../../support/records.ts';
import { recurring } from '../../../support/recurring.ts';

const NOW = at('2026-11-16T16:00:00Z');
const policy = DEFAULT_RECURRING_POLICY;
const attempt = (period: CalendarDate = day('2026-11-16')) => ({
  attemptId: 'attempt-1' as AttemptId,
  amount: cents(1_000),
  period,
  confirmationId: 'conf-1',
});
const on = (date: string): Instant => at(`${date}T16:00:00Z`);
const dates = ({ status, periodDate, nextPaymentDate, nextReminderDate }: RecurringSubscription) => ({
  status,
  periodDate,
  nextPaymentDate,
  nextReminderDate,
});

describe('a payment that was made', () => {
  it('leaves a receipt and begins the next period', () => {
    const before = recurring({ error: 'before' });
    const { subscription, receipt, cause } = recurringPaid(before, attempt(), policy, NOW);
    expect(cause).toBe('attempt-succeeded');
    expect(subscription).toEqual({
      ...before,
      error: '',
      periodDate: '2026-12-16',
      nextPaymentDate: '2026-12-16',
      nextReminderDate: '2026-12-09',
      lastPaymentDate: NOW,
      changedDate: at('2026-11-16T16:00:00.000000001Z'),
    });
    expect(receipt).toEqual({
      accountId: 'account-1',
      recurringId: before.recurringId,
      sku: 'sku-1',
      email: 'someone@example.com',
      processedDate: NOW,
      processedAmount: 1_000,
      periodDate: '2026-11-16',
      remindedDate: before.lastReminderDate,
      attemptId: 'attempt-1',
      confirmationId: 'conf-1',
      expiresAt: at('2028-11-15T16:00:00Z'),
    });
  });

  it('after declines is an active one again, and the period after it keeps its own day', () => {
    const before = recurring({
      status: 'PAST_DUE',
      failedTries: 3,
      paymentDay: 31,
      periodDate: day('2027-01-31'),
      nextPaymentDate: day('2027-02-11'),
    });
    const { subscription } = recurringPaid(before, attempt(day('2027-01-31')), policy, on('2027-02-11'));
    expect(subscription.failedTries).toBe(0);
    expect(dates(subscription)).toEqual({
      status: 'ACTIVE',
      periodDate: '2027-02-28',
      nextPaymentDate: '2027-02-28',
      nextReminderDate: '2027-02-21',
    });
  });

  it('long after its day does not lead to a second one on the same day, and tells of that at once', () => {
    const before = recurring({ periodDate: day('2026-10-17'), nextPaymentDate: day('2026-10-17') });
    const { subscription } = recurringPaid(
      { ...before, paymentDay: 17 },
      attempt(),
      policy,
      on('2026-11-20'),
    );
    expect(dates(subscription)).toEqual({
      status: 'ACTIVE',
      periodDate: '2026-11-17',
      nextPaymentDate: '2026-11-21',
      nextReminderDate: '2026-11-20',
    });
  });

  it('by one who has left meanwhile leaves the receipt only', () => {
    const left = recurring({ status: 'CANCELLED', nextPaymentDate: null });
    const { subscription, receipt } = recurringPaid(left, attempt(), policy, NOW);
    expect(dates(subscription)).toEqual(dates(left));
    expect(receipt?.confirmationId).toBe('conf-1');
    const declined = recurringDeclined(left, attempt(), '05', policy, NOW);
    expect(dates(declined.subscription)).toEqual(dates(left));
  });
});

describe('declines', () => {
  it('are followed by the tries of the policy, and after the last by none', () => {
    let current = recurring();
    const seen = [];
    for (const date of ['2026-11-16', '2026-11-17', '2026-11-20', '2026-11-27']) {
      expect(current.nextPaymentDate).toBe(date);
      current = recurringDeclined(current, attempt(), '05: no', policy, on(date)).subscription;
      seen.push([current.status, current.nextPaymentDate, current.failedTries]);
      expect(current.periodDate).toBe('2026-11-16');
      expect(current.error).toBe('05: no');
    }
    expect(seen).toEqual([
      ['PAST_DUE', '2026-11-17', 1],
      ['PAST_DUE', '2026-11-20', 2],
      ['PAST_DUE', '2026-11-27', 3],
      ['FAILED', null, 4],
    ]);
    expect(current.nextReminderDate).toBeNull();
  });

  it('without a policy for them end it at once', () => {
    const { subscription } = recurringDeclined(
      recurring(),
      attempt(),
      '05',
      { ...policy, retryDays: [] },
      NOW,
    );
    expect(dates(subscription)).toMatchObject({ status: 'FAILED', nextPaymentDate: null });
  });
});

describe('a charge of which the processor never knew', () => {
  const givenUp = (before: RecurringSubscription) =>
    recurringAbandoned(before, attempt(), 'abandoned: the processor never knew of it', NOW);

  it('counts as no try, also as what would be the last, and is made again tomorrow', () => {
    const lastTry = { status: 'PAST_DUE', failedTries: policy.retryDays.length } as const;
    for (const fields of [{}, lastTry]) {
      const before = recurring(fields);
      const { subscription, receipt, cause } = givenUp(before);
      expect([cause, receipt]).toEqual(['attempt-abandoned', null]);
      expect(subscription).toEqual({
        ...before,
        nextPaymentDate: '2026-11-17',
        error: 'abandoned: the processor never knew of it',
        changedDate: at('2026-11-16T16:00:00.000000001Z'),
      });
    }
  });

  it('by one who has left meanwhile is none', () => {
    const left = recurring({ status: 'CANCELLED', nextPaymentDate: null });
    expect(dates(givenUp(left).subscription)).toEqual(dates(left));
  });
});

describe('a period that is too old', () => {
  it('is given up with all others that have passed', () => {
    const before = recurring({
      status: 'PAST_DUE',
      failedTries: 2,
      paymentDay: 31,
      periodDate: day('2026-06-30'),
      nextPaymentDate: day('2026-07-03'),
    });
    const { subscription, receipt } = recurringTooOld(before, policy, on('2026-09-30'));
    expect(receipt).toBeNull();
    expect(subscription.failedTries).toBe(0);
    expect(dates(subscription)).toEqual({
      status: 'ACTIVE',
      periodDate: '2026-10-31',
      nextPaymentDate: '2026-10-31',
      nextReminderDate: '2026-10-24',
    });
  });
});

describe('by hand', () => {
  const wish = {
    accountId: recurring().accountId,
    recurringId: recurring().recurringId,
    sku: 'sku-9',
    email: 'someone@example.com',
    paymentAmount: cents(499),
    paymentToken: 'tok',
    paymentDetails: {},
  };

  it.each([
    ['2026-12-31', 31, '2026-12-31', '2026-12-24'],
    ['2027-02-01', 31, '2027-02-28', '2027-02-21'],
    ['2026-11-20', 20, '2026-11-20', '2026-11-16'],
    ['2026-11-16', 16, '2026-11-16', '2026-11-16'],
    ['2026-11-16', 1, '2026-12-01', '2026-11-24'],
  ])(
    'one that starts on %s with the %dth is paid on %s and told of on %s',
    (start, paymentDay, pay, tell) => {
      const { subscription, cause, by } = recurringCreated(
        { ...wish, paymentDay, startDate: day(start) },
        'shop',
        policy,
        NOW,
      );
      expect([cause, by]).toEqual(['created', 'shop']);
      expect(dates(subscription)).toEqual({
        status: 'ACTIVE',
        periodDate: pay,
        nextPaymentDate: pay,
        nextReminderDate: tell,
      });
      // Both, or it would be in neither index.
      expect([subscription.lastPaymentDate, subscription.lastReminderDate]).toEqual([NOW, NOW]);
    },
  );

  const open = { attemptId: 'attempt-1' as AttemptId };
  const change = (
    fields: Partial<RecurringSubscription>,
    wished: Parameters<typeof planRecurringChange>[1],
    openAttempt: typeof open | null = null,
  ) => planRecurringChange(recurring(fields), wished, 'shop', openAttempt, { policy, now: NOW });
  const upcoming = { periodDate: day('2026-12-16'), nextPaymentDate: day('2026-12-16') };

  it('amount, SKU and token change alone', () => {
    const wished = { sku: 'other', paymentAmount: cents(1), paymentToken: 'new' };
    const plan = change(upcoming, wished);
    expect(plan).toMatchObject({ plan: 'change', change: { by: 'shop', cause: 'changed' } });
    if (plan.plan !== 'change') return;
    const { changedDate, ...after } = plan.change.subscription;
    expect(changedDate > NOW).toBe(true);
    expect(after).toMatchObject({ ...upcoming, ...wished, status: 'ACTIVE' });
  });

  it.each([
    // [payment on, wish, told of on]
    ['2026-12-16', { paymentAmount: cents(9_999) }, '2026-12-09'],
    ['2026-11-20', { paymentAmount: cents(9_999) }, '2026-11-16'],
    ['2026-11-20', { paymentAmount: cents(1) }, '2026-11-16'],
    ['2026-11-20', { sku: 'other' }, '2026-11-16'],
    // Missed, and still to be paid.
    ['2026-11-10', { sku: 'other' }, '2026-11-16'],
    // The day has passed, so the period stays; the amount is another one all the same.
    ['2026-11-20', { paymentAmount: cents(1), paymentDay: 15 }, '2026-11-16'],
    ['2026-12-16', { paymentAmount: cents(1), paymentDay: 20 }, '2026-12-13'],
    // As they were told: the same in another word, or what nobody is told of.
    ['2026-11-20', { paymentAmount: cents(1_000), sku: 'sku-1' }, null],
    ['2026-11-20', { paymentToken: 'new', paymentDetails: {} }, null],
  ])('who was told of a payment on %s and has it changed to %j is told anew: %s', (period, wished, tell) => {
    const plan = change({ periodDate: day(period), nextPaymentDate: day(period) }, wished);
    expect(plan.plan === 'change' && plan.change.subscription.nextReminderDate).toBe(tell);
  });

  it.each([
    // [payment on, paid on then]
    ['2026-11-10', '2026-11-16'],
    ['2026-11-15', '2026-11-16'],
    ['2026-11-16', '2026-11-16'],
    ['2026-11-17', '2026-11-17'],
  ])('who is to pay on %s, and has not, is not told by asking for it: paid on %s', (payment, then) => {
    const late = { periodDate: day('2026-11-10'), nextPaymentDate: day(payment) };
    const plan = change(late, { paymentAmount: cents(9_999) });
    if (plan.plan !== 'change') throw new Error(plan.plan);
    const { subscription } = plan.change;
    expect(dates(subscription)).toEqual({
      status: 'ACTIVE',
      periodDate: '2026-11-10',
      nextPaymentDate: then,
      nextReminderDate: '2026-11-16',
    });
    expect(isReminded(subscription)).toBe(false);
    expect(isReminded(recurringReminded(subscription, NOW).subscription)).toBe(true);
  });

  it('what is owed stays what it is; token and day may change', () => {
    const owed = { status: 'PAST_DUE', nextPaymentDate: day('2026-11-17'), failedTries: 1 } as const;
    for (const wished of [{ paymentAmount: cents(1) }, { sku: 'other', paymentToken: 'new' }])
      expect(change(owed, wished)).toMatchObject({ plan: 'refused', reason: 'owed' });
    for (const wished of [{ paymentToken: 'new' }, { paymentAmount: cents(1_000), paymentDay: 3 }])
      expect(change(owed, wished)).toMatchObject({
        plan: 'change',
        change: { subscription: { ...wished, ...owed, nextReminderDate: null } },
      });
  });

  it.each([
    // [period, new day, period then, told of on]
    ['2026-12-16', 20, '2026-12-20', '2026-12-13'],
    ['2026-12-16', 1, '2026-12-01', '2026-11-24'],
    ['2026-11-20', 31, '2026-11-30', '2026-11-23'],
    ['2026-11-20', 16, '2026-11-16', '2026-11-16'],
    // Has passed: this period stays, and is not told of again.
    ['2026-11-20', 15, '2026-11-20', null],
    // The same day in another word.
    ['2026-11-30', 31, '2026-11-30', null],
  ])('the period of %s moves to the %dth within its month: %s', (period, paymentDay, then, tell) => {
    const plan = change({ periodDate: day(period), nextPaymentDate: day(period) }, { paymentDay });
    expect(plan.plan === 'change' && dates(plan.change.subscription)).toEqual({
      status: 'ACTIVE',
      periodDate: then,
      nextPaymentDate: then,
      nextReminderDate: tell,
    });
    expect(plan.plan === 'change' && plan.change.subscription.paymentDay).toBe(paymentDay);
  });

  const ended = at('2027-03-04T10:00:00Z');
  const march = { paymentDay: 28, periodDate: day('2027-03-28'), nextPaymentDate: day('2027-03-28') };
  it.each([
    // The period before was paid on this morning: the new day counts from the next one on.
    [{ lastPaymentDate: ended }, 4, '2027-03-28'],
    [{ lastPaymentDate: ended }, 5, '2027-03-05'],
    [{ lastPaymentDate: at('2027-03-03T23:59:59Z') }, 4, '2027-03-04'],
    // Begun this morning, and never paid.
    [{ lastPaymentDate: ended, createdDate: ended }, 4, '2027-03-04'],
  ])('nobody is charged twice on one day: with %o the %dth is %s', (fields, paymentDay, then) => {
    const before = recurring({ ...march, ...fields });
    const now = at('2027-03-04T11:00:00Z');
    const plan = planRecurringChange(before, { paymentDay }, 'shop', null, { policy, now });
    expect(plan.plan === 'change' && plan.change.subscription).toMatchObject({
      paymentDay,
      periodDate: then,
      nextPaymentDate: then,
    });
  });

  it('a period that was tried keeps its dates', () => {
    const tried = { status: 'PAST_DUE', nextPaymentDate: day('2026-11-17'), failedTries: 1 } as const;
    const plan = change(tried, { paymentDay: 30 });
    expect(plan.plan === 'change' && dates(plan.change.subscription)).toEqual({
      status: 'PAST_DUE',
      periodDate: '2026-11-16',
      nextPaymentDate: '2026-11-17',
      nextReminderDate: null,
    });
  });

  it('nothing changes while an answer is lost, nor after the end', () => {
    expect(change({}, { sku: 'x' }, open)).toMatchObject({ plan: 'refused', reason: 'open-attempt' });
    expect(change({ status: 'FAILED' }, { sku: 'x' })).toMatchObject({ plan: 'refused', reason: 'over' });
    expect(change({ status: 'CANCELLED' }, { sku: 'x' })).toMatchObject({ reason: 'over' });
  });

  it('whoever wants to leave leaves, once', () => {
    for (const status of ['ACTIVE', 'PAST_DUE'] as const) {
      const plan = planRecurringCancel(recurring({ status }), 'shop', NOW);
      expect(plan.plan === 'change' && dates(plan.change.subscription)).toEqual({
        status: 'CANCELLED',
        periodDate: '2026-11-16',
        nextPaymentDate: null,
        nextReminderDate: null,
      });
    }
    expect(planRecurringCancel(recurring({ status: 'CANCELLED' }), 'shop', NOW)).toEqual({ plan: 'nothing' });
    expect(planRecurringCancel(recurring({ status: 'FAILED' }), 'shop', NOW)).toMatchObject({
      reason: 'over',
    });
  });
});

describe('a life, day by day', () => {
  /** What has no answer is known on the next day: it was paid, or the processor never knew of it. */
  type Answer = 'pays' | 'late' | 'lost' | 'declines' | 'down' | 'nobody can be told';
  interface Wished {
    readonly paymentDay?: number | 'today';
    readonly paymentAmount?: Cents;
  }
  const wishes = fc.record(
    {
      paymentDay: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.constant('today' as const)),
      paymentAmount: fc.integer({ min: 1, max: 3 }).map((amount) => cents(amount)),
    },
    { requiredKeys: [] },
  );
  const lives = fc.record({
    start: fc.integer({ min: 0, max: 400 }),
    paymentDay: fc.integer({ min: 1, max: 31 }),
    days: fc.array(
      fc.record({
        answer: fc.constantFrom<Answer>(
          'pays',
          'pays',
          'late',
          'lost',
          'declines',
          'down',
          'down',
          'nobody can be told',
          'nobody can be told',
        ),
        wished: fc.oneof<fc.MaybeWeightedArbitrary<Wished>[]>(
          { weight: 5, arbitrary: fc.constant({}) },
          { weight: 1, arbitrary: wishes },
        ),
      }),
      { minLength: 50, maxLength: 200 },
    ),
  });

  it('has a legal change each time, one payment in a month, told of before, and ends only where it may', () => {
    fc.assert(
      fc.property(lives, ({ start, paymentDay, days: lived }) => {
        const first = Date.UTC(2027, 0, 1 + start, 12);
        const instant = (n: number, hour: number) =>
          (BigInt(first + n * 86_400_000 + hour * 3_600_000) * 1_000_000n) as Instant;
        const startDate = day(new Date(first).toISOString().slice(0, 10));
        let current = recurringCreated(
          {
            accountId: recurring().accountId,
            recurringId: recurring().recurringId,
            sku: 's',
            email: 'e@example.com',
            paymentAmount: cents(1),
            paymentToken: 't',
            paymentDetails: {},
            paymentDay,
            startDate,
          },
          'shop',
          policy,
          instant(0, 0),
        ).subscription;
        const paid: { period: string; at: Instant; reminded: Instant }[] = [];
        let told = cents(0);
        const take = (change: RecurringChange): void => {
          expect(isLegalForRecurring(current.status, change.subscription.status, change.cause)).toBe(true);
          expect(change.subscription.changedDate > current.changedDate).toBe(true);
          if (change.receipt !== null)
            paid.push({
              period: change.receipt.periodDate,
              at: change.receipt.processedDate,
              reminded: change.receipt.remindedDate,
            });
          current = change.subscription;
          if (change.cause === 'reminded') told = current.paymentAmount;
          // In the index while it goes on, and out of it when it is over: never by accident.
          const goesOn = current.status === 'ACTIVE' || current.status === 'PAST_DUE';
          expect(current.nextPaymentDate !== null).toBe(goesOn);
        };
        let open: { readonly made: PaidAttempt; readonly isPaid: boolean } | null = null;
        lived.forEach(({ answer, wished: { paymentDay: wishedDay, ...wished } }, n) => {
          if (open !== null) {
            const { made, isPaid } = open;
            const morning = instant(n, 0);
            take(
              isPaid
                ? recurringPaid(current, made, policy, morning)
                : recurringAbandoned(current, made, 'abandoned', morning),
            );
          }
          open = null;
          const dayOfMonth = wishedDay === 'today' ? partsOf(dateOf(instant(n, 1))).day : wishedDay;
          const plan = planRecurringChange(
            current,
            { ...wished, ...(dayOfMonth === undefined ? {} : { paymentDay: dayOfMonth }) },
            'x',
            null,
            { policy, now: instant(n, 1) },
          );
          if (plan.plan === 'change') take(plan.change);
          if (answer === 'down') return;
          const user = { status: 'ACTIVE' };
          const isTold = answer !== 'nobody can be told';
          if (isTold && decideReminder(current, user, instant(n, 3)).verdict === 'remind')
            take(recurringReminded(current, instant(n, 3)));
          const now = instant(n, 4);
          const facts = {
            triggerId: `run-${n}`,
            openAttempt: null,
            freezes: [],
            user,
            reminded: isReminded(current),
          };
          const decision = decideRecurring(current, facts, policy, now);
          if (decision.verdict === 'go-stale') return take(recurringTooOld(current, policy, now));
          if (decision.verdict !== 'charge') return;
          expect(decision.amount).toBe(told);
          take(recurringOpened(current, 'a' as AttemptId, now));
          const made = attempt(current.periodDate);
          if (answer === 'late' || answer === 'lost')
            return void (open = { made, isPaid: answer === 'late' });
          take(
            answer !== 'declines'
              ? recurringPaid(current, made, policy, now)
              : recurringDeclined(current, made, '05', policy, now),
          );
        });
        const months = paid.map(({ period }) => period.slice(0, 7));
        expect(new Set(months).size).toBe(months.length);
        expect([...months].sort()).toEqual(months);
        for (const [i, { at: when, reminded }] of paid.entries()) {
          expect(reminded < when).toBe(true);
          if (i > 0) expect(reminded > paid[i - 1]!.at).toBe(true);
        }
        const days = paid.map(({ at: when }) => when / 86_400_000_000_000n);
        expect(new Set(days).size).toBe(days.length);
      }),
      { numRuns: 300 },
    );
  });
});
