import type { Html } from './html.ts';
import { html } from './html.ts';

/* What plots over time have in common: a height, three lines across, and words beside and under them. */

export const HEIGHT = 160;
/** Where what is drawn begins; the numbers of the axis stand before it. */
export const LEFT = 44;
/** Half of a letter above the highest line, and where there is one the unit. */
const ABOVE = 6;
const UNIT = 24;
/** The letters of the unit stand here, clear of the number at the highest line. */
const UNIT_Y = -16;
const BELOW = 22;

export interface PlotFrame {
  /** Tells this plot from others of the page. */
  readonly id: string;
  readonly title: string;
  /** What is measured, above the axis. Default: nothing, it stands elsewhere. */
  readonly unit?: string | undefined;
  readonly width: number;
  /** The top of the axis. */
  readonly top: number;
  readonly valueText: (value: number) => string;
}

/** Drawn on the server: no script, no library, prints well. */
export function framed({ id, title, unit, width, top, valueText }: PlotFrame, drawn: Html): Html {
  const above = unit === undefined ? ABOVE : ABOVE + UNIT;
  return html`<svg
    class="plot"
    viewBox="0 ${-above} ${width} ${above + HEIGHT + BELOW}"
    role="img"
    aria-labelledby="${id}-title"
  >
    <title id="${id}-title">${title}</title>
    ${unit === undefined ? null : html`<text class="axis" x="0" y="${UNIT_Y}">${unit}</text>`}
    ${[0, 0.5, 1].map((share) => gridLine(valueText(top * share), HEIGHT - HEIGHT * share, width))}${drawn}
  </svg>`;
}

const gridLine = (text: string, y: number, width: number): Html =>
  html`<line class="grid" x1="${LEFT}" x2="${width}" y1="${y}" y2="${y}" /><text
      class="axis"
      x="${LEFT - 6}"
      y="${y + 3}"
      text-anchor="end"
      >${text}</text
    >`;

/** Null: there is no room for all of them. */
export const axisLabel = (label: string | null, x: number, anchor: 'middle' | 'end'): Html | null =>
  label === null
    ? null
    : html`<text class="axis" x="${x}" y="${HEIGHT + 15}" text-anchor="${anchor}">${label}</text>`;
