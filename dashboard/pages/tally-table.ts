import type { Tally } from '../../src/ports/runs.ts';
import { count, dollars } from '../format.ts';
import type { Html, Renderable } from '../html.ts';
import { html } from '../html.ts';

export interface TallyTable<Name extends string> {
  readonly caption: string;
  readonly names: readonly Name[];
  readonly tallies: Readonly<Partial<Record<Name, Tally>>>;
  readonly label: (name: Name) => Renderable;
}

/** What was decided or came of it, with counts, money and reasons. */
export function tallyTable<Name extends string>({ caption, names, tallies, label }: TallyTable<Name>): Html {
  const rows = names.flatMap((name) => {
    const tally = tallies[name];
    return tally === undefined ? [] : [{ name, tally }];
  });
  if (rows.length === 0) return html`<p class="missing">Nothing yet.</p>`;
  return html`<div class="scroll">
    <table class="stack tally">
      <caption class="quiet">
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col" class="n">Records</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ name, tally }) =>
            html`<tr>
              <th scope="row">${label(name)}</th>
              <td class="n" data-label="Records">${count(tally.count)}</td>
              <td class="n" data-label="Amount">${dollars(tally.amount)}</td>
              <td class="reasons full">${reasons(tally)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** The most frequent first. */
const reasons = (tally: Tally): string =>
  Object.entries(tally.reasons)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, times]) => `${reason} ${count(times)}`)
    .join(' · ');
