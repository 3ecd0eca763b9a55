import { count, dollars } from '../../dashboard/format.ts';
import type { Html } from '../../dashboard/html.ts';
import { OUTCOME_LABELS, OUTCOME_NAMES } from '../../dashboard/outcomes.ts';
import type { Outcome } from '../../dashboard/outcomes.ts';
import { stackedBars } from '../../dashboard/stacked-bars.ts';
import type { MonthOfOutcomes } from '../figures/outcomes.ts';
import { longMonth, shortMonth } from './month-names.ts';
import { BAR_WIDTH, barGap, figurePart, figureTable } from './parts.ts';

const LABELS: Record<Outcome, string> = { ...OUTCOME_LABELS, closed: 'Closed' };

export const outcomesPart = (months: readonly MonthOfOutcomes[]): Html =>
  figurePart({
    id: 'outcomes',
    heading: 'Verdicts of the runs',
    lead: 'Every record that a run considered has a verdict, from the reports of the runs. A record that is retried counts each time.',
    legend: OUTCOME_NAMES.map((name) => [name, LABELS[name]] as const),
    picture: stackedBars({
      id: 'outcomes-plot',
      title: 'Records considered by month and verdict; the table has the figures',
      unit: 'records considered',
      barWidth: BAR_WIDTH,
      gap: barGap(months.length),
      labelAnchor: 'middle',
      bars: months.map(({ month, sums }) => ({
        label: shortMonth(month),
        text: `${longMonth(month)}: ${OUTCOME_NAMES.map((name) => `${LABELS[name].toLowerCase()} ${count(sums[name].count)}`).join(', ')}`,
        layers: OUTCOME_NAMES.map((tone) => ({ tone, value: sums[tone].count })),
      })),
    }),
    table: figureTable(
      'Verdicts by month',
      ['Month', ...OUTCOME_NAMES.map((name) => LABELS[name]), 'Money collected at once'],
      months.map(({ month, sums }) => [
        longMonth(month),
        ...OUTCOME_NAMES.map((name) => count(sums[name].count)),
        dollars(sums.collected.amount),
      ]),
    ),
  });
