import { v5 as uuidV5 } from 'uuid';
import type { CalendarDate } from '../domain/calendar-date.ts';
import { addDays, dateOf, midnightOf, partsOf } from '../domain/calendar-date.ts';
import type { Instant } from '../domain/instant.ts';
import { plusMs } from '../domain/instant.ts';
import { cents } from '../domain/money.ts';
import { paymentDateIn } from '../domain/recurring/payment-dates.ts';
import { DEFAULT_RECURRING_POLICY } from '../domain/recurring/policy.ts';
import type { AccountId, RecurringId } from '../domain/recurring/recurring.ts';
import type { UserId } from '../domain/subscription.ts';
import type { RecurringLife } from './recurring-life.ts';
import { begun, declined, left, paid, told } from './recurring-life.ts';

/** In which state the demo finds a recurring payment of a member. */
export type RecurringSituation = 'due' | 'reminder-due' | 'upcoming' | 'past-due' | 'failed' | 'cancelled';

const NAMESPACE = '2b7a4e56-90c1-5f3d-8f6e-5f0f7f3f1d24';
const NOON_MS = 12 * 3_600_000;
const { reminderDays, retryDays } = DEFAULT_RECURRING_POLICY;
const BEGUN_DAYS_BEFORE = 12;
const SKUS = ['news-digital', 'music-family', 'cloud-200gb', 'gym', 'chess'];
const AMOUNTS = [499, 999, 1_299, 1_799, 2_500];

/** Always the same for the same member and day. */
export const demoRecurring = (
  userId: UserId,
  situations: readonly RecurringSituation[],
  index: number,
  now: Instant,
): RecurringLife[] =>
  situations.map((situation, n) => lifeOf(situation, { userId, place: index + n, today: dateOf(now) }));

interface Whose {
  readonly userId: UserId;
  readonly place: number;
  readonly today: CalendarDate;
}

function lifeOf(situation: RecurringSituation, whose: Whose): RecurringLife {
  const { today, place } = whose;
  switch (situation) {
    case 'due':
      return toldOf(paidOnceUntil(today, whose));
    case 'reminder-due':
      return paidOnceUntil(addDays(today, reminderDays), whose);
    case 'upcoming':
      return paidOnceUntil(addDays(today, reminderDays + 1 + (place % 12)), whose);
    case 'past-due':
      return declinedFrom(toldOf(paidOnceUntil(addDays(today, -1), whose)), 1);
    case 'failed': {
      const tries = retryDays.length + 1;
      const days = retryDays.reduce((sum, wait) => sum + wait, 0);
      return declinedFrom(toldOf(paidOnceUntil(addDays(today, -days - 1), whose)), tries);
    }
    case 'cancelled': {
      const life = toldOf(paidOnceUntil(addDays(today, 3), whose));
      return left(life, plusMs(midnightOf(addDays(today, -1)), NOON_MS));
    }
  }
}

/** Paid the month before, and to be paid on that day. */
function paidOnceUntil(next: CalendarDate, { userId, place, today }: Whose): RecurringLife {
  const paymentDay = partsOf(next).day;
  const first = paymentDateIn(addDays(next, -paymentDay), paymentDay);
  const createdAt = plusMs(midnightOf(addDays(first, -BEGUN_DAYS_BEFORE)), NOON_MS + place * 61_000);
  const life = begun(
    {
      accountId: userId as string as AccountId,
      // The day is part of it: what an interrupted seeding of another day has left is something else.
      recurringId: uuidV5(`${userId}/${place}/${today}`, NAMESPACE) as RecurringId,
      sku: SKUS[place % SKUS.length] ?? '',
      email: `${userId}@example.com`,
      paymentAmount: cents(AMOUNTS[place % AMOUNTS.length] ?? 0),
      paymentDay,
      paymentToken: `tok_demo_${String(place).padStart(6, '0')}`,
      paymentDetails: { brand: 'Visa', last_four: '4242' },
      startDate: first,
    },
    createdAt,
  );
  return paid(toldOf(life), first);
}

const toldOf = (life: RecurringLife): RecurringLife => {
  const { nextReminderDate } = life.subscription;
  if (nextReminderDate === null) throw new Error('it was told of before');
  return told(life, nextReminderDate);
};

function declinedFrom(life: RecurringLife, tries: number): RecurringLife {
  let tried = life;
  for (let n = 0; n < tries; n += 1) {
    const { nextPaymentDate } = tried.subscription;
    if (nextPaymentDate === null) throw new Error('there is no next try');
    tried = declined(tried, nextPaymentDate);
  }
  return tried;
}
