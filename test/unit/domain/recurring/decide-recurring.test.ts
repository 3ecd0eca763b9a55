import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptId } from '../../../../src/domain/attempt.ts';
import type { Instant } from '../../../../src/domain/instant.ts';
import { plusMs } from '../../../../src/domain/instant.ts';
import { cents } from '../../../../src/domain/money.ts';
import { planOf } from '../../../../src/domain/plan.ts';
import { planRecurringChange } from '../../../../src/domain/recurring/by-hand.ts';
import { decideRecurring } from '../../../../src/domain/recurring/decide-recurring.ts';
import { recurringReminded } from '../../../../src/domain/recurring/outcomes.ts';
import { DEFAULT_RECURRING_POLICY } from '../../../../src/domain/recurring/policy.ts';
import { decideReminder, reminderKey } from '../../../../src/domain/recurring/reminder.ts';
import type { RecurringFacts } from '../../../../src/domain/recurring/recurring-decision.ts';
import type { RecurringSubscription } from '../../../../src/domain/recurring/recurring.ts';
import { RECURRING_STATUSES } from '../../../../src/domain/recurring/recurring.ts';
import { freezes, instantsAround, openAttempts, users } from '../../../support/arbitraries.ts';
import { day } from '../../../support/floats.ts';
import { at } from '../../../support/records.ts';
import { recurring } from '../../../support/recurring.ts';

const NOW = at('2026-11-16T16:00:00Z');
const OPEN = {
  attemptId: 'attempt-1' as AttemptId,
  triggerId: 'run-0',
  rail: 'PINLESS',
  openedAt: plusMs(NOW, -3_600_000),
} as const;

const fine: RecurringFacts = {
  triggerId: 'run-1',
  openAttempt: null,
  freezes: [],
  user: { status: 'ACTIVE' },
  reminded: true,
};
const decide = (
  subscription: Partial<RecurringSubscription> = {},
  facts: Partial<RecurringFacts> = {},
  now: Instant = NOW,
) => decideRecurring(recurring(subscription), { ...fine, ...facts }, DEFAULT_RECURRING_POLICY, now);

describe('a payment', () => {
  it('that is due and told of is charged to the card', () => {
    expect(decide()).toEqual({
      verdict: 'charge',
      amount: 1_000,
      rail: 'PINLESS',
      fallback: null,
      representment: false,
    });
    expect(decide({ status: 'PAST_DUE', failedTries: 2 })).toMatchObject({ verdict: 'charge' });
  });

  it.each([
    ['FAILED', 'status-not-collected'],
    ['CANCELLED', 'status-not-collected'],
  ] as const)('of one that is %s is not', (status, reason) => {
    expect(decide({ status, nextPaymentDate: null })).toEqual({ verdict: 'no-op', reason });
  });

  it('of tomorrow waits for its day, whatever time it is', () => {
    const tomorrow = { nextPaymentDate: day('2026-11-17') };
    expect(decide(tomorrow, {}, at('2026-11-16T23:59:59.999999999Z'))).toEqual({
      verdict: 'no-op',
      reason: 'not-due',
    });
    expect(decide(tomorrow, {}, at('2026-11-17T00:00:00Z'))).toMatchObject({ verdict: 'charge' });
  });

  it('of a missed day is caught up with', () => {
    const missed = { periodDate: day('2026-10-17'), nextPaymentDate: day('2026-10-17') };
    expect(decide(missed)).toMatchObject({ verdict: 'charge' });
    const tooOld = { periodDate: day('2026-10-16'), nextPaymentDate: day('2026-10-16') };
    expect(decide(tooOld)).toEqual({ verdict: 'go-stale', reason: 'too-old' });
    expect(decide(tooOld, { reminded: false })).toMatchObject({ verdict: 'go-stale' });
  });

  it('waits until the account has been told of it', () => {
    expect(decide({}, { reminded: false })).toEqual({ verdict: 'deferred', reason: 'reminder-not-sent' });
  });

  it.each([
    [null, 'user-missing'],
    ['PROCESSING', 'user-processing'],
    ['INVESTIGATE', 'user-under-investigation'],
    ['PAUSED', 'user-cancelled'],
    ['BANNED', 'user-banned'],
    ['SOMETHING', 'user-status-unknown'],
  ])('of an account that is %s waits', (status, reason) => {
    const user = status === null ? null : { status };
    expect(decide({}, { user })).toEqual({ verdict: 'deferred', reason });
    expect(decide({}, { user, openAttempt: OPEN })).toEqual({
      verdict: 'blocked',
      attemptId: 'attempt-1',
      reason,
    });
  });

  it.each([
    ['global', 'frozen-global'],
    ['user', 'frozen-user'],
    ['PINLESS', 'frozen-rail'],
  ] as const)('waits while %s is frozen', (scope, reason) => {
    const facts = { freezes: [{ scope, until: null }] };
    expect(decide({}, facts)).toEqual({ verdict: 'deferred', reason });
    expect(decide({}, { freezes: [{ scope, until: NOW }] })).toMatchObject({ verdict: 'charge' });
    expect(decide({}, { freezes: [{ scope: 'ACH', until: null }] })).toMatchObject({ verdict: 'charge' });
  });

  it('whose answer was lost is asked again, and not begun anew', () => {
    const expected = { verdict: 'resume', attemptId: 'attempt-1', rail: 'PINLESS' };
    expect(decide({}, { openAttempt: OPEN })).toEqual(expected);
    // What was decided then is not decided again.
    expect(decide({ paymentAmount: cents(0) }, { openAttempt: OPEN, reminded: false })).toEqual(expected);
  });

  it('that has no answer after two days is not asked for again, so that the janitor can give it up', () => {
    const openedAt = plusMs(NOW, -48 * 3_600_000);
    expect(decide({}, { openAttempt: { ...OPEN, openedAt } })).toEqual({
      verdict: 'blocked',
      attemptId: 'attempt-1',
      reason: 'open-attempt',
    });
    expect(decide({}, { openAttempt: { ...OPEN, openedAt: plusMs(openedAt, 1) } }).verdict).toBe('resume');
  });

  it('of nothing is not made', () => {
    expect(decide({ paymentAmount: cents(0) })).toMatchObject({
      verdict: 'skipped',
      reason: 'amount-not-positive',
    });
  });
});

