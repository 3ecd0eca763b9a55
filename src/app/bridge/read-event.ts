import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import { MEMBERSHIP_EVENTS } from '../../domain/memberships/membership-event.ts';
import type { OwnedUsers } from '../../domain/ownership.ts';
import { owns } from '../../domain/ownership.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { EventPosition, EventStream, InboxEvent } from '../../ports/inbox.ts';
import { EVENT_LIMITS } from '../../ports/inbox.ts';

/** The types that concern us, by stream. Other types in a stream are for other services. */
const EVENT_TYPES: Readonly<Record<EventStream, readonly string[]>> = {
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

/** Half of a surrogate pair is written as another character: two ids could become one. */
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);
const id = z.string().min(1).refine(isWellFormed);

const envelope = z.object({
  id,
  type: z.string(),
  source: z.string(),
  time: z.string().optional(),
  data: z.looseObject({ user_id: id }),
});
const typeOnly = z.object({ type: z.string() });
const userOnly = z.object({ data: z.object({ user_id: z.unknown() }) });

export type ReadEvent =
  | { readonly fate: 'stored'; readonly event: InboxEvent }
  | { readonly fate: 'other-type' | 'not-owned' }
  /** `userId`: the user that its data name, if they can be read so far. */
  | { readonly fate: 'quarantined'; readonly reason: string; readonly userId: UserId | null };

interface Reading {
  readonly owned: OwnedUsers;
  readonly receivedAt: Instant;
}

/**
 * Reads a record as an event. Pure, so that what is in quarantine can be read again later. Never throws: one unforeseen
 * record would stop its shard for ever.
 */
export function readEvent(position: EventPosition, data: Uint8Array, reading: Reading): ReadEvent {
  const content = parseJson(data);
  if (content === undefined) return { fate: 'quarantined', reason: 'not JSON', userId: null };
  try {
    return readContent(position, content, reading);
  } catch (error) {
    return unreadable(content, `not readable: ${(error as Error).name}`);
  }
}

/** The text as a user's id, if it can be one. */
export const userIdFrom = (text: unknown): UserId | null =>
  id.safeParse(text).success && bytesOf(text as string) <= EVENT_LIMITS.idBytes ? (text as UserId) : null;

function readContent(position: EventPosition, content: unknown, { owned, receivedAt }: Reading): ReadEvent {
  const typed = typeOnly.safeParse(content);
  if (typed.success && !EVENT_TYPES[position.stream].includes(typed.data.type)) return { fate: 'other-type' };
  const parsed = envelope.safeParse(content);
  if (!parsed.success) return unreadable(content, `not an event: ${fieldsOf(parsed.error)}`);
  const { type, data: payload } = parsed.data;
  const userId = payload.user_id as UserId;
  if (!owns(owned, userId)) return { fate: 'not-owned' };
  const identity = identityOf(position.stream, parsed.data.id, type);
  if (isDeeperThan(payload, EVENT_LIMITS.dataLevels)) return unreadable(content, 'nested too deeply');
  if (isTooLarge(userId, identity, payload)) return unreadable(content, 'too large');
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

function unreadable(content: unknown, reason: string): ReadEvent {
  const named = userOnly.safeParse(content);
  return { fate: 'quarantined', reason, userId: userIdFrom(named.data?.data.user_id) };
}

/** A payment's events all carry its confirmation id: only together with the type do they tell two events apart. */
const identityOf = (stream: EventStream, eventId: string, type: string): string =>
  stream === 'payments' ? `${eventId}#${type}` : eventId;

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isDeeperThan(each, levels - 1)));

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

/** Names of fields only: the values are a member's. */
const fieldsOf = (error: z.ZodError): string =>
  [...new Set(error.issues.map(({ path }) => path.join('.') || 'no object'))].join(', ');
