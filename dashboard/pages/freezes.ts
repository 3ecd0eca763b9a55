import type { Instant } from '../../src/domain/instant.ts';
import type { FreezeOrder, FreezeTarget } from '../../src/ports/freezes.ts';
import { freezeTargetName } from '../../src/ports/freezes.ts';
import { time } from '../format.ts';
import { missing } from '../frame.ts';
import type { Html, Renderable } from '../html.ts';
import { html } from '../html.ts';
import type { Answer } from '../patience.ts';

export const STOPS: Record<FreezeTarget['scope'], string> = {
  global: 'Nobody is charged, cancelled, waived or written off.',
  PINLESS: 'Nobody is charged over a card, and nobody who has one over the account instead.',
  ACH: 'No bank account is charged, also not where a card has no money.',
  user: 'Nothing is collected from this member.',
};

export interface FreezesView {
  readonly orders: Answer<readonly FreezeOrder[]>;
  readonly now: Instant;
  readonly mayAct: boolean;
}

export const freezesPage = ({ orders, now, mayAct }: FreezesView): Html => html`
  <div class="title"><h1>Freezes</h1></div>
  <p class="sub">
    A freeze holds for every decision made from then on. Records are deferred, not lost; a charge that is on
    its way is not called back.
  </p>
  <section aria-labelledby="frozen">
    <h2 id="frozen">Frozen now</h2>
    ${orders === null ? missing('What is frozen') : orders.value.length === 0 ? html`<p class="missing">Nothing is frozen.</p>` : table(orders.value, now, mayAct)}
  </section>
  ${
    mayAct
      ? html`<section aria-labelledby="freeze">
          <h2 id="freeze">Freeze</h2>
          ${freezeForm()}
        </section>`
      : null
  }
`;

const table = (orders: readonly FreezeOrder[], now: Instant, mayAct: boolean): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        What is frozen, why, by whom and until when
      </caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Why</th>
          <th scope="col">By</th>
          <th scope="col">Since</th>
          <th scope="col">Until</th>
          ${mayAct ? html`<th scope="col">&nbsp;</th>` : null}
        </tr>
      </thead>
      <tbody>
        ${orders.map(
          ({ target, reason, who, at, until }) =>
            html`<tr>
              <th scope="row">${targetLink(target)}</th>
              <td data-label="Why">${reason}</td>
              <td data-label="By">${who}</td>
              <td class="tight" data-label="Since">${time(at)}</td>
              <td class="tight" data-label="Until">
                ${until === null ? 'somebody lifts it' : time(until)}${until !== null && until <= now ? html` <span class="pill">over</span>` : null}
              </td>
              ${
                mayAct
                  ? html`<td>
                      <form method="post" action="/freezes/lift">
                        <input type="hidden" name="target" value="${freezeTargetName(target)}" /><button
                          class="small"
                        >
                          Lift…
                        </button>
                      </form>
                    </td>`
                  : null
              }
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

const targetLink = (target: FreezeTarget): Renderable =>
  target.scope === 'user'
    ? html`<a class="id" href="/users/${encodeURIComponent(target.userId)}">${freezeTargetName(target)}</a>`
    : freezeTargetName(target);

const freezeForm = (): Html =>
  html`<form method="post" action="/freezes">
    <div class="row">
      <div class="field">
        <label for="scope">What</label>
        <select id="scope" name="scope" required>
          <option value="ach">ACH: bank accounts</option>
          <option value="pinless">Pinless: debit cards</option>
          <option value="global">Global: everything</option>
          <option value="user">One member</option>
        </select>
      </div>
      <div class="field">
        <label for="user_id">Member, if one</label
        ><input id="user_id" name="user_id" maxlength="128" autocomplete="off" />
      </div>
      <div class="field">
        <label for="hours">Hours, or empty until it is lifted</label
        ><input
          id="hours"
          name="hours"
          inputmode="numeric"
          pattern="[0-9]{1,4}"
          maxlength="4"
          autocomplete="off"
        />
      </div>
    </div>
    <div class="field">
      <label for="reason">Reason, shown to other operators</label
      ><input id="reason" name="reason" required maxlength="500" autocomplete="off" />
    </div>
    <button class="main">Freeze…</button>
  </form>`;