describe('a reminder', () => {
  const due = { nextReminderDate: day('2026-11-16'), periodDate: day('2026-11-23') };
  const remind = (fields: Partial<RecurringSubscription>, user: RecurringFacts['user'] = fine.user) =>
    decideReminder(recurring({ ...due, ...fields }), user, NOW);

  it('is sent on its day, and on a later one if that was missed', () => {
    expect(remind({})).toEqual({ verdict: 'remind' });
    expect(remind({ nextReminderDate: day('2026-11-02') })).toEqual({ verdict: 'remind' });
  });

  it.each([
    [{ nextReminderDate: day('2026-11-17') }, 'not-due'],
    [{ nextReminderDate: null }, 'already-reminded'],
    [{ status: 'PAST_DUE' as const }, 'status-not-reminded'],
    [{ status: 'CANCELLED' as const, nextReminderDate: null }, 'status-not-reminded'],
    [{ paymentAmount: cents(0) }, 'amount-not-positive'],
  ])('%j is not sent: %s', (fields, reason) => {
    expect(remind(fields)).toEqual({ verdict: 'no-op', reason });
  });

  it('is not sent to whom nobody would charge', () => {
    expect(remind({}, { status: 'BANNED' })).toEqual({ verdict: 'deferred', reason: 'user-banned' });
    expect(remind({}, null)).toEqual({ verdict: 'deferred', reason: 'user-missing' });
  });

  it('is another one for another period or another subscription', () => {
    const one = recurring();
    const others = [
      one,
      { ...one, periodDate: day('2026-12-16') },
      { ...one, recurringId: 'x' as never },
      { ...one, accountId: 'y' as never },
    ];
    expect(new Set(others.map(reminderKey)).size).toBe(others.length);
  });

  it('is another one after each change, also one back to what the account was told of before', () => {
    const now = at('2026-11-10T00:00:00Z');
    const changed = (from: RecurringSubscription, paymentAmount: number) => {
      const wish = { paymentAmount: cents(paymentAmount) };
      const plan = planRecurringChange(from, wish, 'shop', null, { policy: DEFAULT_RECURRING_POLICY, now });
      if (plan.plan !== 'change') throw new Error('refused');
      return plan.change.subscription;
    };
    // By clocks that stand still, and although nobody may have written down that any of them was sent.
    const first = recurring({ lastPaymentDate: now, lastReminderDate: now, changedDate: now });
    const other = changed(first, 9_999);
    const told = recurringReminded(other, now).subscription;
    const all = [first, other, changed(other, 1_000), changed(told, 1_000)];
    expect(new Set(all.map(reminderKey)).size).toBe(all.length);
  });
});

describe('whatever is asked', () => {
  const dates = fc.option(fc.constantFrom('2026-10-01', '2026-11-10', '2026-11-16', '2026-12-01').map(day));
  const situations = fc.record({
    subscription: fc
      .record({
        status: fc.constantFrom(...RECURRING_STATUSES),
        nextPaymentDate: dates,
        nextReminderDate: dates,
        periodDate: fc.constantFrom('2026-09-16', '2026-10-31', '2026-11-16').map(day),
        paymentAmount: fc.integer({ min: -1, max: 3 }).map(cents),
        failedTries: fc.integer({ min: 0, max: 9 }),
      })
      .map(recurring),
    facts: fc.record({
      triggerId: fc.constantFrom('run-1', 'run-2'),
      openAttempt: fc.option(openAttempts(NOW), { freq: 2 }),
      freezes: fc.array(freezes(NOW), { maxLength: 1 }),
      user: users,
      reminded: fc.boolean(),
    }),
    now: instantsAround(NOW, 40, 40),
  });

  it('there is an answer, and money moves only where nothing speaks against it', () => {
    fc.assert(
      fc.property(situations, ({ subscription, facts, now }) => {
        const decision = decideRecurring(subscription, facts, DEFAULT_RECURRING_POLICY, now);
        expect(planOf(decision).reason).not.toBe('');
        if (decision.verdict !== 'charge' && decision.verdict !== 'resume') return;
        expect(['ACTIVE', 'PAST_DUE']).toContain(subscription.status);
        const today = new Date(Number(now / 1_000_000n)).toISOString().slice(0, 10);
        expect(subscription.nextPaymentDate! <= today).toBe(true);
        expect(facts.user?.status).toBe('ACTIVE');
        const inForce = facts.freezes.filter(({ until }) => until === null || until > now);
        expect(inForce.filter(({ scope }) => scope !== 'ACH')).toEqual([]);
        if (decision.verdict === 'resume') expect(decision.attemptId).toBe(facts.openAttempt?.attemptId);
        else {
          expect([facts.openAttempt, facts.reminded]).toEqual([null, true]);
          expect(decision.amount).toBe(subscription.paymentAmount);
          expect(decision.amount).toBeGreaterThan(0);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
