import { demoUserId } from '../src/demo/population.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { addDays, daysBetween } from '../src/domain/calendar-date.ts';
import type { HandledEvent } from '../src/domain/memberships/membership-event.ts';
import type { UserId } from '../src/domain/subscription.ts';
import { Chance } from './chance.ts';
import type { Character, Script } from './characters.ts';
import { PLENTY, characterOf } from './characters.ts';
import { PREFIX, bankUserOf } from './members.ts';

/** Something that befalls a member, in the evening of a day when the runs are over. */
export type Happening = { readonly on: CalendarDate; readonly userId: UserId } & (
  | { readonly what: 'event'; readonly type: HandledEvent; readonly pauseMonths: number | null }
  /** From now on the bank knows them like this. */
  | { readonly what: 'bank'; readonly script: Script }
  | { readonly what: 'joins'; readonly index: number }
  | { readonly what: 'upgrade' }
  | { readonly what: 'float'; readonly amount: string; readonly dueDate: CalendarDate }
);

/** Chances of each month, so that a hundred members have a year worth looking at. */
const MONTHLY = {
  cancels: 0.018,
  closes: 0.003,
  pauses: 0.015,
  upgrades: 0.01,
  float: 0.05,
  trouble: 0.07,
  joins: 0.02,
};
const RETRACTS = 0.2;

export interface YearPlan {
  readonly users: number;
  readonly seed: string;
  readonly from: CalendarDate;
  /** The day after the last. */
  readonly to: CalendarDate;
}

/** All that happens in the year, by day. The same for the same plan. */
export function planHappenings(plan: YearPlan): ReadonlyMap<CalendarDate, readonly Happening[]> {
  const members = Array.from({ length: plan.users }, (_, n) => lifeOf(n + 1, plan.from, plan));
  const byDay = new Map<CalendarDate, Happening[]>();
  for (const happening of [...members, newcomers(plan)].flat()) {
    const same = byDay.get(happening.on);
    if (same === undefined) byDay.set(happening.on, [happening]);
    else same.push(happening);
  }
  return byDay;
}

const DAYS_OF_A_MONTH = 30;

function newcomers(plan: YearPlan): Happening[] {
  const chance = new Chance(plan.seed, 'newcomers');
  const days = daysBetween(plan.from, plan.to);
  const joined: Happening[] = [];
  for (let day = 0; day < days; day += 1) {
    if (!chance.happens((plan.users * MONTHLY.joins) / DAYS_OF_A_MONTH)) continue;
    const index = plan.users + 1 + joined.filter(({ what }) => what === 'joins').length;
    const on = addDays(plan.from, day);
    joined.push({ on, userId: demoUserId(PREFIX, index), what: 'joins', index });
    joined.push(...lifeOf(index, addDays(on, DAYS_OF_A_MONTH), plan));
  }
  return joined;
}

/** Month by month at most one thing begins to happen to a member, until they leave. */
function lifeOf(index: number, since: CalendarDate, { seed, to }: YearPlan): Happening[] {
  const chance = new Chance(seed, `member ${index}`);
  const life: Happening[] = [];
  let end = to;
  for (let month = since; month < end; month = addDays(month, DAYS_OF_A_MONTH)) {
    const on = addDays(month, chance.between(0, DAYS_OF_A_MONTH - 1));
    const { happenings, isLast } = monthOf(chance, index, on);
    life.push(...happenings);
    if (isLast && on < end) end = addDays(on, 1);
  }
  // What began earlier may have had an end that comes too late.
  return life.filter((happening) => happening.on < end);
}

interface Month {
  readonly happenings: readonly Happening[];
  readonly isLast: boolean;
}

function monthOf(chance: Chance, index: number, on: CalendarDate): Month {
  const userId = demoUserId(PREFIX, index);
  const event = (type: HandledEvent, day = on, pauseMonths: number | null = null): Happening => ({
    on: day,
    userId,
    what: 'event',
    type,
    pauseMonths,
  });
  const kind = whichOf(chance);
  switch (kind) {
    case 'cancels': {
      if (!chance.happens(RETRACTS)) return { happenings: [event('CANCEL')], isLast: true };
      return {
        happenings: [event('CANCEL'), event('RETRACT', addDays(on, chance.between(1, 4)))],
        isLast: false,
      };
    }
    case 'closes':
      return { happenings: [event('CLOSEACCOUNT')], isLast: true };
    case 'pauses':
      return { happenings: pauseFrom(chance, on, event), isLast: false };
    case 'upgrades':
      return { happenings: [{ on, userId, what: 'upgrade' }], isLast: false };
    case 'float': {
      const amount = chance.pick(['25.00', '40.00', '60.00', '100.00']);
      const dueDate = addDays(on, chance.between(7, 20));
      return { happenings: [{ on, userId, what: 'float', amount, dueDate }], isLast: false };
    }
    case 'trouble': {
      const scripts = troubleOf(chance, characterOf(index), userId);
      const happenings = scripts.map(({ after, script }): Happening => {
        const whole = { ...bankUserOf(index), ...script };
        return { on: addDays(on, after), userId, what: 'bank', script: whole };
      });
      return { happenings, isLast: false };
    }
    case null:
      return { happenings: [], isLast: false };
  }
}

type Kind = Exclude<keyof typeof MONTHLY, 'joins'>;
const KINDS: readonly Kind[] = ['cancels', 'closes', 'pauses', 'upgrades', 'float', 'trouble'];

function whichOf(chance: Chance): Kind | null {
  let thrown = chance.next();
  for (const kind of KINDS) {
    thrown -= MONTHLY[kind];
    if (thrown < 0) return kind;
  }
  return null;
}

/** For some months, or until the member says so: then they are charged at once or on their next day. */
function pauseFrom(
  chance: Chance,
  on: CalendarDate,
  event: (type: HandledEvent, day?: CalendarDate, pauseMonths?: number | null) => Happening,
): Happening[] {
  if (chance.happens(0.6)) return [event('SUB_PAUSED', on, chance.between(1, 3))];
  const back = addDays(on, chance.between(20, 80));
  return [event('SUB_PAUSED', on, -1), event(chance.pick(['UNPAUSE', 'UNPAUSE_CHARGE']), back)];
}

interface Trouble {
  /** Days later. */
  readonly after: number;
  readonly script: Script;
}

/** What the bank is told, and what ends it where it does not end by itself. */
function troubleOf(chance: Chance, { troubles }: Character, userId: UserId): Trouble[] {
  switch (troubles) {
    case 'of-cards':
      return chance.happens(0.6) ? [outOfMoney(chance)] : [cardRefused(chance)];
    case 'of-accounts':
      return chance.happens(0.85)
        ? [{ after: 0, script: { ach: { mode: 'return', code: 'R01', times: 1 } } }]
        : movesToAnotherBank(chance, userId);
    case 'none':
      return [];
  }
}

const outOfMoney = (chance: Chance): Trouble => ({
  after: 0,
  script: {
    balance: {
      amount: '1.20',
      paydays: { every_days: 14, amount: '900.00', first_after_days: chance.between(12, 45) },
    },
  },
});

const cardRefused = (chance: Chance): Trouble => ({
  after: 0,
  script: { pinless: { mode: 'decline', code: '54', times: chance.between(1, 4) } },
});

/** The old account is closed, and only after a while the member tells of the new one. */
const movesToAnotherBank = (chance: Chance, userId: UserId): Trouble[] => [
  { after: 0, script: { account: { closed: true } } },
  {
    after: chance.between(20, 50),
    script: { account: { account_id: `acc_${userId}_new` }, balance: PLENTY },
  },
];
