import { count, plural } from '../../dashboard/format.ts';
import type { Html } from '../../dashboard/html.ts';
import { html } from '../../dashboard/html.ts';
import { stackedBars } from '../../dashboard/stacked-bars.ts';
import type { FailedFirst, MonthOfRecovery } from '../figures/recovery.ts';
import { SOON_DAYS, recoveredByAttempt, recoveryCurve } from '../figures/recovery.ts';
import { linePlot } from './line-plot.ts';
import { longMonth, shortMonth } from './month-names.ts';
import { BAR_WIDTH, PLOT_WIDTH, barGap, figurePart, figureTable } from './parts.ts';

export const recoveryPart = (months: readonly MonthOfRecovery[]): Html =>
  figurePart({
    id: 'recovery',
    heading: 'Failed first attempts, and what became of them',
    lead: 'Periods whose first attempt was refused, declined or sent back by the bank, by the month in which that happened, from the history of the records.',
    legend: [
      ['collected', `Collected within ${SOON_DAYS} days`],
      ['sent', 'Collected later'],
      ['later', 'Still tried'],
      ['unpaid', 'Given up'],
    ],
    picture: stackedBars({
      id: 'recovery-plot',
      title: 'Failed first attempts by month and what became of them; the table has the figures',
      unit: 'periods',
      barWidth: BAR_WIDTH,
      gap: barGap(months.length),
      labelAnchor: 'middle',
      bars: months.map((one) => ({
        label: shortMonth(one.month),
        text: `${longMonth(one.month)}: ${plural(one.failed, 'first attempt')} failed; ${one.soon} collected within ${SOON_DAYS} days, ${one.later} later, ${one.open} still tried, ${one.lost} given up`,
        layers: [
          { tone: 'collected', value: one.soon },
          { tone: 'sent', value: one.later },
          { tone: 'later', value: one.open },
          { tone: 'unpaid', value: one.lost },
        ],
      })),
    }),
    table: figureTable(
      'Failed first attempts by month',
      ['Month', 'Failed', `Within ${SOON_DAYS} days`, 'Later', 'Still tried', 'Given up'],
      months.map((one) => [
        longMonth(one.month),
        ...[one.failed, one.soon, one.later, one.open, one.lost].map(count),
      ]),
    ),
  });

const CURVE_DAYS = 30;

const wholePercent = (share: number): string => `${Math.round(share * 100)} %`;

export const curvePart = (failed: readonly FailedFirst[]): Html =>
  failed.length === 0 ? nothingToRecover : recoveredPart(failed);

const CURVE_HEADING = 'Recovered by retry';

const nothingToRecover = html`
  <section aria-labelledby="curve">
    <h2 id="curve">${CURVE_HEADING}</h2>
    <p class="lead">No first attempt failed, so there was nothing to recover.</p>
  </section>
`;

const recoveredPart = (failed: readonly FailedFirst[]): Html =>
  figurePart({
    id: 'curve',
    heading: CURVE_HEADING,
    lead: html`Of ${plural(failed.length, 'failed first attempt')}, the share that was collected after all, by
    the days that it took.`,
    legend: [],
    picture: curvePlot(recoveryCurve(failed, CURVE_DAYS)),
    table: figureTable(
      'Collected by which attempt',
      ['Attempt', 'Periods collected', 'Share of those that failed'],
      [...recoveredByAttempt(failed)].map(([attempt, periods]) => [
        ordinal(attempt),
        count(periods),
        wholePercent(periods / failed.length),
      ]),
    ),
  });

const curvePlot = (curve: readonly number[]): Html =>
  linePlot({
    id: 'curve-plot',
    title: 'Share of failed first attempts collected within so many days; the table has the attempts',
    unit: 'share collected, by days since the first attempt failed',
    tone: 'collected',
    top: 1,
    width: PLOT_WIDTH,
    valueText: wholePercent,
    points: curve.map((value, within) => ({
      value,
      label: within % 5 === 0 ? String(within) : null,
      text: `${wholePercent(value)} within ${plural(within, 'day')}`,
    })),
  });

const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
const RULES = new Intl.PluralRules('en-US', { type: 'ordinal' });
const ordinal = (value: number): string => `${value}${SUFFIXES[RULES.select(value)] ?? 'th'}`;
