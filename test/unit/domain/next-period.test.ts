import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/domain/instant.ts';
import { formatInstant } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import { hasLaterPeriod, nextPeriod, successorId } from '../../../src/domain/next-period.ts';
import type { BillingStatus, Subscription, SubscriptionId, Term } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import { NANOS_PER_HOUR, subscriptionIds, subscriptions } from '../../support/arbitraries.ts';
import { at, subscription } from '../../support/records.ts';

const NOW = at('2026-11-16T08:00:00Z');
const due = (date: string): Instant => at(`${date}T06:00:00Z`);
const dayOf = (record: Subscription): string => formatInstant(record.billingDate);
/** One date a line: quick to compare, and a difference shows as one. */
const calendar = (dates: readonly (string | undefined)[]): string => dates.join('\n');

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const monthLength = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
const two = (value: number): string => value.toString().padStart(2, '0');
const text = (year: number, month: number, day: number): string =>
  `${year}-${two(month)}-${two(day)}T06:00:00Z`;

interface Start {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Every day of a leap year and of an ordinary one: 731 of them. */
function everyStart(): Start[] {
  const starts: Start[] = [];
  for (let year = 2024; year <= 2025; year += 1) {
    for (let month = 1; month <= 12; month += 1) {
      for (let day = 1; day <= monthLength(year, month); day += 1) starts.push({ year, month, day });
    }
  }
  return starts;
}

/** What a member expects: the day agreed on, or the last of a month that does not have it. Counted month by month. */
function expectedDates(start: Start, monthsApart: readonly number[]): string[] {
  let { year, month } = start;
  const dates = [text(year, month, start.day)];
  for (const months of monthsApart) {
    for (let step = 0; step < months; step += 1) {
      month += 1;
      if (month > 12) [year, month] = [year + 1, 1];
    }
    dates.push(text(year, month, Math.min(start.day, monthLength(year, month))));
  }
  return dates;
}

const first = ({ year, month, day }: Start, fields: Partial<Subscription> = {}): Subscription =>
  subscription({ billingDate: at(text(year, month, day)), ...fields });

interface ChainOptions {
  readonly terms: readonly Term[];
  /** What the store gives back of the records so far. */
  readonly stored?: (chain: readonly Subscription[]) => readonly Subscription[];
}

/** One period after the other, each opened from the one before and from what the user's partition then holds. */
function chain(start: Subscription, { terms, stored = (records) => records }: ChainOptions): Subscription[] {
  const records = [start];
  for (const term of terms) {
    const current = { ...records.at(-1)!, term };
    records.push(nextPeriod(current, stored(records), NOW));
  }
  return records;
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('ten years of monthly periods', () => {
  it('bill once in every month, on the day agreed on or the last of the month, for every first day', () => {
    const terms = times(120, 'MONTHLY' as const);
    for (const start of everyStart()) {
      // The period before is all that the rule may need of the history.
      const records = chain(first(start), { terms, stored: (records) => records.slice(-2) });
      expect(calendar(records.map(dayOf))).toBe(calendar(expectedDates(start, times(120, 1))));
    }
  });

  it('do so with the whole history as well, for first days that some month does not have', () => {
    const late = everyStart().filter(({ year, day }) => day >= 29 && year === 2024);
    for (const start of late) {
      const records = chain(first(start), { terms: times(120, 'MONTHLY' as const) });
      expect(calendar(records.map(dayOf))).toBe(calendar(expectedDates(start, times(120, 1))));
    }
  });

  it('are not led astray by prorations, or by cancelled rows that moved an hour', () => {
    const hours = fc.array(fc.constantFrom(1n, 2n, 9n, -1n, -6n), { minLength: 1, maxLength: 3 });
    const starts = fc.constantFrom(...everyStart().filter(({ day }) => day >= 28));
    const days = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(starts, hours, days, (start, away, dayShifts) => {
        const stored = (records: readonly Subscription[]): Subscription[] => [
          ...records,
          ...records.flatMap((record) =>
            away.map((hour, index): Subscription => {
              const monthStart = at(`${dayOf(record).slice(0, 8)}01T06:00:00Z`);
              const length = monthLength(
                Number(dayOf(record).slice(0, 4)),
                Number(dayOf(record).slice(5, 7)),
              );
              const day = BigInt(Math.min(dayShifts[index]!, length - 1));
              return {
                ...record,
                billingStatus: index === 0 ? 'CANCELLED' : 'COMPLETED',
                billingDate: (monthStart + (24n * day + hour) * NANOS_PER_HOUR) as Instant,
              };
            }),
          ),
        ];
        const records = chain(first(start), { terms: times(26, 'MONTHLY' as const), stored });
        expect(calendar(records.map(dayOf))).toBe(calendar(expectedDates(start, times(26, 1))));
      }),
      { numRuns: 60 },
    );
  });

  it('do not depend on the order in which the records are listed', () => {
    const stored = (records: readonly Subscription[]) => records.toReversed();
    const start = { year: 2026, month: 1, day: 31 };
    const records = chain(first(start), { terms: times(26, 'MONTHLY' as const), stored });
    expect(calendar(records.map(dayOf))).toBe(calendar(expectedDates(start, times(26, 1))));
  });
});

describe('ten years of yearly periods', () => {
  it('bill once a year on the same day, 29 February where there is one', () => {
    for (const start of everyStart()) {
      const records = chain(first(start), { terms: times(10, 'YEARLY' as const) });
      expect(calendar(records.map(dayOf))).toBe(calendar(expectedDates(start, times(10, 12))));
    }
  });

  it('come back to 29 February after three years on the 28th', () => {
    const records = chain(first({ year: 2024, month: 2, day: 29 }), { terms: times(4, 'YEARLY' as const) });
    expect(records.map(dayOf)).toEqual([
      '2024-02-29T06:00:00Z',
      '2025-02-28T06:00:00Z',
      '2026-02-28T06:00:00Z',
      '2027-02-28T06:00:00Z',
      '2028-02-29T06:00:00Z',
    ]);
  });
});

describe('a member who changes between monthly and yearly', () => {
  it('keeps the day agreed on, whenever the changes happen', () => {
    const starts = fc.constantFrom(...everyStart());
    const lateStarts = fc.constantFrom(...everyStart().filter(({ day }) => day >= 29));
    const terms = fc.array(fc.constantFrom<Term>('MONTHLY', 'MONTHLY', 'YEARLY'), { maxLength: 30 });
    fc.assert(
      fc.property(fc.oneof(starts, lateStarts), terms, (start, chosen) => {
        const months = chosen.map((term) => (term === 'YEARLY' ? 12 : 1));
        expect(calendar(chain(first(start), { terms: chosen }).map(dayOf))).toBe(
          calendar(expectedDates(start, months)),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps the 31st over a year that went from 28 February to 29 February', () => {
    const terms: Term[] = ['MONTHLY', 'YEARLY', 'MONTHLY'];
    const records = chain(first({ year: 2027, month: 1, day: 31 }), { terms });
    expect(records.map(dayOf)).toEqual([
      '2027-01-31T06:00:00Z',
      '2027-02-28T06:00:00Z',
      '2028-02-29T06:00:00Z',
      '2028-03-31T06:00:00Z',
    ]);
  });
});

describe('a member who came back', () => {
  const cameBack = (instant: string, fields: Partial<Subscription> = {}): Subscription =>
    subscription({
      billingDate: at(instant),
      billingStatus: 'COMPLETED',
      process: 'REACTIVATION',
      initialRunDate: NOW,
      ...fields,
    });
  const old = (date: string, billingStatus: BillingStatus): Subscription =>
    subscription({ billingDate: due(date), billingStatus });

  /** The periods after a return: each is tried by a run before the next is opened. */
  function after(start: Subscription, count: number, others: readonly Subscription[] = []): string[] {
    const records = [start];
    for (let i = 0; i < count; i += 1) {
      const next = nextPeriod(records.at(-1)!, [...others, ...records], NOW);
      expect(next.process).toBe(i === 0 ? 'REACTIVATION' : 'INITIAL');
      records.push({ ...next, process: 'INITIAL', initialRunDate: NOW });
    }
    return records.slice(1).map((record) => dayOf(record).slice(0, 10));
  }

  it('on the 31st is billed on the 31st, wherever a month has it', () => {
    expect(after(cameBack('2027-01-31T15:00:00Z'), 3)).toEqual(['2027-02-28', '2027-03-31', '2027-04-30']);
  });

  it('on the 28th is billed on the 28th, although they used to be on the 31st', () => {
    for (const status of ['COMPLETED', 'CANCELLED'] as const)
      expect(after(cameBack('2027-01-28T15:00:00Z'), 2, [old('2027-01-31', status)])).toEqual([
        '2027-02-28',
        '2027-03-28',
      ]);
  });

  it('on the 30th is not led astray by the 31st that they gave up, next to their own period', () => {
    expect(after(cameBack('2027-04-30T15:00:00Z'), 3, [old('2027-05-31', 'CANCELLED')])).toEqual([
      '2027-05-30',
      '2027-06-30',
      '2027-07-30',
    ]);
  });

  it('on the 31st keeps it when the first period goes over one that they gave up', () => {
    expect(after(cameBack('2026-12-31T15:00:00Z'), 2, [old('2027-01-31', 'CANCELLED')])).toEqual([
      '2027-02-28',
      '2027-03-31',
    ]);
  });

  it('does not begin anew by asking for it in vain', () => {
    const declined = cameBack('2027-02-10T15:00:00Z', { billingStatus: 'CANCELLED', initialRunDate: null });
    expect(after(cameBack('2027-01-31T15:00:00Z'), 2, [declined])).toEqual(['2027-02-28', '2027-03-31']);
  });

  it('more than once is billed on the day of the last time', () => {
    const first = cameBack('2026-12-31T15:00:00Z');
    expect(after(cameBack('2027-01-29T15:00:00Z'), 2, [first])).toEqual(['2027-02-28', '2027-03-29']);
  });

  it('pays on that day or the last of the month, whatever day they had before and gave up', () => {
    const starts = fc.constantFrom(...everyStart().filter(({ day }) => day >= 27));
    const seconds = fc.integer({ min: 0, max: 86_399 });
    fc.assert(
      fc.property(starts, fc.integer({ min: 1, max: 31 }), seconds, (start, oldDay, second) => {
        const { year, month, day } = start;
        const before = { year: year - 1, month, day: Math.min(oldDay, monthLength(year - 1, month)) };
        const history = chain(first(before), { terms: times(13, 'MONTHLY' as const) });
        const midnight = at(`${year}-${two(month)}-${two(day)}T00:00:00Z`);
        const billingDate = (midnight + BigInt(second) * (NANOS_PER_HOUR / 3600n)) as Instant;
        const others = history.map((record): Subscription => {
          const isOver = record.billingDate <= billingDate;
          return { ...record, billingStatus: isOver ? 'COMPLETED' : 'CANCELLED' };
        });
        const taken = new Set(others.map((record) => dayOf(record).slice(0, 10)));
        const expected = expectedDates(start, times(26, 1))
          .slice(1)
          .map((date) => date.slice(0, 10))
          .filter((date) => !taken.has(date));
        const dates = after(cameBack(formatInstant(billingDate)), expected.length, others);
        expect(calendar(dates)).toBe(calendar(expected));
      }),
      { numRuns: 500 },
    );
  });
});

describe('Friday billing', () => {
  /** All Fridays of a month, by looking at every day of it. */
  function fridays(year: number, month: number): string[] {
    const days = Array.from({ length: monthLength(year, month) }, (_, index) => text(year, month, index + 1));
    return days.filter((day) => new Date(day).getUTCDay() === 5);
  }

  it.each([1, 2, 3, 4, 5])('on Friday number %i of the month holds for ten years from any month', (week) => {
    for (let startMonth = 1; startMonth <= 12; startMonth += 1) {
      const expected = [];
      for (let index = startMonth - 1; index < startMonth + 120; index += 1) {
        const all = fridays(2024 + Math.floor(index / 12), (index % 12) + 1);
        expected.push(all[week - 1] ?? all.at(-1));
      }
      const start = subscription({ billingDate: at(expected[0]!), billingWeek: week });
      const stored = (records: readonly Subscription[]) => records.slice(-14);
      const records = chain(start, { terms: times(120, 'MONTHLY' as const), stored });
      expect(calendar(records.map(dayOf))).toBe(calendar(expected));
      expect(records.every((record) => record.billingWeek === week)).toBe(true);
    }
  });

  it.each([1, 2, 3, 4, 5])('on Friday number %i holds for yearly members too', (week) => {
    const expected = Array.from({ length: 11 }, (_, years) => {
      const all = fridays(2024 + years, 2);
      return all[week - 1] ?? all.at(-1);
    });
    const start = subscription({ billingDate: at(expected[0]!), billingWeek: week });
    expect(calendar(chain(start, { terms: times(10, 'YEARLY' as const) }).map(dayOf))).toBe(
      calendar(expected),
    );
  });
});

describe('the record of the next period', () => {
  it('takes amount, term, week and tier along, and starts as if nothing had happened', () => {
    const record = subscription({
      billingDate: due('2026-11-13'),
      billingStatus: 'ERROR',
      billingAmount: cents(999),
      term: 'YEARLY',
      billingWeek: 2,
      receiptTierName: 'Plus:v1',
      transactionId: 'JPM-1',
      usioError: 'R01: insufficient funds',
      initialRunDate: NOW,
      completionDate: NOW,
      lastRunDate: NOW,
      createdDate: due('2025-11-14'),
      process: 'INITIAL',
      updatedEvent: 'pause-pending-resume',
      receiptAccountMask: '6789',
      receiptPaymentType: 'ACH',
      pauseDurationMonths: 2,
      isPendingDowngrade: true,
    });
    const later = at('2026-11-16T08:00:01Z');
    expect(nextPeriod(record, [record], later)).toEqual({
      userId: record.userId,
      subscriptionId: successorId(record.subscriptionId),
      billingDate: due('2027-11-12'),
      billingPeriod: '11/2027',
      billingStatus: 'SCHEDULED',
      billingAmount: 999,
      term: 'YEARLY',
      billingWeek: 2,
      receiptTierName: 'Plus:v1',
      transactionId: '',
      usioError: '',
      initialRunDate: null,
      completionDate: null,
      lastRunDate: null,
      createdDate: later,
      process: 'INITIAL',
      updatedEvent: '',
      receiptAccountMask: '',
      receiptPaymentType: '',
      pauseDurationMonths: 0,
      isPendingDowngrade: false,
    });
  });

  it('is due later than this one, whatever the record and the history', () => {
    const records = fc.tuple(subscriptions(NOW), fc.array(subscriptions(NOW), { maxLength: 5 }));
    fc.assert(
      fc.property(records, ([record, others]) => {
        const next = nextPeriod(record, [record, ...others], NOW);
        expect(next.billingDate > record.billingDate).toBe(true);
        expect(formatInstant(next.billingDate)).toMatch(/T06:00:00Z$/);
        expect(next.billingPeriod).toBe(
          formatInstant(next.billingDate).replace(/^(\d{4})-(\d{2}).*$/, '$2/$1'),
        );
      }),
    );
  });
});

describe('the id of the next period', () => {
  /** RFC 9562, section 5.5, by hand: SHA-1 over name space and name, then version and variant. */
  function uuidV5(name: string, namespace: string): string {
    const hash = createHash('sha1')
      .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
      .update(name)
      .digest()
      .subarray(0, 16);
    hash[6] = (hash[6]! & 0x0f) | 0x50;
    hash[8] = (hash[8]! & 0x3f) | 0x80;
    return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  it('never changes: a record written by an older release must be found again', () => {
    const id = '5b0c6a2e-6a0b-4c43-9d0f-1f0f6f3f1a01' as SubscriptionId;
    expect(successorId(id)).toBe('8f0323e1-dc80-5bcd-8cb5-613133c9c2e7');
  });

  it('is the UUID, version 5, of this one', () => {
    fc.assert(
      fc.property(subscriptionIds, (id) => {
        expect(successorId(id)).toBe(uuidV5(id, '6d4f3f0c-2f5d-5b5e-9c8f-3f6a3d5b9b7e'));
      }),
    );
  });

  it('is another for every record, along a chain and between chains', () => {
    fc.assert(
      fc.property(fc.uniqueArray(subscriptionIds, { minLength: 2, maxLength: 5 }), (ids) => {
        const all = ids.flatMap((id) => {
          const second = successorId(id);
          return [id, second, successorId(second)];
        });
        expect(new Set(all).size).toBe(all.length);
      }),
    );
  });
});

describe('whether a later period is open already', () => {
  const record = subscription({ billingDate: due('2026-11-16'), billingStatus: 'ERROR' });
  const other = (date: Instant, billingStatus: BillingStatus): Subscription =>
    subscription({ billingDate: date, billingStatus });

  it.each(BILLING_STATUSES.map((status) => [status, ['SCHEDULED', 'PAUSED'].includes(status)] as const))(
    'a later record that is %s counts: %s',
    (status, counts) => {
      expect(hasLaterPeriod(record, [record, other(due('2026-12-16'), status)])).toBe(counts);
    },
  );

  it('only a later one counts, by a nanosecond if need be', () => {
    expect(hasLaterPeriod(record, [record, other(due('2026-10-16'), 'SCHEDULED')])).toBe(false);
    expect(hasLaterPeriod(record, [record, other(record.billingDate, 'SCHEDULED')])).toBe(false);
    expect(hasLaterPeriod(record, [record, other((record.billingDate + 1n) as Instant, 'PAUSED')])).toBe(
      true,
    );
  });

  it('a record is not its own later period', () => {
    const scheduled: Subscription = { ...record, billingStatus: 'SCHEDULED' };
    expect(hasLaterPeriod(scheduled, [scheduled])).toBe(false);
    expect(hasLaterPeriod(scheduled, [])).toBe(false);
  });
});
