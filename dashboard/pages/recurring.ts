import type { RecurringExplanation, RecurringStoryLine } from '../../src/app/recurring/explain-recurring.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import { addDays } from '../../src/domain/calendar-date.ts';
import { receiptNumberText } from '../../src/domain/recurring/receipt-key.ts';
import type {
  AccountId,
  Receipt,
  RecurringStatus,
  RecurringSubscription,
} from '../../src/domain/recurring/recurring.ts';
import { isCharged } from '../../src/domain/recurring/recurring.ts';
import type {
  DueRecurringPage,
  ReceiptPage,
  RecurringOfAccount,
  RecurringRef,
} from '../../src/ports/recurring.ts';
import { day as dayText, dollars, plural, time } from '../format.ts';
import { missing } from '../frame.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { RunProgress } from '../overview.ts';
import type { Answer } from '../patience.ts';
import { dueDay } from './float-parts.ts';
import { runsTable } from './runs-table.ts';
import { standingSection } from './standing.ts';
import type { Tone } from './timeline.ts';
import { decisionTone, timeline } from './timeline.ts';

export const recurringUrl = (accountId: string, recurringId?: string): string =>
  `/recurring/${encodeURIComponent(accountId)}` +
  (recurringId === undefined ? '' : `?subscription=${encodeURIComponent(recurringId)}`);

export interface RecurringView {
  /** The account that was looked for, and is not there. */
  readonly asked: string | null;
  readonly day: CalendarDate;
  readonly today: CalendarDate;
  readonly payments: Answer<DueRecurringPage>;
  readonly reminders: Answer<DueRecurringPage>;
  /** From which day on payments may wait. */
  readonly waiting: Answer<CalendarDate | null>;
  readonly runs: Answer<readonly RunProgress[]>;
}

export const recurringPage = (view: RecurringView): Html => html`
  <div class="title">
    <h1>Recurring</h1>
    <span class="sub">what accounts pay for every month</span>
  </div>
  <section aria-labelledby="search">
    <h2 id="search">Find an account</h2>
    ${searchForm(view.asked ?? '')}
    ${view.asked === null ? null : html`<p role="status">No account <span class="id">${view.asked}</span> pays for anything.</p>`}
  </section>
  <section aria-labelledby="recurring-runs">
    <h2 id="recurring-runs">Runs of recurring payments</h2>
    ${view.runs === null ? missing('The runs') : runsTable(view.runs.value)}
  </section>
  <section aria-labelledby="payments">
    <h2 id="payments">Payments due on ${dayText(view.day)}</h2>
    ${dueList(view.payments, 'None, or all have been made.')} ${waitingHint(view)}
  </section>
  <section aria-labelledby="reminders">
    <h2 id="reminders">Reminders to send on ${dayText(view.day)}</h2>
    ${dueList(view.reminders, 'None, or all have been sent.')}
  </section>
  ${dayPager(view)}
`;

const searchForm = (value: string): Html =>
  html`<form class="search" role="search" action="/recurring">
    <label class="quiet" for="account">Account id</label>
    <input
      id="account"
      name="account"
      type="search"
      value="${value}"
      required
      maxlength="128"
      autocomplete="off"
      spellcheck="false"
    />
    <button class="main">Find</button>
  </form>`;

function dueList(page: Answer<DueRecurringPage>, none: string): Html {
  if (page === null) return missing('The list');
  const { due, malformed, nextKey } = page.value;
  return html`${due.length === 0 ? html`<p class="missing">${none}</p>` : dueTable(due)}
  ${malformed.length === 0 ? null : html`<p class="hint">${plural(malformed.length, 'row')} cannot be read.</p>`}
  ${nextKey === null ? null : html`<p class="hint">There are more.</p>`}`;
}

