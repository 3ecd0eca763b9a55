import type { Explanation } from '../../src/app/explain.ts';
import type { StoryLine } from '../../src/app/explain-story.ts';
import type { BillingStatus, Subscription, UserId } from '../../src/domain/subscription.ts';
import type { MalformedRowError } from '../../src/errors.ts';
import type { CollectionRequest } from '../../src/ports/requests.ts';
import { dollars, plural, time } from '../format.ts';
import { LIVE_LIGHT } from '../frame.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { standingSection } from './standing.ts';
import type { Tone } from './timeline.ts';
import { decisionTone, timeline } from './timeline.ts';

export const searchPage = (asked: string | null): Html => html`
  <div class="title"><h1>Members</h1></div>
  <section aria-labelledby="search">
    <h2 id="search">Find a member</h2>
    ${searchForm(asked ?? '')}
    <p class="hint">By the id of the member, of one of the records or of a float.</p>
    ${asked === null ? null : html`<p role="status">Neither a member nor a record is called <span class="id">${asked}</span>.</p>`}
  </section>
`;

const searchForm = (value: string): Html =>
  html`<form class="search" role="search" action="/users">
    <label class="quiet" for="q">Member or record id</label>
    <input
      id="q"
      name="q"
      type="search"
      value="${value}"
      required
      maxlength="128"
      autocomplete="off"
      spellcheck="false"
    />
    <button class="main">Find</button>
  </form>`;

export interface UserView {
  readonly userId: UserId;
  readonly records: readonly Subscription[];
  readonly malformed: readonly MalformedRowError[];
  /** Of the record that is looked at. */
  readonly explanation: Explanation | null;
  readonly request: CollectionRequest | null;
  readonly mayAct: boolean;
}

const recordUrl = (userId: string, subscriptionId: string): string =>
  `/users/${encodeURIComponent(userId)}?record=${encodeURIComponent(subscriptionId)}`;

/** `floats` is what is shown of the member's cash advances: first, where no record is looked at. */
export const userPage = (
  { userId, records, malformed, explanation, request, mayAct }: UserView,
  floats: Html | null = null,
): Html => html`
  <div class="title">
    <h1>Member <span class="id">${userId}</span></h1>
    ${LIVE_LIGHT}
  </div>
  ${request === null ? null : html`<div data-fragment="request">${requestPart(request)}</div>`}
  ${
    malformed.length === 0
      ? null
      : html`<div class="banner warn">
          <p>
            ${plural(malformed.length, 'row')} of this member cannot be read. Nothing is written about the
            member until it is mended.
          </p>
        </div>`
  }
  <div id="member" data-refreshed>
    ${explanation === null ? floats : standingSection('standing', 'Right now', explanation)}
    ${
      records.length === 0
        ? null
        : html`<section aria-labelledby="records">
            <h2 id="records">Records</h2>
            ${recordTable(userId, records, explanation, mayAct)}
          </section>`
    }
    ${explanation === null ? null : html`${story(explanation)}${floats}`}
  </div>
  ${mayAct ? memberActions(userId) : null}
`;

const TONES: Partial<Record<BillingStatus, string>> = {
  COMPLETED: 'good',
  ACHSENT: 'warn',
  ERROR: 'bad',
  STALE: 'bad',
  SCHEDULED: 'plan',
};

export const statusPill = (status: BillingStatus): Html =>
  html`<span class="pill ${TONES[status] ?? ''}">${status}</span>`;

/** The statuses from which the rules allow it; the store decides. */
const PAYABLE: ReadonlySet<BillingStatus> = new Set<BillingStatus>(['SCHEDULED', 'ERROR']);
const WAIVABLE: ReadonlySet<BillingStatus> = new Set<BillingStatus>(['SCHEDULED', 'ERROR', 'PAUSED']);

function recordTable(
  userId: UserId,
  records: readonly Subscription[],
  explanation: Explanation | null,
  mayAct: boolean,
): Html {
  return html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Billing records, the newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">Billing date</th>
          <th scope="col">Status</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col">Term</th>
          <th scope="col">Written by</th>
          <th scope="col">Record</th>
          ${mayAct ? html`<th scope="col">&nbsp;</th>` : null}
        </tr>
      </thead>
      <tbody>
        ${[...records].reverse().map(
          (record) =>
            html`<tr>
              <th scope="row">${time(record.billingDate)}</th>
              <td data-label="Status">${statusPill(record.billingStatus)}</td>
              <td class="n" data-label="Amount">${dollars(record.billingAmount)}</td>
              <td data-label="Term">${record.term}</td>
              <td data-label="Written by">${record.process ?? '–'}</td>
              <td data-label="Record">
                ${
                  record.subscriptionId === explanation?.subscriptionId
                    ? html`<strong class="id" aria-current="true">${record.subscriptionId}</strong>`
                    : html`<a class="id" href="${recordUrl(userId, record.subscriptionId)}"
                        >${record.subscriptionId}</a
                      >`
                }
              </td>
              ${mayAct ? html`<td>${recordActions(record)}</td>` : null}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function recordActions({ userId, subscriptionId, billingStatus }: Subscription): Html {
  const form = (act: string, label: string): Html =>
    html`<form method="post" action="/users/${encodeURIComponent(userId)}/${act}">
      <input type="hidden" name="record" value="${subscriptionId}" /><button
        class="small"
        id="${act}-${subscriptionId}"
      >
        ${label}…
      </button>
    </form>`;
  return html`<div class="actions">
    ${PAYABLE.has(billingStatus) ? form('pay', 'Pay') : null}
    ${WAIVABLE.has(billingStatus) ? form('waive', 'Waive') : null}
  </div>`;
}

const story = ({ subscriptionId, summary, story: lines, unreadable }: Explanation): Html =>
  html`<section aria-labelledby="story">
    <h2 id="story">What happened to <span class="id">${subscriptionId}</span></h2>
    <p class="summary">${summary}</p>
    ${timeline(lines.map((line) => ({ ...line, tone: toneOf(line) })))}
    ${unreadable.length === 0 ? null : html`<p class="hint">Not readable: ${unreadable.join('; ')}</p>`}
  </section>`;

function toneOf({ kind, decision, status }: StoryLine): Tone {
  if (status === 'COMPLETED') return 'good';
  if (status === 'ERROR') return 'bad';
  return decision === null ? kind : decisionTone(decision.verdict);
}

const memberActions = (userId: UserId): Html =>
  html`<section aria-labelledby="member-actions">
    <h2 id="member-actions">Freeze this member</h2>
    <form method="post" action="/freezes">
      <input type="hidden" name="scope" value="user" /><input
        type="hidden"
        name="user_id"
        value="${userId}"
      />
      <input type="hidden" name="hours" value="" />
      <div class="field">
        <label for="reason">Reason, shown to other operators</label
        ><input id="reason" name="reason" required maxlength="500" autocomplete="off" />
      </div>
      <button>Freeze member…</button>
    </form>
  </section>`;

export function requestPart({ status, outcome, requestId }: CollectionRequest): Html {
  if (status === 'accepted')
    return html`<div class="banner warn" role="status" data-announce="the payment is under way">
      <p>The payment is under way. <span class="id">${requestId}</span></p>
    </div>`;
  const paid = outcome !== null && ['collected', 'sent'].includes(outcome.verdict);
  const text = outcome === null ? 'ended' : `${outcome.verdict}: ${outcome.reason}`;
  return html`<div
    class="banner ${paid ? 'good' : 'bad'}"
    role="status"
    data-announce="the payment: ${text}"
    data-refresh
  >
    <p>The payment has ended: <strong>${text}</strong>.</p>
  </div>`;
}
