import { setTimeout as sleep } from 'node:timers/promises';
import { seed } from '../src/cli/sandbox-commands.ts';
import type { DemoMember } from '../src/demo/population.ts';
import { demoMember } from '../src/demo/population.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { addDays, dateOf } from '../src/domain/calendar-date.ts';
import type { Instant } from '../src/domain/instant.ts';
import { MORNING, STOPS, joinersOn, timeOn } from './days.ts';
import type { Ground } from './ground.ts';
import type { Fault, PlannedFault } from './plan.ts';
import type { Traffic } from './traffic.ts';
import { Weather } from './weather.ts';

const FAULTS_PER_DAY = 15;
/** Runs that nothing disturbs need a moment too. */
const SHORTEST_STOP_MS = 1_000;
const AGAIN_AFTER_MS = 500;

export interface StormOptions {
  readonly plan: readonly PlannedFault[];
  readonly users: number;
  readonly traffic: Traffic;
  readonly onFault: (fault: Fault) => void;
  readonly onDay: (morning: Instant, joined: number) => void;
}

/**
 * Day after day the clock moves on, members join, runs become due and faults strike, while callers ask for what they
 * want. Settles when the last trouble is over and every caller has an answer.
 */
export async function storm(ground: Ground, options: StormOptions): Promise<void> {
  const { plan, users, traffic, onFault, onDay } = options;
  const weather = new Weather(ground);
  const firstDay = dateOf((await ground.bank.time()).now);
  const days = Math.ceil(plan.length / FAULTS_PER_DAY);
  for (let day = 0; day < days; day += 1) {
    const today = addDays(firstDay, day);
    const morning = timeOn(today, MORNING);
    await ground.bank.setTime(morning);
    // Seeding knows no conditions: what it repeats at a store that fell asleep would undo what workers have done since.
    await weather.calm();
    const joined = await join(ground, `day${day + 1}`, joinersOn(day, { users, days }));
    traffic.join(joined);
    if (day === 0) traffic.begin();
    onDay(morning, joined.length);
    const faults = plan.slice(day * FAULTS_PER_DAY, (day + 1) * FAULTS_PER_DAY);
    await strikeAllDay(ground, { today, faults, weather, traffic, onFault });
  }
  await weather.calm();
  await traffic.end();
}

interface Day {
  readonly today: CalendarDate;
  readonly faults: readonly PlannedFault[];
  readonly weather: Weather;
  readonly traffic: Traffic;
  readonly onFault: StormOptions['onFault'];
}

async function strikeAllDay(
  ground: Ground,
  { today, faults, weather, traffic, onFault }: Day,
): Promise<void> {
  for (const [n, stop] of STOPS.entries()) {
    await ground.bank.setTime(timeOn(today, stop));
    const enough = Promise.all([sleep(SHORTEST_STOP_MS), traffic.run()]);
    enough.catch(() => undefined); // until it is waited for
    for (const { fault, afterMs } of faults.filter((_, i) => i % STOPS.length === n)) {
      await sleep(afterMs);
      await weather.strike(fault);
      onFault(fault);
    }
    await enough;
  }
}

/**
 * Made-up members of every kind. A machine that is too busy is asked again: members who are there are left alone, and
 * no run starts over the others before they are.
 */
async function join(ground: Ground, prefix: string, users: number): Promise<DemoMember[]> {
  const { now } = await ground.bank.time();
  const unseen = { line: () => undefined, table: () => undefined, progress: silent, counter: silent };
  const request = { users, prefix, onlyIfMissing: false };
  while ((await seed(ground.environment, request, unseen).catch(() => null)) === null)
    await sleep(AGAIN_AFTER_MS);
  return Array.from({ length: users }, (_, i) => demoMember(prefix, i + 1, now));
}

const silent = () => ({ update: () => undefined, finish: () => undefined, note: () => undefined });
