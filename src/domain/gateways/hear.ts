import type { Instant } from '../instant.ts';
import type { GatewayEvent, PaymentReport, StateReport } from './gateway-event.ts';
import { eventIdOf } from './gateway-event.ts';
import type { Mark } from './mark.ts';
import { isOlder } from './mark.ts';
import type { GatewayStatus } from './status.ts';
import { isActive } from './status.ts';
import type { Collision, GatewaySubscription, GatewaySubscriptionId } from './subscription.ts';
import { idOfRef } from './subscription.ts';
import { LAPSED, TRANSITIONS, next } from './transitions.ts';

/** An event that says something. */
export type TellingEvent = GatewayEvent & { readonly report: StateReport | PaymentReport };

export const isTelling = (event: GatewayEvent): event is TellingEvent => event.report.kind !== 'none';

export type Hearing =
  /** Older than what was heard last: it changes nothing. */
  | { readonly result: 'stale' }
  /** Collided: the gateway calls it active, and another one is. It is kept past due. */
  | { readonly result: 'heard'; readonly subscription: GatewaySubscription; readonly collided: boolean };

/**
 * What a subscription is after an event. Of the words about the whole the newest counts, and of the words about payments
 * the newest, if it is newer than that: so the same events give the same subscription in whatever order they come.
 *
 * `holder` is the subscription that has the owner's one active place for this SKU.
 */
export function hear(
  before: GatewaySubscription,
  event: TellingEvent,
  { holder, now }: { readonly holder: GatewaySubscriptionId | null; readonly now: Instant },
): Hearing {
  const words = withWord(before, event);
  if (words === null) return { result: 'stale' };
  const said = statusSaid(words);
  // A payment event that implies the same status as before must not undo the sweep's `expired`.
  const isNews = event.report.kind === 'state' || said !== statusSaid(before) || isKeptBack(before);
  const wanted = isNews ? said : before.status;
  const heldBy = isActive(wanted) && holder !== null && holder !== before.id ? holder : null;
  if (heldBy !== null) {
    const collision: Collision = { wanted, heldBy, eventId: eventIdOf(event), since: now };
    return { result: 'heard', subscription: { ...words, status: 'past_due', collision }, collided: true };
  }
  return {
    result: 'heard',
    subscription: { ...words, status: wanted, collision: isNews ? null : before.collision },
    collided: false,
  };
}

/**
 * A subscription kept `past_due` by a collision is judged anew on every event: the one an operator replays may be about
 * a payment. Not where only payments are known (`told` is null): its status would fall back to `pending`, and nothing
 * returns to that.
 */
const isKeptBack = ({ collision, told }: GatewaySubscription): boolean => collision !== null && told !== null;

/** Null when there was a newer one. */
function withWord(before: GatewaySubscription, event: TellingEvent): GatewaySubscription | null {
  const { report } = event;
  const mark = markOf(event);
  if (isOlder(mark, before.told?.mark)) return null;
  if (report.kind === 'payment') {
    const { word } = report;
    return isOlder(mark, before.payment?.mark) ? null : { ...before, payment: { word, mark } };
  }
  const { word, startedAt, expiresAt, quantity, productId } = report;
  const { payment } = before;
  return {
    ...before,
    startedAt,
    expiresAt,
    quantity,
    productId: (isStartedHere(before) ? null : productId) ?? before.productId,
    told: { word, mark },
    payment: payment !== null && isOlder(payment.mark, mark) ? null : payment,
  };
}

/** Then it was said here what is sold, in our own words. */
const isStartedHere = ({ id, gateway, gatewayRef }: GatewaySubscription): boolean =>
  gatewayRef === null || id !== idOfRef(gateway, gatewayRef);

const markOf = ({ identity, report: { at, word } }: TellingEvent): Mark => ({
  at,
  by: identity,
  status: word === 'payment-made' ? 'active' : word === 'payment-failed' ? 'past_due' : next(word, 'pending'),
});

/** What the gateway's words make of it, whatever came in between. */
function statusSaid({ told, payment }: Pick<GatewaySubscription, 'told' | 'payment'>): GatewayStatus {
  const whole = told === null ? 'pending' : next(told.word, 'pending');
  return payment === null ? whole : next(payment.word, whole);
}

/** What was cancelled and has run out has expired. Null: it has not. */
export function lapse(subscription: GatewaySubscription, now: Instant): GatewaySubscription | null {
  const { status, expiresAt } = subscription;
  const to = TRANSITIONS[LAPSED][status];
  if (to === null || expiresAt === null || expiresAt > now) return null;
  return { ...subscription, status: to };
}
