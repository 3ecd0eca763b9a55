import { count, day, percent, plural } from '../../dashboard/format.ts';
import type { Html } from '../../dashboard/html.ts';
import { html } from '../../dashboard/html.ts';
import type { ReturnClass } from '../../src/domain/ach/return-rates.ts';
import { RETURN_CLASSES, RETURN_RATE_DAYS, RETURN_RATE_LIMITS } from '../../src/domain/ach/return-rates.ts';
import type { Judgement, MeterReading } from '../figures/returns.ts';
import { judgementOf, shareOf } from '../figures/returns.ts';
import { linePlot } from './line-plot.ts';
import { figureTable } from './parts.ts';

const LABELS: Record<ReturnClass, string> = {
  unauthorized: 'Unauthorized',
  administrative: 'Administrative',
  overall: 'All returns',
};
const WIDTH = 360;

/** Of fewer debits a share tells nothing, and the first weeks of the year would dwarf the rest. */
const ENOUGH_DEBITS = 20;

/** Three limits of very different size: a picture for each. */
export const returnsPart = (readings: readonly MeterReading[]): Html => html`
  <section aria-labelledby="returns">
    <h2 id="returns">ACH returns against the network’s limits</h2>
    <p class="lead">
      Share of the ACH debits of the ${RETURN_RATE_DAYS} days before that came back, read from the pipeline’s
      own meters every Sunday, from when there were ${ENOUGH_DEBITS} of them. With as few members as here one
      return weighs a lot: this page, as the pipeline itself, holds a share against its limit only once there
      are enough debits to tell. Where they are too few, it is drawn pale and told as a number of returns.
    </p>
    <div class="triple">${RETURN_CLASSES.map((name) => picture(name, readings))}</div>
    <details>
      <summary>The figures</summary>
      <div class="scroll">
        ${figureTable(
          `ACH debits of ${RETURN_RATE_DAYS} days and how many came back`,
          ['Up to', 'Debits', ...RETURN_CLASSES.flatMap((name) => [LABELS[name], 'share'])],
          readings.map((reading) => [
            day(reading.date),
            count(reading.counts.debits),
            ...RETURN_CLASSES.flatMap((name) => [
              count(reading.counts.returns[name]),
              shareText(shareOf(reading, name)),
            ]),
          ]),
        )}
      </div>
    </details>
  </section>
`;

const BADGES: Record<Judgement, Html | null> = {
  'over the limit': html`<span class="pill warn">over the limit</span>`,
  'within the limit': null,
  'too few debits to tell': html`<span class="pill">too few debits to tell</span>`,
};

const shareText = (share: number | null): string => (share === null ? '–' : percent(share));

/** As many decimals at every line: half of the smallest limit's scale has one. */
const axisText = (share: number): string => `${(share * 100).toFixed(1)} %`;

function picture(name: ReturnClass, readings: readonly MeterReading[]): Html {
  const limit = RETURN_RATE_LIMITS[name];
  const enough = readings.filter(isPlotted);
  const judgement = judgementOf(enough, name);
  const highest = highestOf(enough, name);
  return html`<div>
    <h3>
      ${LABELS[name]} ${BADGES[judgement]}
      <span class="sub"
        >${highest === null ? '–' : mostText(highest, name, judgement)}, limit ${percent(limit)}</span
      >
    </h3>
    ${linePlot({
      id: `returns-${name}`,
      title: `${LABELS[name]}: share of ACH debits that came back, by week; the limit is ${percent(limit)}`,
      unit: 'share of debits',
      tone: 'sent',
      isPale: judgement === 'too few debits to tell',
      top: topOf(highest === null ? 0 : (shareOf(highest, name) ?? 0), limit),
      width: WIDTH,
      valueText: axisText,
      limit: { value: limit, text: `limit ${percent(limit)}` },
      points: readings.map((reading, index) => ({
        value: isPlotted(reading) ? shareOf(reading, name) : null,
        label: index % QUARTER_WEEKS === 0 ? day(reading.date).slice(0, -5) : null,
        text: `${day(reading.date)}: ${shareText(shareOf(reading, name))}, ${plural(reading.counts.returns[name], 'return')} of ${plural(reading.counts.debits, 'debit')}`,
      })),
    })}
  </div>`;
}

const QUARTER_WEEKS = 13;

const isPlotted = ({ counts }: MeterReading): boolean => counts.debits >= ENOUGH_DEBITS;

/** Null: there was none. */
const highestOf = (readings: readonly MeterReading[], name: ReturnClass): MeterReading | null =>
  readings.toSorted((a, b) => (shareOf(b, name) ?? 0) - (shareOf(a, name) ?? 0))[0] ?? null;

/** A percentage of few debits would look as if it could be held against the limit. */
function mostText(highest: MeterReading, name: ReturnClass, judgement: Judgement): string {
  const { debits, returns } = highest.counts;
  return judgement === 'too few debits to tell'
    ? `at most ${count(returns[name])} of ${plural(debits, 'debit')}`
    : `at most ${shareText(shareOf(highest, name))}`;
}

/** Room for the limit's own label, and for what went beyond it. */
const topOf = (highest: number, limit: number): number =>
  [2, 4, 6, 10, 20, 40].map((times) => times * limit).find((top) => highest <= top) ?? 1;
