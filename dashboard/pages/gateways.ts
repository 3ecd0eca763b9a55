import { withoutPersonalData } from '../../src/adapters/logging/personal-data.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import { addDays } from '../../src/domain/calendar-date.ts';
import type { GatewayStatus } from '../../src/domain/gateways/status.ts';
import type { GatewaySubscription } from '../../src/domain/gateways/subscription.ts';
import type { Instant } from '../../src/domain/instant.ts';
import type {
  GatewayEventPage,
  GatewayOutcome,
  GatewayResult,
  GatewaySubscriptionPage,
  StoredGatewayEvent,
} from '../../src/ports/gateways.ts';
import { day as dayText, plural, time } from '../format.ts';
import { missing } from '../frame.ts';
import type { Html, Renderable } from '../html.ts';
import { html } from '../html.ts';
import type { Answer } from '../patience.ts';

const subscriptionUrl = (id: string): string => `/gateways/subscriptions/${encodeURIComponent(id)}`;
const eventUrl = (eventId: string): string => `/gateways/events/${encodeURIComponent(eventId)}`;

const STATUS_TONES: Partial<Record<GatewayStatus, string>> = {
  trial: 'good',
  active: 'good',
  past_due: 'bad',
  cancelled: 'warn',
};

const RESULT_TONES: Readonly<Record<GatewayResult, string>> = {
  applied: 'good',
  held: 'bad',
  stale: '',
  recorded: '',
  unmatched: 'bad',
  unreadable: 'bad',
  failed: 'bad',
};

const statusPill = (status: GatewayStatus): Html =>
  html`<span class="pill ${STATUS_TONES[status] ?? ''}">${status}</span>`;

export interface OwnerSearch {
  readonly ownerId: string;
  readonly sku: string;
}

export interface GatewaysView {
  readonly search: OwnerSearch | null;
  /** Of the owner that is looked for. */
  readonly found: Answer<readonly GatewaySubscription[]>;
  readonly collisions: Answer<GatewaySubscriptionPage>;
  readonly troubled: Answer<GatewayEventPage>;
  readonly day: CalendarDate;
  readonly today: CalendarDate;
  readonly events: Answer<GatewayEventPage>;
}

export const gatewaysPage = (view: GatewaysView): Html => html`
  <div class="title"><h1>Gateways</h1></div>
  <p class="sub">
    Subscriptions that are sold by others: Lemon Squeezy and Apple tell what happened, and an owner has one
    active subscription of a SKU.
  </p>
  <section aria-labelledby="search">
    <h2 id="search">Find subscriptions</h2>
    ${searchForm(view.search)} ${view.search === null ? null : foundPart(view.found, view.search)}
  </section>
  <section aria-labelledby="collisions">
    <h2 id="collisions">Collisions</h2>
    ${view.collisions === null ? missing('The list of collisions') : collisionList(view.collisions.value)}
    <p class="hint">
      Paid at their gateway while another one of the same owner and SKU is active. Each is kept past due. End
      one of the two at its gateway, then replay the event that it waits with.
    </p>
  </section>
  <section aria-labelledby="troubled">
    <h2 id="troubled">Events that wait for somebody</h2>
    ${view.troubled === null ? missing('The list of events') : eventList(view.troubled.value, 'Nothing waits for anybody.')}
  </section>
  <section aria-labelledby="events">
    <h2 id="events">Events of ${dayText(view.day)}</h2>
    ${view.events === null ? missing('The list of events') : eventList(view.events.value, 'Nothing came, or all of it still waits to be applied.')}
    ${dayPager(view)}
  </section>
`;

const searchForm = (search: OwnerSearch | null): Html =>
  html`<form role="search" action="/gateways">
    <div class="row">
      <div class="field">
        <label for="owner">Owner: the id of a user or an organisation</label
        ><input
          id="owner"
          name="owner"
          value="${search?.ownerId ?? ''}"
          required
          maxlength="256"
          autocomplete="off"
          spellcheck="false"
        />
      </div>
      <div class="field">
        <label for="sku">SKU, or empty for all</label
        ><input
          id="sku"
          name="sku"
          value="${search?.sku ?? ''}"
          maxlength="256"
          autocomplete="off"
          spellcheck="false"
        />
      </div>
      <div class="field"><button class="main">Find</button></div>
    </div>
  </form>`;

const foundPart = (found: GatewaysView['found'], { ownerId, sku }: OwnerSearch): Html => {
  if (found === null) return missing('What was found');
  return found.value.length === 0
    ? html`<p role="status">
        <span class="id">${ownerId}</span> has no
        subscription${sku === '' ? '' : html` of <span class="id">${sku}</span>`}.
      </p>`
    : subscriptionTable(found.value);
};

