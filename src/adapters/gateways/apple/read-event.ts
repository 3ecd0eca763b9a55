import { z } from 'zod';
import type { Claim, GatewayEvent, Report } from '../../../domain/gateways/gateway-event.ts';
import { canBePart } from '../../../domain/gateways/gateway-event.ts';
import type { GatewayName } from '../../../domain/gateways/subscription.ts';
import type { Instant } from '../../../domain/instant.ts';
import { instantFromMs } from '../../../domain/instant.ts';
import { optional, parsed } from '../json-body.ts';
import type { Meaning } from './events.ts';
import { EVENTS, FREE_OFFER, IN_GRACE, SUBSCRIPTION } from './events.ts';
import { contentOf, signedTextsIn } from './signed-payload.ts';

export const NAME = 'apple_iap' as GatewayName;

/** Four digits for the year: a later one could not be written. */
const LAST_MS = 253_402_300_799_999;

const part = z.string().refine(canBePart, 'letters, digits, dashes and underscores');
const text = z.string().min(1).max(256);
const time = z.int().min(0).max(LAST_MS).transform(instantFromMs);

const notification = z.object({
  notificationType: part,
  subtype: optional(part),
  notificationUUID: part,
  signedDate: time,
});

const transaction = z.object({
  originalTransactionId: part,
  type: optional(z.string()),
  productId: text,
  bundleId: text,
  appAccountToken: optional(text),
  originalPurchaseDate: optional(time),
  expiresDate: optional(time),
  revocationDate: optional(time),
  quantity: optional(z.int().min(1)),
  offerDiscountType: optional(z.string()),
});
type Transaction = z.output<typeof transaction>;

const renewal = z.object({ gracePeriodExpiresDate: optional(time) });

/** Which subscription it is about, of events that say nothing else. */
const anyTransaction = z.object({ originalTransactionId: part });

export function readEvent(body: Uint8Array): GatewayEvent {
  const texts = signedTextsIn(body);
  const { notificationType, subtype, notificationUUID, signedDate } = parsed(
    notification,
    contentOf(texts.notification),
  );
  const name = subtype === null ? notificationType : `${notificationType}/${subtype}`;
  const meaning = meaningOf(name) ?? meaningOf(notificationType);
  const about = texts.transaction === null ? null : contentOf(texts.transaction);
  const common = { gateway: NAME, name, identity: notificationUUID };
  if (meaning === undefined || meaning === 'no-change') {
    const reason = meaning ?? 'unknown-event';
    const ref = anyTransaction.safeParse(about).data?.originalTransactionId ?? null;
    return { ...common, ref, claim: NO_CLAIM, report: { kind: 'none', reason } };
  }
  const bought = parsed(transaction, about);
  if (bought.type !== null && bought.type !== SUBSCRIPTION) {
    const ref = bought.originalTransactionId;
    return { ...common, ref, claim: NO_CLAIM, report: { kind: 'none', reason: 'no-change' } };
  }
  const grace = texts.renewal === null ? null : parsed(renewal, contentOf(texts.renewal));
  return {
    ...common,
    ref: bought.originalTransactionId,
    claim: claimOf(bought),
    report: {
      kind: 'state',
      word: wordOf(meaning, bought),
      at: signedDate,
      startedAt: bought.originalPurchaseDate,
      expiresAt: endOf(name, meaning, bought, grace?.gracePeriodExpiresDate ?? null),
      quantity: bought.quantity ?? 1,
      productId: bought.productId,
    },
  };
}

const meaningOf = (name: string): Meaning | undefined =>
  Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;

const NO_CLAIM: Claim = { subscriptionId: null, slot: null };

type StateWord = Extract<Report, { readonly kind: 'state' }>['word'];

function wordOf(meaning: Exclude<Meaning, 'no-change'>, { offerDiscountType }: Transaction): StateWord {
  if (meaning !== 'by-offer') return meaning;
  return offerDiscountType === FREE_OFFER ? 'trialing' : 'paid';
}

function endOf(
  name: string,
  meaning: Meaning,
  { expiresDate, revocationDate }: Transaction,
  graceEnds: Instant | null,
): Instant | null {
  if (meaning === 'ended') return revocationDate ?? expiresDate;
  return (name === IN_GRACE ? graceEnds : null) ?? expiresDate;
}

/**
 * The one thing that Apple carries along from a purchase is `appAccountToken`. It is the id of the subscription that was
 * started for it, or, where none was, of the customer.
 */
function claimOf({ appAccountToken: token, bundleId, productId }: Transaction): Claim {
  if (token === null) return NO_CLAIM;
  return {
    subscriptionId: token,
    slot: { appId: bundleId, ownerType: 'user', ownerId: token, sku: productId },
  };
}

export function showEvent(body: Uint8Array): object {
  const texts = signedTextsIn(body);
  return {
    notification: contentOf(texts.notification),
    transaction: texts.transaction === null ? null : contentOf(texts.transaction),
    renewal: texts.renewal === null ? null : contentOf(texts.renewal),
  };
}
