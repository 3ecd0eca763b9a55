import type { Rail } from '../../src/domain/subscription.ts';
import type { Attempt } from '../../src/ports/pipeline.ts';
import type { StaleReturn } from '../../src/ports/stale-returns.ts';
import type { PageKey } from '../../src/ports/subscriptions.ts';
import { dollars, plural, time } from '../format.ts';
import { missing } from '../frame.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { Answer } from '../patience.ts';
import { recordUrl } from './record-url.ts';

/** Some of a list, or all of it. */
export interface Gathered<T> {
  readonly items: readonly T[];
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
  /** From its beginning to its end: only then it can be said that there is nothing. */
  readonly isWhole: boolean;
}

export interface UnsettledView {
  readonly open: Answer<Gathered<Attempt>>;
  readonly returned: Answer<Gathered<StaleReturn>>;
}

export const unsettledPage = ({ open, returned }: UnsettledView): Html => html`
  <div class="title"><h1>Unsettled</h1></div>
  <p class="sub">Money of which nobody knows where it is, and money to decide about.</p>
  <section aria-labelledby="open">
    <h2 id="open">Charges and refunds without an answer</h2>
    ${open === null ? missing('What is open') : openList(open.value)}
    <p class="hint">
      Nothing else is tried on their records. For two days whoever comes by sends a charge again, under the
      same key; the janitor asks the processor, and gives up what it never knew of.
    </p>
  </section>
  <section aria-labelledby="returned">
    <h2 id="returned">Returns that came too late</h2>
    ${returned === null ? missing('What came back') : returnedList(returned.value)}
    <p class="hint">
      Their records are written off. Nobody is asked for this money again by itself: decide, and tell the
      member.
    </p>
  </section>
`;

const openList = (page: Gathered<Attempt>): Html =>
  html`${page.items.length === 0 ? nothing(page, 'Everything has its answer.') : openTable(page.items)}
  ${rest(page, 'open')}`;

const returnedList = (page: Gathered<StaleReturn>): Html =>
  html`${page.items.length === 0 ? nothing(page, 'None.') : returnedTable(page.items)}
  ${rest(page, 'returned')}`;

const nothing = ({ isWhole }: Gathered<unknown>, said: string): Html =>
  html`<p class="missing">${isWhole ? said : 'No more.'}</p>`;

const rest = ({ unreadable, nextKey }: Gathered<unknown>, after: string): Html => html`
  ${unreadable.length === 0 ? null : html`<p class="hint">${plural(unreadable.length, 'entry', 'entries')} cannot be read.</p>`}
  ${nextKey === null ? null : html`<nav class="pager" aria-label="Pages"><a rel="next" href="/unsettled?${after}=${encodeURIComponent(nextKey)}#${after}">Next page</a></nav>`}
`;

const RAILS: Readonly<Record<Rail, string>> = { PINLESS: 'card', ACH: 'bank account' };

const openTable = (attempts: readonly Attempt[]): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Attempts that are open
      </caption>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Record</th>
          <th scope="col">What</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col">Since</th>
          <th scope="col">Sent again</th>
        </tr>
      </thead>
      <tbody>
        ${attempts.map(
          ({ userId, subscriptionId, rail, amount, refundOf, openedAt, sentAgainAt = null }) =>
            html`<tr>
              ${whose(userId, subscriptionId)}
              <td data-label="What">${refundOf === null ? 'charge' : 'refund'}, ${RAILS[rail]}</td>
              <td class="n" data-label="Amount">${dollars(amount)}</td>
              <td class="tight" data-label="Since">${time(openedAt)}</td>
              <td class="tight" data-label="Sent again">${sentAgainAt === null ? '–' : time(sentAgainAt)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

const returnedTable = (returns: readonly StaleReturn[]): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Returns that came too late
      </caption>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Record</th>
          <th scope="col">Code</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col">Came back</th>
          <th scope="col">Payment</th>
        </tr>
      </thead>
      <tbody>
        ${returns.map(
          ({ userId, subscriptionId, returnCode, amount, at, confirmationId }) =>
            html`<tr>
              ${whose(userId, subscriptionId)}
              <td data-label="Code">${returnCode ?? '–'}</td>
              <td class="n" data-label="Amount">${dollars(amount)}</td>
              <td class="tight" data-label="Came back">${time(at)}</td>
              <td class="id" data-label="Payment">${confirmationId}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

const whose = (userId: string, recordId: string): Html =>
  html`<th scope="row"><a class="id" href="/users/${encodeURIComponent(userId)}">${userId}</a></th>
    <td data-label="Record"><a class="id" href="${recordUrl(userId, recordId)}">${recordId}</a></td>`;
