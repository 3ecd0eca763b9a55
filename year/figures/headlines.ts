import type { Cents } from '../../src/domain/money.ts';
import type { YearFigures } from './figures.ts';
import { keptIn, sumOf } from './money.ts';
import type { MonthOfMembers } from './membership.ts';

/** The year in a few numbers. */
export interface Headlines {
  readonly collected: Cents;
  readonly byCard: Cents;
  readonly byAch: Cents;
  readonly givenBack: Cents;
  readonly failedFirst: number;
  readonly recovered: number;
  /** Users with a further period, paused or about to end or not. */
  readonly members: number;
  readonly membersAtFirst: number;
  readonly gone: number;
  /** Share of the members who leave, each month on average. Null: there was no member who could. */
  readonly churn: number | null;
}

export function headlinesOf({ money, failedFirst, members }: YearFigures): Headlines {
  const [first, last] = [members[0], members.at(-1)];
  return {
    collected: sumOf(money.map(keptIn)),
    byCard: sumOf(money.map(({ kept }) => kept.PINLESS)),
    byAch: sumOf(money.map(({ kept }) => kept.ACH)),
    givenBack: sumOf(money.map(({ givenBack }) => givenBack)),
    failedFirst: failedFirst.length,
    recovered: failedFirst.filter(({ recovered }) => recovered !== null).length,
    members: last === undefined ? 0 : staying(last),
    membersAtFirst: first === undefined ? 0 : staying(first),
    gone: last?.gone ?? 0,
    churn: monthlyChurn(members),
  };
}

const staying = ({ active, leaving, paused }: MonthOfMembers): number => active + leaving + paused;

function monthlyChurn(members: readonly MonthOfMembers[]): number | null {
  const couldLeave = members.reduce((sum, month) => sum + staying(month), 0);
  return couldLeave === 0 ? null : (members.at(-1)?.gone ?? 0) / couldLeave;
}
