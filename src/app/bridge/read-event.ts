import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import { MEMBERSHIP_EVENTS } from '../../domain/memberships/membership-event.ts';
import type { OwnedUsers } from '../../domain/ownership.ts';
import { owns } from '../../domain/ownership.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { EventPosition, EventStream, InboxEvent } from '../../ports/inbox.ts';
import { EVENT_LIMITS } from '../../ports/inbox.ts';

/** The types that concern us, by stream. Whatever else is in a stream is somebody else's. */
export const EVENT_TYPES: Readonly<Record<EventStream, readonly string[]>> = {
  users: MEMBERSHIP_EVENTS,
  payments: [
    'SUBSCRIPTION_COMPLETED',
    'SUBSCRIPTION_RETURNED',
    'SUBSCRIPTION_REFUNDED',
    'SUBSCRIPTION_CHARGED_BACK',
    'FLOAT_DEBIT_COMPLETED',
    'FLOAT_DEBIT_RETURNED',
    'FLOAT_CREDIT_RETURNED',
  ],
};

const envelope = z.object({
  id: z.string().min(1),
  type: z.string(),
  source: z.string(),
  time: z.string().optional(),
  data: z.looseObject({ user_id: z.string().min(1) }),
});
const typeOnly = z.object({ type: z.string() });

export type ReadEvent =
  | { readonly fate: 'stored'; readonly event: InboxEvent }
  | { readonly fate: 'other-type' | 'not-owned' }
  | { readonly fate: 'quarantined'; readonly reason: string };

/** Reads a record as an event. Pure, so that what is in quarantine can be read again later. */
export function readEvent(
  position: EventPosition,
  data: Uint8Array,
  { owned, receivedAt }: { readonly owned: OwnedUsers; readonly receivedAt: Instant },
): ReadEvent {
  const content = parseJson(data);
  if (content === undefined) return { fate: 'quarantined', reason: 'not JSON' };
  const typed = typeOnly.safeParse(content);
  if (typed.success && !EVENT_TYPES[position.stream].includes(typed.data.type)) return { fate: 'other-type' };
  const parsed = envelope.safeParse(content);
  if (!parsed.success) return { fate: 'quarantined', reason: `not an event: ${fieldsOf(parsed.error)}` };
  const { id, type, data: payload } = parsed.data;
  const userId = payload.user_id as UserId;
  if (!owns(owned, userId)) return { fate: 'not-owned' };
  const identity = identityOf(position.stream, id, type);
  if (isTooLarge(userId, identity, payload)) return { fate: 'quarantined', reason: 'too large' };
  const event = {
    ...position,
    userId,
    identity,
    type,
    data: payload,
    receivedAt,
  };
  return { fate: 'stored', event };
}

/** A payment's events all carry its confirmation id: only together with the type do they tell two events apart. */
const identityOf = (stream: EventStream, id: string, type: string): string =>
  stream === 'payments' ? `${id}#${type}` : id;

const isTooLarge = (userId: UserId, identity: string, payload: object): boolean =>
  bytesOf(userId) > EVENT_LIMITS.idBytes ||
  bytesOf(identity) > EVENT_LIMITS.idBytes ||
  bytesOf(JSON.stringify(payload)) > EVENT_LIMITS.dataBytes;

const bytesOf = (text: string): number => Buffer.byteLength(text);

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(data)) as unknown;
  } catch {
    return undefined;
  }
}

/** Names of fields only: the values are somebody's. */
const fieldsOf = (error: z.ZodError): string =>
  [...new Set(error.issues.map(({ path }) => path.join('.') || 'no object'))].join(', ');
