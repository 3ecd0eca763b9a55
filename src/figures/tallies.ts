import { formatMoney } from '../domain/money.ts';
import type { Tally } from '../ports/runs.ts';

export interface TallyFigures {
  readonly count: number;
  readonly amount: string;
  readonly reasons: Readonly<Record<string, number>>;
}

export const tallyFigures = (
  tallies: Readonly<Partial<Record<string, Tally>>>,
): Record<string, TallyFigures> =>
  Object.fromEntries(
    Object.entries(tallies).flatMap(([name, tally]) =>
      tally === undefined ? [] : [[name, { ...tally, amount: formatMoney(tally.amount) }]],
    ),
  );
