import { count } from './format.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import type { Outcome } from './outcomes.ts';
import { HEIGHT, LEFT, axisLabel, framed } from './plot-frame.ts';

export interface StackedBar {
  /** Under the axis. Null: there is no room for all of them. */
  readonly label: string | null;
  /** What a viewer who points at it is told. */
  readonly text: string;
  /** From the bottom up. */
  readonly layers: readonly { readonly tone: Outcome; readonly value: number }[];
}

export interface StackedBars {
  /** Tells this plot from others of the page. */
  readonly id: string;
  readonly title: string;
  readonly bars: readonly StackedBar[];
  readonly barWidth: number;
  readonly gap: number;
  /** Labels stand under the middle of their bar, or end with it. Default: they end with it. */
  readonly labelAnchor?: 'middle' | 'end';
  /** What the bars measure, above the axis. Default: nothing, it stands elsewhere. */
  readonly unit?: string;
  /** How a value of the axis is written. Default: as a count. */
  readonly valueText?: (value: number) => string;
}

/** A bar for each, a layer for each tone. */
export function stackedBars(plot: StackedBars): Html {
  const { id, title, bars, barWidth, gap, unit, valueText = count, labelAnchor = 'end' } = plot;
  const top = niceCeiling(Math.max(1, ...bars.map(totalOf)));
  const width = LEFT + bars.length * (barWidth + gap);
  const left = (index: number): number => LEFT + index * (barWidth + gap);
  const labelAt = labelAnchor === 'end' ? barWidth : barWidth / 2;
  return framed(
    { id, title, unit, width, top, valueText },
    html`${bars.map((each, index) => drawn(each, left(index), barWidth, top))}
    ${bars.map(({ label }, index) => axisLabel(label, left(index) + labelAt, labelAnchor))}`,
  );
}

const totalOf = ({ layers }: StackedBar): number => layers.reduce((total, { value }) => total + value, 0);

function drawn({ text, layers }: StackedBar, x: number, width: number, top: number): Html {
  let y = HEIGHT;
  const rects = layers.map(({ tone, value }) => {
    const height = (value / top) * HEIGHT;
    y -= height;
    return height === 0
      ? null
      : html`<rect
          class="fill-${tone}"
          x="${x}"
          y="${y.toFixed(2)}"
          width="${width}"
          height="${height.toFixed(2)}"
        />`;
  });
  return html`<g
    ><title>${text}</title><rect class="hit" x="${x}" y="0" width="${width}" height="${HEIGHT}" />${rects}</g
  >`;
}

/** Half of it is a whole number too: what is counted here cannot be halved. */
const STEPS = [2, 4, 6, 8, 10];
/** From ten on less of the plot stays empty. */
const FINE_STEPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** A round number that halves well. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = power < 10 ? STEPS : FINE_STEPS;
  return (steps.find((step) => step * power >= value) ?? 10) * power;
}
