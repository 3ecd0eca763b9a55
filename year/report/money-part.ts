import { dollars } from '../../dashboard/format.ts';
import type { Html } from '../../dashboard/html.ts';
import { stackedBars } from '../../dashboard/stacked-bars.ts';
import type { MonthOfMoney } from '../figures/money.ts';
import { keptIn } from '../figures/money.ts';
import { longMonth, shortMonth } from './month-names.ts';
import { BAR_WIDTH, barGap, figurePart, figureTable } from './parts.ts';

export const moneyPart = (months: readonly MonthOfMoney[]): Html =>
  figurePart({
    id: 'money',
    heading: 'Collected',
    lead: 'Dollars by the month of the debit, from the bank’s ledger. What was returned, charged back or refunded since is not counted as collected.',
    legend: [
      ['collected', 'By card'],
      ['sent', 'By ACH'],
      ['unpaid', 'Given back since'],
    ],
    picture: stackedBars({
      id: 'money-plot',
      title: 'Dollars collected by month and rail; the table has the figures',
      unit: 'US dollars',
      barWidth: BAR_WIDTH,
      gap: barGap(months.length),
      labelAnchor: 'middle',
      valueText: (value) => `$${Math.round(value / 100).toLocaleString('en-US')}`,
      bars: months.map((one) => ({
        label: shortMonth(one.month),
        text: `${longMonth(one.month)}: ${dollars(one.kept.PINLESS)} by card, ${dollars(one.kept.ACH)} by ACH; ${dollars(one.givenBack)} given back since`,
        layers: [
          { tone: 'collected', value: one.kept.PINLESS },
          { tone: 'sent', value: one.kept.ACH },
          { tone: 'unpaid', value: one.givenBack },
        ],
      })),
    }),
    table: figureTable(
      'Collected by month',
      ['Month', 'Card', 'ACH', 'Together', 'Subscriptions', 'Floats', 'Recurring', 'Given back'],
      months.map((one) => [
        longMonth(one.month),
        dollars(one.kept.PINLESS),
        dollars(one.kept.ACH),
        dollars(keptIn(one)),
        dollars(one.keptByKind.SUBSCRIPTION),
        dollars(one.keptByKind.FLOAT),
        dollars(one.keptByKind.RECURRING),
        dollars(one.givenBack),
      ]),
    ),
  });
