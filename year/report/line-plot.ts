import type { Html } from '../../dashboard/html.ts';
import { html } from '../../dashboard/html.ts';
import type { Outcome } from '../../dashboard/outcomes.ts';
import type { PlotFrame } from '../../dashboard/plot-frame.ts';
import { HEIGHT, LEFT, axisLabel, framed } from '../../dashboard/plot-frame.ts';

export interface LinePoint {
  /** Under the axis. Null: there is no room for all of them. */
  readonly label: string | null;
  /** What a viewer who points at it is told. */
  readonly text: string;
  /** Null: not known there. */
  readonly value: number | null;
}

export interface LinePlot extends PlotFrame {
  readonly points: readonly LinePoint[];
  readonly tone: Outcome;
  /** Nothing can be told from it. Default: it can. */
  readonly isPale?: boolean;
  /** A line that must not be crossed. */
  readonly limit?: { readonly value: number; readonly text: string };
}

/** The last point and half of its label. */
const RIGHT = 14;

/** One line over time, with the area under it. */
export function linePlot(plot: LinePlot): Html {
  const { points, tone, isPale = false, top, limit, width } = plot;
  const x = (index: number): number =>
    LEFT + (index * (width - LEFT - RIGHT)) / Math.max(1, points.length - 1);
  const y = (value: number): number => HEIGHT - (Math.min(value, top) / top) * HEIGHT;
  const step = x(1) - x(0);
  return framed(
    plot,
    html`<g class="${isPale ? 'pale' : ''}">
        ${stretchesOf(points).map((stretch) => drawn(stretch, x, y, tone))}
      </g>
      ${limit === undefined ? null : limitLine(limit.text, y(limit.value), width)}
      ${points.map(
        ({ text }, index) =>
          html`<g
            ><title>${text}</title
            ><rect
              class="hit"
              x="${(x(index) - step / 2).toFixed(2)}"
              y="0"
              width="${step.toFixed(2)}"
              height="${HEIGHT}"
          /></g>`,
      )}
      ${points.map(({ label }, index) => axisLabel(label, Math.round(x(index) * 100) / 100, 'middle'))}`,
  );
}

const limitLine = (text: string, y: number, width: number): Html =>
  html`<line class="limit-line" x1="${LEFT}" x2="${width}" y1="${y.toFixed(2)}" y2="${y.toFixed(2)}" /><text
      class="limit-text"
      x="${width}"
      y="${(y - 5).toFixed(2)}"
      text-anchor="end"
      >${text}</text
    >`;

interface Place {
  readonly index: number;
  readonly value: number;
}

/** A line that is not known somewhere ends there and begins anew. */
function stretchesOf(points: readonly LinePoint[]): Place[][] {
  const stretches: Place[][] = [];
  let current: Place[] | null = null;
  for (const [index, { value }] of points.entries()) {
    if (value === null) {
      current = null;
      continue;
    }
    if (current === null) stretches.push((current = []));
    current.push({ index, value });
  }
  return stretches;
}

function drawn(
  stretch: readonly Place[],
  x: (index: number) => number,
  y: (value: number) => number,
  tone: Outcome,
): Html {
  const line = stretch.map(({ index, value }) => `${x(index).toFixed(2)},${y(value).toFixed(2)}`).join(' ');
  const [first, last] = [stretch[0], stretch.at(-1)];
  const area =
    first === undefined || last === undefined
      ? ''
      : `${x(first.index).toFixed(2)},${HEIGHT} ${line} ${x(last.index).toFixed(2)},${HEIGHT}`;
  return html`<polygon class="area fill-${tone}" points="${area}" /><polyline
      class="line line-${tone}"
      points="${line}"
    />`;
}
