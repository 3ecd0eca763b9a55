import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, dateOf, daysBetween, midnightOf, parseDate } from '../../../src/domain/calendar-date.ts';
import type { UserFacts } from '../../../src/domain/decision.ts';
import { plusMs, plusNanos } from '../../../src/domain/instant.ts';
import { ZERO } from '../../../src/domain/money.ts';
import type { NoNotice } from '../../../src/domain/notice.ts';
import { noNotice, noNoticeTo, noticeKey } from '../../../src/domain/notice.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { dueRange, isInRange, noticeDay } from '../../../src/domain/runs.ts';
import { cronOf, newestTick } from '../../../src/domain/schedule.ts';
import type { Subscription, SubscriptionId } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import { instants } from '../../support/arbitraries.ts';
import { at, subscription } from '../../support/records.ts';

const NOW = at('2026-11-16T15:00:00Z');
const DAY = parseDate('2026-11-20')!;
const due = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({ billingDate: at('2026-11-20T06:00:00Z'), ...fields });

describe('a member is told of a record', () => {
  it('that is SCHEDULED for that day', () => {
    expect(noNotice(due(), DAY, NOW)).toBeNull();
    expect(noNotice(due({ billingDate: at('2026-11-20T00:00:00Z') }), DAY, NOW)).toBeNull();
    expect(noNotice(due({ billingDate: at('2026-11-20T23:59:59Z') }), DAY, NOW)).toBeNull();
  });

  it.each<[NoNotice, Partial<Subscription>]>([
    ['another-date', { billingDate: at('2026-11-19T23:59:59Z') }],
    ['another-date', { billingDate: at('2026-11-21T00:00:00Z') }],
    ['pending-cancellation', { updatedEvent: 'PENDING_CANCELLATION' }],
    ['account-closed', { updatedEvent: 'account-closed' }],
    ['amount-not-positive', { billingAmount: ZERO }],
  ])('but not (%s) with %o', (reason, fields) => {
    expect(noNotice(due(fields), DAY, NOW)).toBe(reason);
  });

  it('also with an event that does not end the membership', () => {
    expect(noNotice(due({ updatedEvent: 'UNPAUSE' }), DAY, NOW)).toBeNull();
  });

  it('in no other status', () => {
    for (const billingStatus of BILLING_STATUSES.filter((status) => status !== 'SCHEDULED'))
      expect(noNotice(due({ billingStatus }), DAY, NOW)).toBe('not-scheduled');
  });

  it('only before it is due', () => {
    const { billingDate } = due();
    expect(noNotice(due(), DAY, plusNanos(billingDate, -1n))).toBeNull();
    expect(noNotice(due(), DAY, billingDate)).toBe('already-due');
  });
});

describe('a notice goes', () => {
  const user = (fields: Partial<UserFacts> = {}): UserFacts => ({
    status: 'ACTIVE',
    isEmployee: false,
    ...fields,
  });

  it('to an active member', () => {
    expect(noNoticeTo(user())).toBeNull();
  });

  it.each<[NoNotice, UserFacts | null]>([
    ['user-missing', null],
    ['user-inactive', user({ status: 'PAUSED' })],
    ['user-inactive', user({ status: 'SOMETHING_NEW' })],
    ['user-inactive', user({ status: 'BANNED', isEmployee: true })],
    ['employee', user({ isEmployee: true })],
  ])('to nobody else (%s): %o', (reason, to) => {
    expect(noNoticeTo(to)).toBe(reason);
  });
});

describe('a notify run', () => {
  it.each([
    ['2026-01-28T15:00:00Z', '2026-02-01'],
    ['2026-02-24T15:00:00Z', '2026-02-28'],
    ['2026-02-25T15:00:00Z', '2026-03-01'],
    ['2028-02-25T15:00:00Z', '2028-02-29'],
    ['2026-04-27T15:00:00Z', '2026-05-01'],
    ['2026-12-28T00:00:00Z', '2027-01-01'],
    ['2026-12-28T23:59:59.999999999Z', '2027-01-01'],
  ])('at %s tells of what is due on %s', (tick, day) => {
    expect(noticeDay(at(tick))).toBe(day);
  });

  it('is of exactly one day: every record is in one daily run, four days ahead', () => {
    const year = instants(at('2027-12-01T00:00:00Z'), at('2028-04-01T00:00:00Z'));
    fc.assert(
      fc.property(year, (billingDate) => {
        const record = subscription({ billingDate });
        const around = Array.from({ length: 10 }, (_, i) => addDays(dateOf(billingDate), i - 9));
        const telling = around.filter((date) => {
          const tick = newestTick('notify', plusMs(midnightOf(date), 86_399_999));
          return isInRange(dueRange('notify', tick, DEFAULT_POLICY), record);
        });
        expect(telling.map((date) => daysBetween(date, dateOf(billingDate)))).toEqual([4]);
        expect(noNotice(record, noticeDay(midnightOf(telling[0]!)), midnightOf(telling[0]!))).toBeNull();
      }),
    );
    expect(cronOf('notify')).toBe('0 15 * * *');
  });
});

it('a notice is another for another record and for another day', () => {
  const [one, other] = ['a', 'b'] as SubscriptionId[];
  const keys = [noticeKey(one!, DAY), noticeKey(other!, DAY), noticeKey(one!, addDays(DAY, 1))];
  expect(new Set(keys).size).toBe(3);
  expect(keys[0]).toBe('a.2026-11-20.three_day_notification');
});
