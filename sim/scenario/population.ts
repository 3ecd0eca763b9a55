import { DynamoSeeder } from '../../src/adapters/dynamodb/seeder.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import { billingInstant } from '../../src/domain/billing-dates.ts';
import { addDays, dateOf } from '../../src/domain/calendar-date.ts';
import { instantFromMs, nextStamp } from '../../src/domain/instant.ts';
import { cents } from '../../src/domain/money.ts';
import { newRecord } from '../../src/domain/new-record.ts';
import type { Subscription, SubscriptionId, UserId } from '../../src/domain/subscription.ts';
import type { Random } from '../random.ts';
import type { World } from '../world/world.ts';
import { TABLES } from '../world/world.ts';

const DAY_MS = 86_400_000;
const PLANS = [
  { tier: '', monthly: 499, yearly: 3999 },
  { tier: 'Base:v0', monthly: 499, yearly: 3999 },
  { tier: 'Plus:v1', monthly: 999, yearly: null },
] as const;

/** Makes members up, each with a first period that is due within a month, on all kinds of days. */
export async function populate(world: World, users: number): Promise<void> {
  const random = world.random('population');
  const seeder = new DynamoSeeder({
    client: world.directClient(),
    billingTable: TABLES.billing,
    historyTable: TABLES.history,
    pipelineTable: TABLES.pipeline,
    floatsTable: TABLES.floats,
    collectionHistoryTable: TABLES.collectionHistory,
    recurringTable: TABLES.recurring,
    timer: systemTimer,
    random: () => random.next(),
  });
  const members = Array.from({ length: users }, (_, n) => newMember(world, random, n));
  await seeder.write(members.map((record) => ({ records: [record], floats: [], recurring: [] })));
}

function newMember(world: World, random: Random, n: number): Subscription {
  const userId = `u${String(n).padStart(4, '0')}`;
  world.members.add({
    userId,
    status: random.chance(0.96) ? 'ACTIVE' : random.pick(['PROCESSING', 'INVESTIGATE', 'PAUSED', null]),
    statusSinceMs: 0,
    isEmployee: random.chance(0.03),
    hasCard: random.chance(0.8),
    hasAccount: random.chance(0.96),
    balanceCents: random.chance(0.2) ? random.between(0, 600) : random.between(2_000, 60_000),
    balanceSinceMs: 0,
  });
  return firstPeriod(world, random, userId, n);
}

function firstPeriod(world: World, random: Random, userId: string, n: number): Subscription {
  const startMs = world.timeline.nowMs;
  const today = dateOf(instantFromMs(startMs));
  const isFriday = random.chance(0.2);
  const plan = random.pick(PLANS);
  const yearly = random.chance(0.25) ? plan.yearly : null;
  let day = addDays(today, random.between(0, 30));
  while (isFriday && weekdayOf(day) !== FRIDAY) day = addDays(day, 1);
  const createdDate = instantFromMs(startMs - 10 * DAY_MS);
  return {
    ...newRecord({
      userId: userId as UserId,
      subscriptionId: `10000000-0000-4000-8000-${String(n).padStart(12, '0')}` as SubscriptionId,
      billingDate: billingInstant(day),
      billingAmount: cents(yearly ?? plan.monthly),
      term: yearly === null ? 'MONTHLY' : 'YEARLY',
      billingWeek: isFriday ? Math.ceil(Number(day.slice(8)) / 7) : null,
      receiptTierName: plan.tier,
      process: null,
      createdDate,
    }),
    lastRunDate: nextStamp(createdDate, null),
  };
}

const FRIDAY = 5;
const weekdayOf = (day: string): number => new Date(`${day}T00:00:00Z`).getUTCDay();