const dueTable = (due: readonly RecurringRef[]): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Recurring payments of this day
      </caption>
      <thead>
        <tr>
          <th scope="col">Account</th>
          <th scope="col">Subscription</th>
        </tr>
      </thead>
      <tbody>
        ${due.map(
          ({ accountId, recurringId }) =>
            html`<tr>
              <th scope="row"><a class="id" href="${recurringUrl(accountId)}">${accountId}</a></th>
              <td data-label="Subscription">
                <a class="id" href="${recurringUrl(accountId, recurringId)}">${recurringId}</a>
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

/** Runs read every day since then; on most there is nothing left. */
function waitingHint({ waiting, today }: RecurringView): Html | null {
  const since = waiting?.value ?? null;
  return since === null || since >= today
    ? null
    : html`<p class="hint">
        Runs read from <a href="/recurring?day=${since}">${dayText(since)}</a> on: what is put off stays on
        its day.
      </p>`;
}

const dayPager = ({ day }: RecurringView): Html =>
  html`<nav class="actions" aria-label="Days">
    <a href="/recurring?day=${addDays(day, -1)}">← ${dayText(addDays(day, -1))}</a>
    <a href="/recurring?day=${addDays(day, 1)}">${dayText(addDays(day, 1))} →</a>
  </nav>`;

export interface AccountView {
  readonly accountId: AccountId;
  readonly found: RecurringOfAccount;
  readonly receipts: Answer<ReceiptPage>;
  /** Of the payment that is looked at. */
  readonly explanation: RecurringExplanation | null;
  readonly today: CalendarDate;
  readonly mayAct: boolean;
}

export const accountPage = (view: AccountView): Html => html`
  <div class="title">
    <h1>Account <span class="id">${view.accountId}</span></h1>
  </div>
  ${
    view.found.malformed.length === 0
      ? null
      : html`<div class="banner warn">
          <p>
            ${plural(view.found.malformed.length, 'row')} of this account cannot be read:
            ${view.found.malformed.map(({ message }) => message).join('; ')}
          </p>
        </div>`
  }
  <section aria-labelledby="subscriptions">
    <h2 id="subscriptions">Recurring payments</h2>
    ${subscriptionTable(view)}
  </section>
  ${view.explanation === null ? null : story(view.explanation)}
  <section aria-labelledby="receipts">
    <h2 id="receipts">Receipts</h2>
    ${receiptList(view.receipts)}
  </section>
`;

const TONES: Record<RecurringStatus, string> = {
  ACTIVE: 'good',
  PAST_DUE: 'bad',
  FAILED: 'bad',
  CANCELLED: '',
};

const pill = (status: RecurringStatus): Html => html`<span class="pill ${TONES[status]}">${status}</span>`;

const subscriptionTable = ({ found, explanation, today, mayAct }: AccountView): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Recurring payments of this account
      </caption>
      <thead>
        <tr>
          <th scope="col">SKU</th>
          <th scope="col">Status</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col" class="n">Day</th>
          <th scope="col">Paid next</th>
          <th scope="col">Told of next</th>
          <th scope="col">Subscription</th>
          ${mayAct ? html`<th scope="col">&nbsp;</th>` : null}
        </tr>
      </thead>
      <tbody>
        ${found.subscriptions.map(
          (one) =>
            html`<tr>
              <th scope="row">${one.sku}</th>
              <td data-label="Status">${pill(one.status)}</td>
              <td class="n" data-label="Amount">${dollars(one.paymentAmount)}</td>
              <td class="n" data-label="Day">${one.paymentDay}</td>
              <td data-label="Paid next">${dayOrDash(one.nextPaymentDate, today)}</td>
              <td data-label="Told of next">${dayOrDash(one.nextReminderDate, today)}</td>
              <td data-label="Subscription">
                ${
                  one.recurringId === explanation?.recurringId
                    ? html`<strong class="id" aria-current="true">${one.recurringId}</strong>`
                    : html`<a class="id" href="${recurringUrl(one.accountId, one.recurringId)}"
                        >${one.recurringId}</a
                      >`
                }
              </td>
              ${mayAct ? html`<td>${actions(one)}</td>` : null}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

const dayOrDash = (date: CalendarDate | null, today: CalendarDate): Html =>
  date === null ? html`<span class="zero">–</span>` : dueDay(date, today);

const actions = ({ accountId, recurringId, status }: RecurringSubscription): Html | null =>
  isCharged(status)
    ? html`<div class="actions">
        <form method="post" action="/recurring/cancel">
          <input type="hidden" name="account" value="${accountId}" /><input
            type="hidden"
            name="subscription"
            value="${recurringId}"
          /><button class="small" id="cancel-${recurringId}">End…</button>
        </form>
      </div>`
    : null;

const story = (explanation: RecurringExplanation): Html => {
  const { recurringId, summary, story: lines, unreadable } = explanation;
  return html`${standingSection('standing', 'Right now', explanation)}
    <section aria-labelledby="story">
      <h2 id="story">What happened to <span class="id">${recurringId}</span></h2>
      <p class="summary">${summary}</p>
      ${timeline(lines.map((line) => ({ ...line, tone: toneOf(line) })))}
      ${unreadable.length === 0 ? null : html`<p class="hint">Not readable: ${unreadable.join('; ')}</p>`}
    </section>`;
};

function toneOf({ kind, decision, status, attemptId }: RecurringStoryLine): Tone {
  if (status === 'PAST_DUE' || status === 'FAILED') return 'bad';
  // Of the changes that are an answer, this is the one that brings money.
  if (status !== null && attemptId !== null) return 'good';
  return decision === null ? kind : decisionTone(decision.verdict);
}

function receiptList(page: Answer<ReceiptPage>): Html {
  if (page === null) return missing('The receipts');
  const { receipts, malformed, nextKey } = page.value;
  return html`${receipts.length === 0 ? html`<p class="missing">Nothing was paid yet.</p>` : receiptTable(receipts)}
  ${malformed.length === 0 ? null : html`<p class="hint">${plural(malformed.length, 'receipt')} cannot be read.</p>`}
  ${nextKey === null ? null : html`<p class="hint">There are more; the API lists them all.</p>`}`;
}

const receiptTable = (receipts: readonly Receipt[]): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Receipts, the newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">Number</th>
          <th scope="col">Paid</th>
          <th scope="col">SKU</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col">For</th>
          <th scope="col">Told of</th>
          <th scope="col">Payment</th>
        </tr>
      </thead>
      <tbody>
        ${receipts.map(
          (receipt) =>
            html`<tr>
              <th scope="row">${receiptNumberText(receipt.number)}</th>
              <td class="tight" data-label="Paid">${time(receipt.processedDate)}</td>
              <td data-label="SKU">${receipt.sku}</td>
              <td class="n" data-label="Amount">${dollars(receipt.processedAmount)}</td>
              <td data-label="For">${dayText(receipt.periodDate)}</td>
              <td class="tight" data-label="Told of">${time(receipt.remindedDate)}</td>
              <td data-label="Payment"><span class="id">${receipt.confirmationId}</span></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
