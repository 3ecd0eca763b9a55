import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Claim, GatewayEvent, Report } from '../../../domain/gateways/gateway-event.ts';
import { canBePart } from '../../../domain/gateways/gateway-event.ts';
import type { GatewayName } from '../../../domain/gateways/subscription.ts';
import { instant } from '../../codecs.ts';
import { withoutPersonalData } from '../../logging/personal-data.ts';
import { jsonOf, optional, parsed } from '../json-body.ts';
import type { Meaning } from './events.ts';
import { ENDS, EVENTS, STATUSES, WORDS } from './events.ts';

export const NAME = 'lemonsqueezy' as GatewayName;

const part = z.string().refine(canBePart, 'letters, digits, dashes and underscores');
/** A program that builds a checkout may write ids as numbers. */
const text = z.union([z.string(), z.number()]).transform(String).pipe(z.string().min(1).max(256));
const date = optional(instant);

/** Its digest must fit beside it. */
const eventName = part.max(60);

const envelope = z.object({
  meta: z.object({
    event_name: eventName,
    custom_data: optional(
      z.object({
        app_id: optional(text),
        user_id: optional(text),
        sku: optional(text),
        subscription_id: optional(text),
      }),
    ),
  }),
});

const about = z.object({ data: z.object({ type: z.string(), id: text }) });

const subscription = z.object({
  data: z.object({
    id: text.pipe(part),
    attributes: z.object({
      status: z.enum(STATUSES),
      product_id: optional(text),
      created_at: date,
      updated_at: instant,
      trial_ends_at: date,
      renews_at: date,
      ends_at: date,
      first_subscription_item: optional(z.object({ quantity: optional(z.int().min(1)) })),
    }),
  }),
});

const invoice = z.object({
  data: z.object({
    attributes: z.object({ subscription_id: text.pipe(part), updated_at: instant }),
  }),
});

type Envelope = z.output<typeof envelope>;

/** Reads what was signed, never the headers: those could have been changed on the way. */
export function readEvent(body: Uint8Array): GatewayEvent {
  const json = jsonOf(body);
  const { meta } = parsed(envelope, json);
  const name = meta.event_name;
  const meaning = Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;
  const digest = createHash('sha256').update(body).digest('hex');
  return { gateway: NAME, name, identity: `${name}-${digest}`, ...contentOf(json, meta, meaning) };
}

function contentOf(
  json: unknown,
  meta: Envelope['meta'],
  meaning: Meaning | undefined,
): Pick<GatewayEvent, 'ref' | 'claim' | 'report'> {
  switch (meaning) {
    case 'state': {
      const { id, attributes } = parsed(subscription, json).data;
      return {
        ref: id,
        claim: claimOf(meta),
        report: stateOf(attributes),
      };
    }
    case 'payment-failed':
    case 'payment-made': {
      const { subscription_id: ref, updated_at: at } = parsed(invoice, json).data.attributes;
      return { ref, claim: claimOf(meta), report: { kind: 'payment', word: meaning, at } };
    }
    case 'no-change':
      return { ref: refIn(json), claim: claimOf(meta), report: { kind: 'none', reason: 'no-change' } };
    case undefined:
      return {
        ref: refIn(json),
        claim: claimOf(meta),
        report: { kind: 'none', reason: 'unknown-event' },
      };
  }
}

/** Of an event that says nothing: so that it is found beside the others of its subscription. */
function refIn(json: unknown): string | null {
  const { data: found } = about.safeParse(json);
  if (found?.data.type === 'subscriptions' && canBePart(found.data.id)) return found.data.id;
  return invoice.safeParse(json).data?.data.attributes.subscription_id ?? null;
}

function claimOf({ custom_data: custom }: Envelope['meta']): Claim {
  if (custom === null) return { subscriptionId: null, slot: null };
  const { app_id: appId, user_id: ownerId, sku, subscription_id: subscriptionId } = custom;
  const isWhole = appId !== null && ownerId !== null && sku !== null;
  return { subscriptionId, slot: isWhole ? { appId, ownerType: 'user', ownerId, sku } : null };
}

function stateOf(attributes: z.output<typeof subscription>['data']['attributes']): Report {
  const { status, created_at: startedAt, updated_at: at, first_subscription_item: item } = attributes;
  const ends = ENDS[status].map((field) => attributes[field]).find((end) => end !== null);
  return {
    kind: 'state',
    word: WORDS[status],
    at,
    startedAt,
    expiresAt: ends ?? null,
    quantity: item?.quantity ?? 1,
    productId: attributes.product_id,
  };
}

/** Anybody with one of these links or keys can use them; a customer's name and card are not for operators. */
const HIDDEN = new Set([
  'urls',
  'key',
  'user_name',
  'user_email',
  'name',
  'email',
  'card_brand',
  'card_last_four',
]);

export function showEvent(body: Uint8Array): object {
  const said = jsonOf(body);
  const whole = typeof said === 'object' && said !== null ? said : { body: said };
  // First, because it ends at a depth: the rest may go as deep as it likes.
  return withoutHidden(withoutPersonalData(whole)) as object;
}

function withoutHidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHidden);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !HIDDEN.has(key));
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutHidden(each)]));
}
