import type { Html, Renderable } from '../../dashboard/html.ts';
import { html } from '../../dashboard/html.ts';
import type { Outcome } from '../../dashboard/outcomes.ts';
import { LEFT } from '../../dashboard/plot-frame.ts';

/** A picture with the words that it needs and the figures behind it. */
export interface FigurePart {
  readonly id: string;
  readonly heading: string;
  /** What it shows, in a sentence or two. */
  readonly lead: Renderable;
  readonly legend: readonly (readonly [tone: Outcome, label: string])[];
  readonly picture: Html;
  readonly table: Html;
}

export const figurePart = ({ id, heading, lead, legend, picture, table }: FigurePart): Html => html`
  <section aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    <p class="lead">${lead}</p>
    ${
      legend.length === 0
        ? null
        : html`<ul class="legend">
            ${legend.map(([tone, label]) => html`<li><span class="dot dot-${tone}"></span>${label}</li>`)}
          </ul>`
    }
    <div class="scroll">${picture}</div>
    <details>
      <summary>The figures</summary>
      <div class="scroll">${table}</div>
    </details>
  </section>
`;

/** The first cell of a row says what it is about; the others are figures. */
export const figureTable = (
  caption: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): Html =>
  html`<table class="dense">
    <caption class="quiet">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${head.map((name, index) => html`<th scope="col" class="${index === 0 ? '' : 'n'}">${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${
        rows.length === 0
          ? html`<tr>
              <td colspan="${head.length}" class="zero">nothing</td>
            </tr>`
          : rows.map(
              ([first = '', ...others]) =>
                html`<tr>
                  <th scope="row">${first}</th>
                  ${others.map((text) => html`<td class="n">${text}</td>`)}
                </tr>`,
            )
      }
    </tbody>
  </table>`;

/** Of every large plot, so that letters are of one size on the whole page. */
export const PLOT_WIDTH = 548;
export const BAR_WIDTH = 28;

/** Few months stand far apart: a narrow plot would be drawn larger, and its letters with it. */
export const barGap = (bars: number): number => Math.floor((PLOT_WIDTH - LEFT) / bars) - BAR_WIDTH;
