import { v5 as uuidV5 } from 'uuid';
import { addBankingDays } from '../domain/bank-calendar.ts';
import type { CalendarDate } from '../domain/calendar-date.ts';
import { addDays, dateOf, isWeekend, midnightOf } from '../domain/calendar-date.ts';
import type { Float, FloatId } from '../domain/floats/float.ts';
import { FLOAT_BIRTH_STATUS } from '../domain/floats/transitions.ts';
import type { Instant } from '../domain/instant.ts';
import { plusDays, plusMs } from '../domain/instant.ts';
import { cents } from '../domain/money.ts';
import type { UserId } from '../domain/subscription.ts';
import type { FloatLife, Run } from './float-life.ts';
import {
  givenUp,
  newLife,
  paidByCard,
  sentToBank,
  settled,
  turnedToAccount,
  withoutAccount,
} from './float-life.ts';

/** In which state the demo finds a member's float. */
export type FloatSituation =
  | 'due'
  | 'tomorrow'
  | 'upcoming'
  | 'sent'
  | 'retry-after-card'
  | 'retry-after-account'
  | 'nothing-to-charge'
  | 'given-up'
  | 'paid-by-card'
  | 'paid-from-account';

const NAMESPACE = '6f1d0a52-7c39-5b64-9d2e-3a4f2e0c7b90';
const HOUR_MS = 3_600_000;
/** When runs of floats start, and when banks tell what became of yesterday's entries. */
const RUN_MS = 9.5 * HOUR_MS;
const BANK_MS = 13.5 * HOUR_MS;
const ADVANCED_FOR_DAYS = 14;
const AMOUNTS = [2_500, 4_000, 6_000, 8_000, 10_000];

/** Always the same for the same member and moment. */
export function demoFloat(userId: UserId, situation: FloatSituation, index: number, now: Instant): FloatLife {
  const today = dateOf(now);
  const of = (dueDate: CalendarDate): FloatLife => newLife(advance(userId, situation, index, dueDate));
  const ago = (days: number): FloatLife => of(addDays(today, -days - (index % 13)));
  switch (situation) {
    case 'due':
      return of(today);
    case 'tomorrow':
      return of(addBankingDays(today, 1));
    case 'upcoming':
      return of(addDays(today, 4 + (index % 9)));
    case 'sent': {
      const run = newestRun(now);
      return sentToBank(of(addBankingDays(dateOf(run.at), 1)), run);
    }
    case 'retry-after-card':
      return returned(turnedToAccount(...onItsDay(ago(7))));
    case 'retry-after-account':
      return returned(sentToBank(...theDayBefore(ago(8))));
    case 'nothing-to-charge': {
      const [life, day] = onItsDay(ago(5));
      return withoutAccount(life, day, retryAfter(day.at));
    }
    case 'given-up':
      return triedInVain(ago(60));
    case 'paid-by-card':
      return paidByCard(...onItsDay(ago(20)));
    case 'paid-from-account': {
      const sent = sentToBank(...theDayBefore(ago(20)));
      return settled(sent, 'paid', bankAfter(sent, 3));
    }
  }
}

function advance(userId: UserId, situation: FloatSituation, index: number, dueDate: CalendarDate): Float {
  const createdAt = plusMs(plusDays(midnightOf(dueDate), -ADVANCED_FOR_DAYS), 15 * HOUR_MS + index * 61_000);
  return {
    floatId: uuidV5(`${userId}/${situation}`, NAMESPACE) as FloatId,
    userId,
    status: FLOAT_BIRTH_STATUS,
    amount: cents(AMOUNTS[(index * 3) % AMOUNTS.length] ?? 0),
    dueDate,
    createdAt,
    lastRunTime: createdAt,
    completedAt: null,
    creditReturnedAt: null,
    confirmationId: '',
    error: '',
  };
}

/** Three debits that came back, a week apart, and the retry that found the limit reached. */
function triedInVain(float: FloatLife): FloatLife {
  let life = returned(sentToBank(...theDayBefore(float)));
  for (const weeks of [1, 2]) {
    const at = runOn(addDays(life.float.dueDate, weeks * 7));
    life = returned(sentToBank(life, { stage: 'RETRY', at }));
  }
  return givenUp(life, retryAfter(life.float.lastRunTime));
}

const returned = (life: FloatLife): FloatLife => settled(life, 'R01', bankAfter(life, 2));

/** Some banking days after the last thing that happened. */
const bankAfter = ({ float }: FloatLife, days: number): Instant =>
  plusMs(midnightOf(addBankingDays(dateOf(float.lastRunTime), days)), BANK_MS);

const onItsDay = (life: FloatLife): [FloatLife, Run] => [
  life,
  { stage: 'TODAY6AM', at: runOn(life.float.dueDate) },
];

const theDayBefore = (life: FloatLife): [FloatLife, Run] => [
  life,
  newestRun(plusMs(midnightOf(life.float.dueDate), -1)),
];

const newestRun = (now: Instant): Run => {
  const day = dateOf(plusMs(now, -RUN_MS));
  return isWeekend(day) ? newestRun(midnightOf(day)) : { stage: 'TOMORROW', at: startOf(day) };
};

const retryAfter = (at: Instant): Run => ({ stage: 'RETRY', at: runOn(addDays(dateOf(at), 1)) });

/** Runs rest at weekends. */
const runOn = (day: CalendarDate): Instant => (isWeekend(day) ? runOn(addDays(day, 1)) : startOf(day));

const startOf = (day: CalendarDate): Instant => plusMs(midnightOf(day), RUN_MS);
