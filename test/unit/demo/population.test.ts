import { describe, expect, it } from 'vitest';
import { PERSONAS, personaOf } from '../../../src/demo/personas.ts';
import type { DemoMember } from '../../../src/demo/population.ts';
import { demoMember } from '../../../src/demo/population.ts';
import { seedDemo } from '../../../src/demo/seed.ts';
import { FRIDAY, dateOf, isWeekend, partsOf, weekday } from '../../../src/domain/calendar-date.ts';
import { FLOAT_STATUSES } from '../../../src/domain/floats/float.ts';
import { formatInstant } from '../../../src/domain/instant.ts';
import { RECURRING_STATUSES } from '../../../src/domain/recurring/recurring.ts';
import { isLegalForRecurring } from '../../../src/domain/recurring/transitions.ts';
import { at } from '../../support/records.ts';

const MOMENTS = [
  '2026-11-16T03:00:00Z',
  '2026-11-16T08:00:00Z',
  '2028-03-01T05:59:59Z',
  '2027-01-31T23:00:00Z',
  '2026-07-03T06:00:00Z',
];
const INDEXES = Array.from({ length: 300 }, (_, i) => i + 1);

describe('demo members', () => {
  it('come in the shares of their personas', () => {
    const counts = new Map<string, number>();
    for (let i = 1; i <= 1_000; i += 1)
      counts.set(personaOf(i).name, (counts.get(personaOf(i).name) ?? 0) + 1);
    expect([...counts].sort()).toEqual(
      PERSONAS.map(({ name, share }): [string, number] => [name, share * 10]).sort(),
    );
  });

  it('are the same for the same prefix, number and moment', () => {
    for (const i of INDEXES)
      expect(demoMember('a', i, at(MOMENTS[0]!))).toEqual(demoMember('a', i, at(MOMENTS[0]!)));
  });

  it.each(MOMENTS)('at %s have records that the Go service could have left', (moment) => {
    const now = at(moment);
    const ids = new Set<string>();
    for (const index of INDEXES) {
      const { records } = demoMember('demo', index, now);
      const dates = records.map(({ billingDate }) => billingDate);
      expect(dates).toEqual([...new Set(dates)].sort((a, b) => (a < b ? -1 : 1)));
      const stamps = records.map(({ lastRunDate }) => lastRunDate!);
      expect(stamps.every((stamp, i) => i === 0 || stamp > stamps[i - 1]!)).toBe(true);
      const attempted = records.findLastIndex(({ initialRunDate }) => initialRunDate !== null);
      const open = records.filter(
        ({ billingStatus }) => billingStatus === 'SCHEDULED' || billingStatus === 'PAUSED',
      );
      expect(open).toHaveLength(1);
      expect(records.indexOf(open[0]!)).toBe(attempted + 1);
      for (const { billingDate, billingWeek, subscriptionId, billingPeriod } of records) {
        expect(formatInstant(billingDate)).toMatch(/T06:00:00Z$/);
        const { year, month } = partsOf(dateOf(billingDate));
        expect(billingPeriod).toBe(`${String(month).padStart(2, '0')}/${year}`);
        if (billingWeek !== null) expect(weekday(dateOf(billingDate))).toBe(FRIDAY);
        expect(ids.has(subscriptionId)).toBe(false);
        ids.add(subscriptionId);
      }
    }
  });

  it.each(MOMENTS)('at %s have floats that could have come so far', (moment) => {
    const now = at(moment);
    for (const index of INDEXES) {
      for (const { float, log, attempts } of demoMember('demo', index, now).floats) {
        expect(float.lastRunTime <= now).toBe(true);
        expect(float.createdAt <= now).toBe(true);
        const stamps = log.map(({ runTime }) => runTime);
        expect(stamps).toEqual([...new Set(stamps)].sort((a, b) => (a < b ? -1 : 1)));
        expect(stamps.every((stamp) => stamp <= float.lastRunTime)).toBe(true);
        expect(new Set(log.flatMap(({ attemptId }) => attemptId ?? []))).toEqual(
          new Set(attempts.map(({ attemptId }) => attemptId)),
        );
        expect(attempts.every(({ openedAt }) => !isWeekend(dateOf(openedAt)))).toBe(true);
      }
    }
  });

  it('have floats of every kind among the two hundred of `npm start`', () => {
    const now = at('2026-11-16T08:00:00Z');
    const floats = INDEXES.slice(0, 200).flatMap((index) => demoMember('demo', index, now).floats);
    const statuses = floats.map(({ float }) => float.status);
    expect(new Set(statuses)).toEqual(new Set(FLOAT_STATUSES));
    const due = floats.filter(({ float }) => float.status === 'SCHEDULING').map(({ float }) => float.dueDate);
    expect(due.filter((date) => date === '2026-11-16').length).toBeGreaterThan(5);
    expect(due.filter((date) => date === '2026-11-17').length).toBeGreaterThan(5);
    expect(due.filter((date) => date > '2026-11-17').length).toBeGreaterThan(5);
  });

  it.each(MOMENTS)('at %s have recurring payments that could have come so far', (moment) => {
    const now = at(moment);
    const ids = new Set<string>();
    for (const index of INDEXES) {
      for (const { subscription, changes, attempts, receipts } of demoMember('demo', index, now).recurring) {
        expect(ids.has(subscription.recurringId)).toBe(false);
        ids.add(subscription.recurringId);
        expect(changes[0]!.cause).toBe('created');
        for (const [n, { subscription: after, cause }] of changes.entries()) {
          const before = changes[n - 1]?.subscription;
          if (before === undefined) continue;
          expect(isLegalForRecurring(before.status, after.status, cause)).toBe(true);
          expect(after.changedDate > before.changedDate).toBe(true);
        }
        expect(changes.at(-1)!.subscription).toEqual(subscription);
        expect(subscription.changedDate <= now).toBe(true);
        expect(receipts.length).toBe(1);
        expect(attempts.length).toBe(receipts.length + subscription.failedTries);
      }
    }
  });

  it('have recurring payments of every kind among the two hundred of `npm start`', () => {
    const now = at('2026-11-16T08:00:00Z');
    const made = INDEXES.slice(0, 200).flatMap((index) => demoMember('demo', index, now).recurring);
    const statuses = made.map(({ subscription }) => subscription.status);
    expect(new Set(statuses)).toEqual(new Set(RECURRING_STATUSES));
    const due = made.filter(({ subscription }) => subscription.nextPaymentDate === '2026-11-16');
    const told = made.filter(({ subscription }) => subscription.nextReminderDate === '2026-11-16');
    expect([due.length > 15, told.length > 5]).toEqual([true, true]);
  });

  it('give the first run something to do: most are due', () => {
    const now = at('2026-11-16T08:00:00Z');
    const due = INDEXES.filter((index) =>
      demoMember('demo', index, now).records.some(
        ({ billingStatus, billingDate }) => billingStatus === 'SCHEDULED' && billingDate < now,
      ),
    );
    expect(due.length).toBeGreaterThan(200);
  });

  it('are known at the bank before their records exist, and those that exist are left alone', async () => {
    const happened: string[] = [];
    const written: DemoMember['floats'][number][] = [];
    const store = {
      hasUser: (userId: string) => Promise.resolve(userId === 'demo-000003'),
      write: (members: readonly Pick<DemoMember, 'records' | 'floats'>[]) => {
        written.push(...members.flatMap(({ floats }) => floats));
        return Promise.resolve(void happened.push(`records of ${members.length}`));
      },
    };
    const bank = {
      putUsers: (users: readonly unknown[]) => Promise.resolve(void happened.push(`users ${users.length}`)),
      sendDebit: (key: string) => Promise.resolve(`JPM-${key}`),
    };
    const progress: number[] = [];
    const result = await seedDemo({ users: 150, prefix: 'demo', now: at(MOMENTS[0]!) }, store, bank, (done) =>
      progress.push(done),
    );
    expect(happened).toEqual(['users 99', 'records of 99', 'users 50', 'records of 50']);
    expect(result).toMatchObject({ members: 149, skipped: 1 });
    expect(written.filter(({ float }) => float.status === 'ACHSENT').length).toBeGreaterThan(1);
    for (const { float, log, attempts } of written) {
      if (float.status !== 'ACHSENT') continue;
      // What is on its way is known at the bank, under the name that everybody calls it by.
      const name = `JPM-${attempts.at(-1)!.attemptId}`;
      expect([float, ...log, attempts.at(-1)!.resolution]).toEqual(
        Array(3).fill(expect.objectContaining({ confirmationId: name })),
      );
    }
    expect(progress).toEqual([100, 150]);
  });
});
