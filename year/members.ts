import { v5 as uuidV5 } from 'uuid';
import type { DemoMember } from '../src/demo/population.ts';
import { demoUserId } from '../src/demo/population.ts';
import { demoRecurring } from '../src/demo/recurring.ts';
import { billingInstant } from '../src/domain/billing-dates.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { addDays, dateOf } from '../src/domain/calendar-date.ts';
import type { Instant } from '../src/domain/instant.ts';
import { plusDays } from '../src/domain/instant.ts';
import { cents } from '../src/domain/money.ts';
import { newRecord } from '../src/domain/new-record.ts';
import type { Subscription, SubscriptionId, UserId } from '../src/domain/subscription.ts';
import type { Script } from './characters.ts';
import { characterOf } from './characters.ts';

export const PREFIX = 'year';
const NAMESPACE = '5e0d7c36-1c5b-5f0c-9a53-0c2f4f0c8a11';
/** Billing days are spread over a month, so that there is something to collect on most days. */
const DAYS_OF_A_MONTH = 28;

export interface PlanChoice {
  readonly amount: number;
  readonly term: Subscription['term'];
  readonly tier: readonly [name: string, version: string] | null;
}

export function planOf(index: number): PlanChoice {
  if (index % 12 === 5) return { amount: 3999, term: 'YEARLY', tier: null };
  return index % 4 === 0
    ? { amount: 999, term: 'MONTHLY', tier: ['Plus', 'v1'] }
    : { amount: 499, term: 'MONTHLY', tier: null };
}

/** What the pretend bank is told of the member when the year begins. */
export function bankUserOf(index: number): Script & { readonly user_id: string } {
  const userId = demoUserId(PREFIX, index);
  const [tier, tier_version] = planOf(index).tier ?? [];
  return {
    user_id: userId,
    email: `${userId}@example.com`,
    ...characterOf(index).bank,
    ...(tier === undefined ? {} : { tier, tier_version }),
  };
}

/** A member when the year begins, with a first period in its first month. */
export function yearMember(prefix: string, index: number, now: Instant): DemoMember {
  const userId = demoUserId(prefix, index);
  const { recurring = [] } = characterOf(index);
  return {
    bankUser: bankUserOf(index),
    records: [firstPeriod(userId, index, addDays(dateOf(now), (index * 11) % DAYS_OF_A_MONTH))],
    floats: [],
    recurring: demoRecurring(userId, recurring[index % recurring.length] ?? [], index, now),
  };
}

function firstPeriod(userId: UserId, index: number, date: CalendarDate): Subscription {
  const { amount, term, tier } = planOf(index);
  const billingDate = billingInstant(date);
  const createdDate = plusDays(billingDate, -DAYS_OF_A_MONTH);
  return {
    ...newRecord({
      userId,
      subscriptionId: uuidV5(`${userId}/${date}`, NAMESPACE) as SubscriptionId,
      billingDate,
      billingAmount: cents(amount),
      term,
      billingWeek: null,
      receiptTierName: tier === null ? '' : tier.join(':'),
      process: 'INITIAL',
      createdDate,
    }),
    lastRunDate: createdDate,
  };
}
