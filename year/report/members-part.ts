import { count } from '../../dashboard/format.ts';
import type { Html } from '../../dashboard/html.ts';
import type { Outcome } from '../../dashboard/outcomes.ts';
import { stackedBars } from '../../dashboard/stacked-bars.ts';
import type { MonthOfMembers, Standing } from '../figures/membership.ts';
import { STANDINGS } from '../figures/membership.ts';
import { longMonth, shortMonth } from './month-names.ts';
import { BAR_WIDTH, barGap, figurePart, figureTable } from './parts.ts';

const LABELS: Record<Standing, string> = {
  active: 'Active',
  leaving: 'Cancelled, until their period ends',
  paused: 'Paused',
  gone: 'Gone',
};
const TONES: Record<Standing, Outcome> = {
  active: 'collected',
  leaving: 'unpaid',
  paused: 'sent',
  gone: 'later',
};

export const membersPart = (months: readonly MonthOfMembers[]): Html =>
  figurePart({
    id: 'members',
    heading: 'Members and churn',
    lead: 'How members stood at the end of each month, by their billing records. Some join during the year, some cancel, close their account or are banned after a charge-back.',
    legend: STANDINGS.map((standing) => [TONES[standing], LABELS[standing]] as const),
    picture: stackedBars({
      id: 'members-plot',
      title: 'Members by standing at the end of each month; the table has the figures',
      unit: 'members',
      barWidth: BAR_WIDTH,
      gap: barGap(months.length),
      labelAnchor: 'middle',
      bars: months.map((one) => ({
        label: shortMonth(one.month),
        text: `End of ${longMonth(one.month)}: ${STANDINGS.map((standing) => `${LABELS[standing].toLowerCase()} ${count(one[standing])}`).join('; ')}`,
        layers: STANDINGS.map((standing) => ({ tone: TONES[standing], value: one[standing] })),
      })),
    }),
    table: figureTable(
      'Members at the end of each month',
      ['Month', ...STANDINGS.map((standing) => LABELS[standing])],
      months.map((one) => [longMonth(one.month), ...STANDINGS.map((standing) => count(one[standing]))]),
    ),
  });