const subscriptionTable = (subscriptions: readonly GatewaySubscription[]): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Subscriptions
      </caption>
      <thead>
        <tr>
          <th scope="col">SKU</th>
          <th scope="col">Status</th>
          <th scope="col">Until</th>
          <th scope="col" class="n">Seats</th>
          <th scope="col">Owner</th>
          <th scope="col">Gateway</th>
          <th scope="col">Subscription</th>
        </tr>
      </thead>
      <tbody>
        ${subscriptions.map(
          (one) =>
            html`<tr>
              <th scope="row">${one.sku}</th>
              <td data-label="Status">${statusPill(one.status)}</td>
              <td class="tight" data-label="Until">${orDash(one.expiresAt)}</td>
              <td class="n" data-label="Seats">${one.quantity}</td>
              <td data-label="Owner">${ownerText(one)}</td>
              <td data-label="Gateway">${gatewayText(one.gateway, one.gatewayRef)}</td>
              <td data-label="Subscription">
                <a class="id" href="${subscriptionUrl(one.id)}">${one.id}</a>
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

const ownerText = ({ appId, ownerType, ownerId }: GatewaySubscription): Html =>
  html`<span>${ownerType} <span class="id">${ownerId}</span> of ${appId}</span>`;

const gatewayText = (gateway: string, ref: string | null): Html =>
  html`<span>${gateway}${ref === null ? null : html` <span class="id">${ref}</span>`}</span>`;

const orDash = (instant: Instant | null): Renderable => (instant === null ? '–' : time(instant));

function collisionList({ subscriptions, unreadable, nextKey }: GatewaySubscriptionPage): Html {
  if (subscriptions.length + unreadable.length === 0) return html`<p class="missing">There are none.</p>`;
  return html`<div class="scroll">
      <table class="stack">
        <caption class="quiet">
          Subscriptions that are kept back
        </caption>
        <thead>
          <tr>
            <th scope="col">Subscription</th>
            <th scope="col">Owner</th>
            <th scope="col">SKU</th>
            <th scope="col">Would be</th>
            <th scope="col">Held by</th>
            <th scope="col">Since</th>
            <th scope="col">Event</th>
          </tr>
        </thead>
        <tbody>
          ${subscriptions.map(collisionRow)}
        </tbody>
      </table>
    </div>
    ${leftOut(unreadable, nextKey !== null)}`;
}

const collisionRow = (one: GatewaySubscription): Html | null => {
  const { collision } = one;
  return collision === null
    ? null
    : html`<tr>
        <th scope="row"><a class="id" href="${subscriptionUrl(one.id)}">${one.id}</a></th>
        <td data-label="Owner">${ownerText(one)}</td>
        <td data-label="SKU">${one.sku}</td>
        <td data-label="Would be">${statusPill(collision.wanted)}</td>
        <td data-label="Held by">
          <a class="id" href="${subscriptionUrl(collision.heldBy)}">${collision.heldBy}</a>
        </td>
        <td class="tight" data-label="Since">${time(collision.since)}</td>
        <td data-label="Event"><a href="${eventUrl(collision.eventId)}">look, replay</a></td>
      </tr>`;
};

const leftOut = (unreadable: readonly Error[], isMore: boolean): Html =>
  html`${unreadable.length === 0 ? null : html`<p class="hint">${plural(unreadable.length, 'entry', 'entries')} cannot be read; the log names them.</p>`}
  ${isMore ? html`<p class="hint">There are more; the API lists them all.</p>` : null}`;

function eventList({ events, unreadable, nextKey }: GatewayEventPage, none: string): Html {
  return html`${events.length === 0 ? html`<p class="missing">${none}</p>` : eventTable(events)}
  ${leftOut(unreadable, nextKey !== null)}`;
}

const eventTable = (events: readonly StoredGatewayEvent[]): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Events of gateways, and what each did
      </caption>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Received</th>
          <th scope="col">Gateway</th>
          <th scope="col">Result</th>
          <th scope="col">Subscription</th>
        </tr>
      </thead>
      <tbody>
        ${events.map(
          (event) =>
            html`<tr>
              <th scope="row"><a href="${eventUrl(event.eventId)}">${event.name}</a></th>
              <td class="tight" data-label="Received">${time(event.receivedAt)}</td>
              <td data-label="Gateway">${gatewayText(event.gateway, event.ref)}</td>
              <td data-label="Result">${did(event.outcome)}</td>
              <td class="tight" data-label="Subscription">${about(event)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

function did(outcome: GatewayOutcome | null): Html {
  if (outcome === null) return html`<span class="pill warn">waits</span>`;
  const { result, reason, from, to } = outcome;
  const moved =
    from === null || to === null ? null : from === to ? html` stays ${to}` : html` ${from} → ${to}`;
  return html`<span
    ><span class="pill ${RESULT_TONES[result]}">${result}</span>${moved}
    <span class="sub">${reason}</span></span
  >`;
}

const about = ({ outcome }: StoredGatewayEvent): Renderable =>
  outcome === null || outcome.subscriptionId === null
    ? '–'
    : html`<a class="id" href="${subscriptionUrl(outcome.subscriptionId)}">${outcome.subscriptionId}</a>`;

const dayPager = ({ day, today }: GatewaysView): Html =>
  html`<nav class="pager" aria-label="Days">
    <a rel="prev" href="/gateways?day=${addDays(day, -1)}">The day before</a>
    ${day < today ? html`<a rel="next" href="/gateways?day=${addDays(day, 1)}">The day after</a>` : null}
  </nav>`;

export interface SubscriptionView {
  readonly subscription: GatewaySubscription;
  readonly events: Answer<readonly StoredGatewayEvent[]>;
}

export const gatewaySubscriptionPage = ({ subscription: one, events }: SubscriptionView): Html => html`
  <div class="title">
    <h1>Subscription <span class="id">${one.id}</span></h1>
  </div>
  <section aria-labelledby="stands">
    <h2 id="stands">Right now</h2>
    <dl class="facts">
      <dt>Status</dt>
      <dd>${statusPill(one.status)}${one.collision === null ? null : collisionText(one.collision)}</dd>
      <dt>Owner</dt>
      <dd>
        ${ownerText(one)},
        <a href="/gateways?owner=${encodeURIComponent(one.ownerId)}">all of theirs</a>
      </dd>
      <dt>SKU</dt>
      <dd>${one.sku}, product ${one.productId}, ${plural(one.quantity, 'seat')}</dd>
      <dt>From</dt>
      <dd>${orDash(one.startedAt)}</dd>
      <dt>Until</dt>
      <dd>${orDash(one.expiresAt)}</dd>
      <dt>Gateway</dt>
      <dd>${gatewayText(one.gateway, one.gatewayRef)}</dd>
      <dt>Version</dt>
      <dd>${one.lockVersion}</dd>
    </dl>
  </section>
  <section aria-labelledby="events">
    <h2 id="events">What the gateway sent, the newest first</h2>
    ${events === null ? missing('The list of events') : events.value.length === 0 ? html`<p class="missing">Nothing yet: a checkout was begun.</p>` : eventTable(events.value)}
  </section>
`;

const collisionText = ({ wanted, heldBy, since }: NonNullable<GatewaySubscription['collision']>): Html =>
  html` kept back since ${time(since)}: it would be ${statusPill(wanted)} but for
    <a class="id" href="${subscriptionUrl(heldBy)}">${heldBy}</a>`;

export interface EventView {
  readonly event: StoredGatewayEvent;
  /** What it says; null where it cannot be read. */
  readonly said: object | null;
  readonly mayAct: boolean;
}

export const gatewayEventPage = ({ event, said, mayAct }: EventView): Html => html`
  <div class="title"><h1>Event ${event.name}</h1></div>
  <section aria-labelledby="did">
    <h2 id="did">What it did</h2>
    <dl class="facts">
      <dt>Result</dt>
      <dd>${did(event.outcome)}</dd>
      <dt>Subscription</dt>
      <dd>${about(event)}</dd>
      <dt>Received</dt>
      <dd>${time(event.receivedAt)}</dd>
      <dt>Applied</dt>
      <dd>
        ${orDash(event.outcome?.at ?? null)}${event.replays === 0 ? null : `, replayed ${plural(event.replays, 'time')}`}
      </dd>
      <dt>Id</dt>
      <dd class="id">${event.eventId}</dd>
    </dl>
    ${mayAct ? replayForm(event) : null}
  </section>
  <section aria-labelledby="says">
    <h2 id="says">What it says</h2>
    ${said === null ? html`<p class="missing">It cannot be read. It has ${plural(event.body.length, 'byte')}.</p>` : html`<pre>${JSON.stringify(withoutPersonalData(said), null, 2)}</pre>`}
  </section>
`;

const replayForm = ({ eventId }: StoredGatewayEvent): Html =>
  html`<form class="pager" method="post" action="/gateways/replay">
    <input type="hidden" name="id" value="${eventId}" /><button>Replay…</button>
  </form>`;
