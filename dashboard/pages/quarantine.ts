import { withoutPersonalData } from '../../src/adapters/logging/personal-data.ts';
import type { AppliedEvent, Quarantined, QuarantinePage } from '../../src/ports/inbox.ts';
import { plural, time } from '../format.ts';
import { missing } from '../frame.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { Answer } from '../patience.ts';

export const quarantinePage = (page: Answer<QuarantinePage>, mayAct: boolean): Html => html`
  <div class="title"><h1>Quarantine</h1></div>
  <p class="sub">
    Events that could not be read or applied. Automatic charges of their members wait until somebody replays
    or drops them.
  </p>
  <section aria-labelledby="events">
    <h2 id="events">Events, the oldest first</h2>
    ${page === null ? missing('The quarantine') : list(page.value, mayAct)}
  </section>
`;

function list({ items, unreadable, nextKey }: QuarantinePage, mayAct: boolean): Html {
  return html`
    ${items.length === 0 ? html`<p class="missing">Nothing is in quarantine.</p>` : table(items, mayAct)}
    ${unreadable.length === 0 ? null : html`<p class="hint">${plural(unreadable.length, 'entry', 'entries')} cannot be read; the log names them.</p>`}
    <nav class="pager" aria-label="Pages">
      ${nextKey === null ? null : html`<a rel="next" href="/quarantine?after=${encodeURIComponent(nextKey)}">Next page</a>`}
    </nav>
  `;
}

const table = (items: readonly Quarantined[], mayAct: boolean): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Events in quarantine
      </caption>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Member</th>
          <th scope="col">Since</th>
          <th scope="col">Why</th>
          ${mayAct ? html`<th scope="col">&nbsp;</th>` : null}
        </tr>
      </thead>
      <tbody>
        ${items.map(
          (item) =>
            html`<tr>
              <th scope="row">${item.event?.type ?? 'not readable'}</th>
              <td class="tight" data-label="Member">
                ${item.event === null ? '–' : html`<a class="id" href="/users/${encodeURIComponent(item.event.userId)}">${item.event.userId}</a>`}
              </td>
              <td class="tight" data-label="Since">${time(item.at)}</td>
              <td class="full">${item.reason}${said(item)}${position(item)}</td>
              ${mayAct ? html`<td>${actions(item)}</td>` : null}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

/** What the event says, for the operator who has to mend it. */
const said = ({ event }: Quarantined): Html | null =>
  event === null
    ? null
    : html`<details>
        <summary>What it says</summary>
        <pre>${JSON.stringify(withoutPersonalData(event.data), null, 2)}</pre>
      </details>`;

/** Its id is where it stands in its stream: stream, shard and number, which are broken between, not within. */
const position = ({ quarantineId }: Quarantined): Html =>
  html`<div class="id sub">
    ${quarantineId.split('.').map((part, index) => (index === 0 ? part : html`.<wbr />${part}`))}
  </div>`;

const actions = ({ quarantineId }: Quarantined): Html =>
  html`<div class="actions">
    <form method="post" action="/quarantine/replay">
      <input type="hidden" name="id" value="${quarantineId}" /><button class="small">Replay…</button>
    </form>
    <form method="post" action="/quarantine/drop">
      <input type="hidden" name="id" value="${quarantineId}" /><button class="small">Drop…</button>
    </form>
  </div>`;

/** What was applied although it came later. */
export const laterEvents = (later: readonly AppliedEvent[]): Html =>
  html`<p>Later events of this member were applied meanwhile:</p>
    <ul>
      ${later.map(({ type, at }) => html`<li>${type} at ${time(at)}</li>`)}
    </ul>`;
