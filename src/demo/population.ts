import { v5 as uuidV5 } from 'uuid';
import { billingInstant } from '../domain/billing-dates.ts';
import type { CalendarDate } from '../domain/calendar-date.ts';
import {
  FRIDAY,
  addDays,
  calendarDate,
  dateOf,
  daysInMonth,
  nthWeekday,
  partsOf,
  weekday,
} from '../domain/calendar-date.ts';
import type { Instant } from '../domain/instant.ts';
import { nextStamp, plusDays, plusMs } from '../domain/instant.ts';
import { cents } from '../domain/money.ts';
import { newRecord } from '../domain/new-record.ts';
import { nextPeriod } from '../domain/next-period.ts';
import type { Subscription, SubscriptionId, UserId } from '../domain/subscription.ts';
import { PENDING_CANCELLATION } from '../domain/subscription.ts';
import type { FloatLife } from './float-life.ts';
import { demoFloat } from './floats.ts';
import type { RecurringLife } from './recurring-life.ts';
import { demoRecurring } from './recurring.ts';
import type { Persona, PretendUser, Situation } from './personas.ts';
import { personaOf } from './personas.ts';

/**
 * A member of the demo: what the bank knows, the billing records that the Go service would have left, floats, and what
 * else they pay for every month.
 */
export interface DemoMember {
  readonly bankUser: PretendUser;
  readonly records: readonly Subscription[];
  readonly floats: readonly FloatLife[];
  readonly recurring: readonly RecurringLife[];
}

interface Plan {
  readonly amount: number;
  readonly term: Subscription['term'];
  readonly tier: readonly [name: string, version: string] | null;
  readonly friday: boolean;
}

const RUN_AFTER_BILLING_MS = 2 * 3_600_000;
const NAMESPACE = '0b0c9c54-3d0e-5a39-8f0e-0d5a3f6c1c11';

export const demoUserId = (prefix: string, index: number): UserId =>
  `${prefix}-${String(index).padStart(6, '0')}` as UserId;

/** The n-th member, always the same for the same prefix, number and moment. */
export function demoMember(prefix: string, index: number, now: Instant): DemoMember {
  const persona = personaOf(index);
  const plan = planOf(index, persona.situation);
  const userId = demoUserId(prefix, index);
  const [tier, tier_version] = plan.tier ?? [];
  return {
    bankUser: {
      user_id: userId,
      email: `${userId}@example.com`,
      ...persona.bank,
      ...(tier === undefined ? {} : { tier, tier_version }),
    },
    records: recordsOf(userId, plan, persona.situation, index, now),
    floats: floatsOf(userId, persona, index, now),
    recurring: recurringOf(userId, persona, index, now),
  };
}

function floatsOf(userId: UserId, { floats = [] }: Persona, index: number, now: Instant): FloatLife[] {
  const situation = floats[index % floats.length] ?? null;
  return situation === null ? [] : [demoFloat(userId, situation, index, now)];
}

function recurringOf(
  userId: UserId,
  { recurring = [] }: Persona,
  index: number,
  now: Instant,
): RecurringLife[] {
  return demoRecurring(userId, recurring[index % recurring.length] ?? [], index, now);
}

function planOf(index: number, situation: Situation): Plan {
  const tier = index % 5 === 0 ? (['Plus', 'v1'] as const) : null;
  if (index % 11 === 3) return { amount: 3999, term: 'YEARLY', tier: null, friday: false };
  return {
    amount: tier === null ? 499 : 999,
    term: 'MONTHLY',
    tier,
    friday: index % 7 === 2 && situation !== 'upcoming',
  };
}

function recordsOf(
  userId: UserId,
  plan: Plan,
  situation: Situation,
  index: number,
  now: Instant,
): Subscription[] {
  const current = blank(userId, plan, currentDate(plan, situation, index, now));
  const paid = previous(current, plan);
  switch (situation) {
    case 'due':
    case 'upcoming':
      return stamped([paid, current]);
    case 'ending':
      return stamped([paid, { ...current, updatedEvent: PENDING_CANCELLATION }]);
    case 'paused':
      return stamped([
        paid,
        {
          ...current,
          billingStatus: 'PAUSED',
          updatedEvent: 'SUB_PAUSED',
          pauseDurationMonths: index % 3 === 0 ? -1 : 1 + (index % 3),
        },
      ]);
    case 'retry': {
      const failed = attempted(current, 'ERROR', 'R01: insufficient funds');
      return stamped([paid, failed, nextPeriod(failed, [paid, failed], attemptAt(current))]);
    }
  }
}

/** Due within the last days, so that the first run has something to do; upcoming ones in four days. */
function currentDate(plan: Plan, situation: Situation, index: number, now: Instant): CalendarDate {
  if (situation === 'upcoming') return addDays(dateOf(now), 4);
  const newest = dateOf(plusMs(now, -6 * 3_600_000));
  const date = addDays(newest, situation === 'retry' ? -3 - (index % 5) : -(index % 3));
  if (!plan.friday) return date;
  return addDays(date, -((weekday(date) - FRIDAY + 7) % 7));
}

function blank(userId: UserId, plan: Plan, date: CalendarDate): Subscription {
  const billingDate = billingInstant(date);
  return newRecord({
    userId,
    subscriptionId: uuidV5(`${userId}/${date}`, NAMESPACE) as SubscriptionId,
    billingDate,
    billingAmount: cents(plan.amount),
    term: plan.term,
    billingWeek: plan.friday ? Math.ceil(partsOf(date).day / 7) : null,
    receiptTierName: plan.tier === null ? '' : plan.tier.join(':'),
    process: 'INITIAL',
    createdDate: plusDays(billingDate, -28),
  });
}

/** The period before, paid by card. */
function previous(current: Subscription, plan: Plan): Subscription {
  const { year, month, day } = partsOf(dateOf(current.billingDate));
  const before = partsOf(calendarDate(year, month - (plan.term === 'YEARLY' ? 12 : 1), 1));
  const date =
    current.billingWeek === null
      ? calendarDate(before.year, before.month, Math.min(day, daysInMonth(before.year, before.month)))
      : nthWeekday(before.year, before.month, FRIDAY, current.billingWeek);
  return attempted(blank(current.userId, plan, date), 'COMPLETED', '');
}

const attemptAt = ({ billingDate }: Subscription): Instant => plusMs(billingDate, RUN_AFTER_BILLING_MS);

function attempted(
  record: Subscription,
  billingStatus: 'COMPLETED' | 'ERROR',
  usioError: string,
): Subscription {
  return {
    ...record,
    billingStatus,
    usioError,
    transactionId: `USIO-${record.subscriptionId.slice(0, 8)}`,
    initialRunDate: attemptAt(record),
    completionDate: billingStatus === 'COMPLETED' ? attemptAt(record) : null,
    lastRunDate: attemptAt(record),
    receiptAccountMask: '6789',
    receiptPaymentType: billingStatus === 'COMPLETED' ? 'PINLESS' : 'ACH',
  };
}

/** Strictly increasing over the user, as every writer leaves them. */
function stamped(records: readonly Subscription[]): Subscription[] {
  let latest: Instant | null = null;
  return records.map((record) => {
    latest = nextStamp(record.lastRunDate ?? record.createdDate ?? record.billingDate, latest);
    return { ...record, lastRunDate: latest };
  });
}
