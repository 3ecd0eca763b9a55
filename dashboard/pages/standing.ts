import type { Standing } from '../../src/app/explain.ts';
import { dollars, time } from '../format.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';

export interface StandingView {
  readonly standing: Pick<Standing, 'lock' | 'open' | 'freezes'>;
  /** What else stands in the way, in plain words. */
  readonly notes: readonly string[];
}

/** What stands at this moment between a record, of whatever product, and its being charged. */
export function standingSection(
  id: string,
  title: string,
  { standing: { lock, open, freezes }, notes }: StandingView,
): Html {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    <dl class="facts">
      <dt>Lock</dt>
      <dd>
        ${lock === null ? html`<span class="pill good">free</span>` : html`<span class="pill warn">held</span> <span class="id">${lock.ownerName}</span>${lock.since === null ? null : html` since ${time(lock.since)}`}`}
      </dd>
      <dt>Open charge</dt>
      <dd>
        ${open === null ? 'none' : html`<span class="pill warn">no answer yet</span> ${open.attempt.rail}, ${dollars(open.attempt.amount)}, since ${time(open.attempt.openedAt)}`}
      </dd>
      <dt>Frozen</dt>
      <dd>
        ${freezes.length === 0 ? 'no' : html`<span class="pill bad">frozen</span> ${freezes.map(({ reason, who }) => `${reason} (${who})`).join('; ')}`}
      </dd>
    </dl>
    ${
      notes.length === 0
        ? null
        : html`<ul>
            ${notes.map((note) => html`<li>${note}</li>`)}
          </ul>`
    }
  </section>`;
}
