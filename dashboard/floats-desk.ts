import { addBankingDays } from '../src/domain/bank-calendar.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { addDays, dateOf, daysBetween } from '../src/domain/calendar-date.ts';
import type { FloatRange } from '../src/domain/floats/due.ts';
import type { Float, FloatStatus } from '../src/domain/floats/float.ts';
import { OPEN_FLOAT_STATUSES } from '../src/domain/floats/float.ts';
import { ZERO, addMoney } from '../src/domain/money.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { FloatsRepository } from '../src/ports/floats.ts';
import type { PageKey } from '../src/ports/subscriptions.ts';
import type { Timer } from '../src/ports/timer.ts';
import type { Sum } from './outcomes.ts';
import type { Answer, Patience } from './patience.ts';

export interface FloatsDeskDependencies {
  readonly floats: Pick<FloatsRepository, 'due' | 'newest'>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly patience: Patience;
}

/** When a float is due, seen from today. `next` is until the next banking day: what the run of the day before sends. */
export const DUE = ['before', 'today', 'next', 'later'] as const;
export type Due = (typeof DUE)[number];

/** The floats of one status. */
export interface StatusFigures {
  readonly byDue: Readonly<Record<Due, Sum>>;
  readonly all: Sum;
  /** Those that are due first. */
  readonly first: readonly Float[];
  /** False: there are more than were counted. */
  readonly isAll: boolean;
  readonly unreadable: number;
}

export type OpenStatus = (typeof OPEN_FLOAT_STATUSES)[number];

export interface FloatsFigures {
  readonly today: CalendarDate;
  readonly nextBankingDay: CalendarDate;
  readonly open: Readonly<Record<OpenStatus, StatusFigures>>;
  /** How long those are overdue that are tried again and again, or cannot be tried. */
  readonly ages: readonly { readonly label: string; readonly sum: Sum }[];
  /** By their due date, of the last days. */
  readonly paidBack: StatusFigures;
  readonly givenUp: StatusFigures;
  readonly newestGivenUp: readonly Float[];
}

/** For how many days back the ends of floats are counted: after so long none is tried any more. */
export const END_DAYS = 90;

/** The table may hold millions, and this is a page: of each status so many pages are counted, and then it says "more". */
const MOST_PAGES = 10;
/** A screenful. */
export const LISTED = 8;
/** What it takes to count is not asked of the table for every look. */
const KEPT_MS = 10_000;

const AGES = [
  { upTo: 7, label: 'Up to a week' },
  { upTo: 30, label: '8 to 30 days' },
  { upTo: 60, label: '31 to 60 days' },
  { upTo: 90, label: '61 to 90 days' },
  { upTo: Number.POSITIVE_INFINITY, label: 'Longer' },
] as const;

const NOTHING: Sum = { count: 0, amount: ZERO };

/** Counts and money by status and due date, from the index; a moment old. */
export class FloatsDesk {
  private readonly dependencies: FloatsDeskDependencies;
  private kept: { readonly atMs: number; readonly figures: Promise<Answer<FloatsFigures>> } | null = null;

  constructor(dependencies: FloatsDeskDependencies) {
    this.dependencies = dependencies;
  }

  look(): Promise<Answer<FloatsFigures>> {
    const { timer, patience } = this.dependencies;
    const nowMs = timer.elapsedMs();
    if (this.kept !== null && nowMs - this.kept.atMs < KEPT_MS) return this.kept.figures;
    const figures = patience.ask(() => this.count());
    this.kept = { atMs: nowMs, figures };
    void figures.then((answer) => {
      if (answer === null) this.kept = null;
    });
    return figures;
  }

  private async count(): Promise<FloatsFigures> {
    const { floats, clock } = this.dependencies;
    const today = dateOf(clock.now());
    const nextBankingDay = addBankingDays(today, 1);
    const everything = { from: null, to: null };
    const ended = { from: addDays(today, -END_DAYS), to: null };
    const read = async (status: FloatStatus, dates: Pick<FloatRange, 'from' | 'to'>): Promise<Read> => ({
      ...(await this.read({ status, ...dates })),
      today,
      nextBankingDay,
    });
    const [open, paidBack, givenUp, newest] = await Promise.all([
      Promise.all(
        OPEN_FLOAT_STATUSES.map(async (status) => [status, await read(status, everything)] as const),
      ),
      read('COMPLETED', ended),
      read('DEFAULTED', ended),
      floats.newest('DEFAULTED', LISTED),
    ]);
    const overdue = open.filter(([status]) => status === 'RETRY' || status === 'UNCOLLECTABLE');
    return {
      today,
      nextBankingDay,
      open: Object.fromEntries(
        open.map(([status, all]) => [status, figuresOf(all)]),
      ) as FloatsFigures['open'],
      ages: agesOf(
        overdue.flatMap(([, all]) => all.floats),
        today,
      ),
      paidBack: figuresOf(paidBack),
      givenUp: figuresOf(givenUp),
      newestGivenUp: newest.floats,
    };
  }

  private async read(range: FloatRange): Promise<Pick<Read, 'floats' | 'unreadable' | 'isAll'>> {
    const floats: Float[] = [];
    let unreadable = 0;
    let key: PageKey | null = null;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const page = await this.dependencies.floats.due(range, key);
      floats.push(...page.floats);
      unreadable += page.malformed.length;
      key = page.nextKey;
      if (key === null) break;
    }
    return { floats, unreadable, isAll: key === null };
  }
}

interface Read {
  readonly floats: readonly Float[];
  readonly unreadable: number;
  readonly isAll: boolean;
  readonly today: CalendarDate;
  readonly nextBankingDay: CalendarDate;
}

function figuresOf({ floats, unreadable, isAll, today, nextBankingDay }: Read): StatusFigures {
  const of = (due: Due): Sum =>
    sumOf(floats.filter(({ dueDate }) => dueOf(dueDate, today, nextBankingDay) === due));
  return {
    byDue: { before: of('before'), today: of('today'), next: of('next'), later: of('later') },
    all: sumOf(floats),
    first: floats.slice(0, FIRST),
    isAll,
    unreadable,
  };
}

/** Enough to find a screenful of each kind of due date in. */
const FIRST = 200;

export function dueOf(dueDate: CalendarDate, today: CalendarDate, nextBankingDay: CalendarDate): Due {
  if (dueDate < today) return 'before';
  if (dueDate === today) return 'today';
  return dueDate <= nextBankingDay ? 'next' : 'later';
}

function agesOf(floats: readonly Float[], today: CalendarDate): FloatsFigures['ages'] {
  return AGES.map(({ upTo, label }, index) => {
    const from = AGES[index - 1]?.upTo ?? Number.NEGATIVE_INFINITY;
    const days = ({ dueDate }: Float): number => daysBetween(dueDate, today);
    return { label, sum: sumOf(floats.filter((float) => days(float) > from && days(float) <= upTo)) };
  });
}

const sumOf = (floats: readonly Pick<Float, 'amount'>[]): Sum =>
  floats.reduce<Sum>(
    (sum, { amount }) => ({ count: sum.count + 1, amount: addMoney(sum.amount, amount) }),
    NOTHING,
  );
