import type { Instant } from '../../src/domain/instant.ts';
import { compareInstants } from '../../src/domain/instant.ts';
import type { Rail } from '../../src/domain/subscription.ts';
import type { MoneyToDecide } from '../../src/ports/money-to-decide.ts';
import type { Attempt } from '../../src/ports/pipeline.ts';
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
  readonly refused: Answer<Gathered<MoneyToDecide>>;
  readonly returned: Answer<Gathered<MoneyToDecide>>;
}

export const unsettledPage = ({ open, refused, returned }: UnsettledView): Html => html`
  <div class="title"><h1>Unsettled</h1></div>
  <p class="sub">Money whose whereabouts nobody knows yet, and money that a person has to decide about.</p>
  <section aria-labelledby="open">
    <h2 id="open">Charges and refunds without an answer</h2>
    ${open === null ? missing('What is open') : openList(open.value)}
    <p class="hint">
      Nothing else is tried on their records. For two days any worker that picks up the record sends a charge
      again under the same key, and the janitor a refund. The janitor asks the processor first, and gives up
      what it never heard of.
    </p>
  </section>
  <section aria-labelledby="refused">
    <h2 id="refused">Refunds that were refused</h2>
    ${refused === null ? missing('What was refused') : moneyList(refused.value, 'refused')}
    <p class="hint">
      The member’s money is still here, and nothing sends it back automatically any more: ask for the refund
      again, or have the payments service give it back. A payment leaves the list when the payments service
      says that it went back.
    </p>
  </section>
  <section aria-labelledby="returned">
    <h2 id="returned">Returns that came too late</h2>
    ${returned === null ? missing('What came back') : moneyList(returned.value, 'returned')}
    <p class="hint">
      Their records are written off, and nobody is asked for this money again automatically: decide, and tell
      the member.
    </p>
  </section>
`;

const openList = (page: Gathered<Attempt>): Html =>
  html`${page.items.length === 0 ? nothing(page, 'Everything has its answer.') : openTable(page.items)}
  ${rest(page, 'open')}`;

const MONEY_TABLES = {
  refused: { caption: 'Refunds that were refused', when: 'Refused' },
  returned: { caption: 'Returns that came too late', when: 'Came back' },
} as const;

const moneyList = (page: Gathered<MoneyToDecide>, list: keyof typeof MONEY_TABLES): Html =>
  html`${page.items.length === 0 ? nothing(page, 'None.') : moneyTable(page.items, MONEY_TABLES[list])}
  ${rest(page, list)}`;

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
        ${oldestFirst(attempts, ({ openedAt }) => openedAt).map(
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

const moneyTable = (
  items: readonly MoneyToDecide[],
  { caption, when }: { readonly caption: string; readonly when: string },
): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Record</th>
          <th scope="col">Code</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col">${when}</th>
          <th scope="col">Payment</th>
        </tr>
      </thead>
      <tbody>
        ${oldestFirst(items, ({ at }) => at).map(
          ({ userId, subscriptionId, code, amount, at, confirmationId }) =>
            html`<tr>
              ${whose(userId, subscriptionId)}
              <td data-label="Code">${code ?? '–'}</td>
              <td class="n" data-label="Amount">${dollars(amount)}</td>
              <td class="tight" data-label="${when}">${time(at)}</td>
              <td class="id" data-label="Payment">${confirmationId}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

/** What is gathered from the parts of a list has no order by itself. */
const oldestFirst = <T>(items: readonly T[], since: (item: T) => Instant): T[] =>
  items.toSorted((a, b) => compareInstants(since(a), since(b)));

const whose = (userId: string, recordId: string): Html =>
  html`<th scope="row"><a class="id" href="/users/${encodeURIComponent(userId)}">${userId}</a></th>
    <td data-label="Record"><a class="id" href="${recordUrl(userId, recordId)}">${recordId}</a></td>`;
