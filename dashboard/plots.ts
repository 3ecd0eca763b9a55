import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { count, day, dollars } from './format.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import type { Outcome, OutcomeSums } from './outcomes.ts';
import { OUTCOME_LABELS } from './outcomes.ts';

export interface DayOutcomes {
  readonly date: CalendarDate;
  readonly sums: OutcomeSums;
}

/** From the bottom up. What was left for later would hide the rest. */
export const PLOTTED: readonly Outcome[] = ['collected', 'sent', 'unpaid', 'closed', 'trouble'];

const HEIGHT = 160;
const BAR = 12;
const GAP = 3;
const AXIS = 22;
const LEFT = 44;

/** A bar for each day, a layer for each outcome. Drawn on the server: no script, no library, prints well. */
export function outcomePlot(days: readonly DayOutcomes[]): Html {
  const top = niceCeiling(Math.max(1, ...days.map(totalOf)));
  const width = LEFT + days.length * (BAR + GAP);
  return html`<svg
    class="plot"
    viewBox="0 0 ${width} ${HEIGHT + AXIS}"
    role="img"
    aria-labelledby="plot-title"
  >
    <title id="plot-title">
      Records by outcome and day, the last ${days.length} days; the table below has the figures
    </title>
    ${[0, 0.5, 1].map((share) => gridLine(top * share, HEIGHT - HEIGHT * share, width))}
    ${days.map((each, index) => dayBar(each, LEFT + index * (BAR + GAP), top))}
    ${days.map((each, index) =>
      index % 10 === 9 || index === days.length - 1 ? dayLabel(each, LEFT + index * (BAR + GAP)) : null,
    )}
  </svg>`;
}

const totalOf = ({ sums }: DayOutcomes): number =>
  PLOTTED.reduce((total, outcome) => total + sums[outcome].count, 0);

function gridLine(value: number, y: number, width: number): Html {
  return html`<line class="grid" x1="${LEFT}" x2="${width}" y1="${y}" y2="${y}" /><text
      class="axis"
      x="${LEFT - 6}"
      y="${Math.max(9, y + 3)}"
      text-anchor="end"
      >${count(value)}</text
    >`;
}

function dayBar({ date, sums }: DayOutcomes, x: number, top: number): Html {
  let y = HEIGHT;
  const layers = PLOTTED.map((outcome) => {
    const height = (sums[outcome].count / top) * HEIGHT;
    y -= height;
    return height === 0
      ? null
      : html`<rect
          class="fill-${outcome}"
          x="${x}"
          y="${y.toFixed(2)}"
          width="${BAR}"
          height="${height.toFixed(2)}"
        />`;
  });
  const text = `${day(date)}: ${PLOTTED.map((name) => `${OUTCOME_LABELS[name].toLowerCase()} ${count(sums[name].count)}`).join(', ')}; ${dollars(sums.collected.amount)} collected`;
  return html`<g
    ><title>${text}</title><rect class="hit" x="${x}" y="0" width="${BAR}" height="${HEIGHT}" />${layers}</g
  >`;
}

const dayLabel = ({ date }: DayOutcomes, x: number): Html =>
  html`<text class="axis" x="${x + BAR}" y="${HEIGHT + 15}" text-anchor="end"
    >${day(date).slice(0, -5)}</text
  >`;

/** A round number that halves well. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** A share beside the limit that it must stay under. The scale ends at twice the limit. */
export function meter(share: number | null, limit: number, label: string): Html {
  const width = share === null ? 0 : Math.min(100, (share / (2 * limit)) * 100);
  return html`<svg
    class="meter"
    viewBox="0 0 100 8"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    <rect class="track" x="0" y="0" width="100" height="8" />
    <rect
      class="${share !== null && share > limit ? 'over' : 'under'}"
      x="0"
      y="0"
      width="${width.toFixed(2)}"
      height="8"
    />
    <line class="limit" x1="50" x2="50" y1="0" y2="8" />
  </svg>`;
}

/** A share of the longest. Its figures stand beside it, so nobody need be told of the bar. */
export const bar = (share: number, outcome: Outcome): Html =>
  html`<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="track" x="0" y="0" width="100" height="8" />
    <rect class="fill-${outcome}" x="0" y="0" width="${(share * 100).toFixed(2)}" height="8" />
  </svg>`;
