import type { Instant } from '../domain/instant.ts';
import type { UserId } from '../domain/subscription.ts';
import type { Write } from './transaction.ts';
import type { PageKey } from './subscriptions.ts';

/** Where events come from. Their order is promised within one stream, never between two. */
export const EVENT_STREAMS = ['users', 'payments'] as const;
export type EventStream = (typeof EVENT_STREAMS)[number];

/** Where in its stream an event stood. Sequence numbers are compared as big integers. */
export interface EventPosition {
  readonly stream: EventStream;
  readonly shardId: string;
  readonly sequence: string;
}

/** An event as it was received. It never changes: storing it again writes the same. */
export interface InboxEvent extends EventPosition {
  readonly userId: UserId;
  /** The same event delivered twice has the same identity, at whatever position. */
  readonly identity: string;
  readonly type: string;
  /** The event's `data`, as it came; its handler checks it. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly receivedAt: Instant;
}

export type EventRef = Pick<InboxEvent, 'stream' | 'userId' | 'sequence'>;

/** What applying an event came to, in the words of the job's return value. */
export interface EventOutcome {
  readonly result: 'changed' | 'no-op';
  readonly reason: string;
  /** The records that it changed. */
  readonly changed: readonly string[];
}

export type Quarantined = EventPosition & {
  readonly quarantineId: string;
  readonly reason: string;
  readonly at: Instant;
  /** Null where the record could not be read far enough to tell. */
  readonly event: InboxEvent | null;
  /** What came, where it could not be read: base64. */
  readonly raw: string | null;
};

export interface QuarantinePage {
  readonly items: readonly Quarantined[];
  readonly nextKey: PageKey | null;
}

/**
 * Each user's events in the order of their stream, until they are applied. An event is stored here before the stream's
 * checkpoint moves past it; jobs are only hints that can be written again from here.
 */
export interface Inbox {
  /** Repeatable, in any number. */
  store(events: readonly InboxEvent[]): Promise<void>;
  /** Consistent: the user's first event of that stream that is neither applied nor in quarantine. */
  earliest(stream: EventStream, userId: UserId): Promise<InboxEvent | null>;
  get(ref: EventRef): Promise<InboxEvent | null>;
  /** Whether an event of this identity was applied before. */
  wasApplied(event: InboxEvent): Promise<EventOutcome | null>;
  /** Goes along with the change that the event makes: applied once, with it or not at all. */
  applied(event: InboxEvent, outcome: EventOutcome, at: Instant): readonly Write[];
  /** For an event that changes nothing. */
  saveApplied(event: InboxEvent, outcome: EventOutcome, at: Instant): Promise<void>;
  /** Counts a failed try and gives how many there were. Survives Redis. */
  countTry(event: InboxEvent, error: string): Promise<number>;
  /** Later events of the user go on; automatic paths wait for somebody. */
  quarantine(event: InboxEvent, reason: string, at: Instant): Promise<void>;
  /** What cannot even be read as an event. */
  quarantineRaw(position: EventPosition, raw: Uint8Array, reason: string, at: Instant): Promise<void>;
  /** Events that were stored before `before` and are not applied yet: their jobs may be lost. */
  waiting(
    before: Instant,
    key: PageKey | null,
  ): Promise<{ events: readonly InboxEvent[]; nextKey: PageKey | null }>;
}

/** What an operator does with what is in quarantine. */
export interface Quarantine {
  list(key: PageKey | null): Promise<QuarantinePage>;
  get(quarantineId: string): Promise<Quarantined | null>;
  /** Back into the inbox, to be applied again. */
  release(item: Quarantined): Promise<void>;
  /** Given up. Who and why stays on record. */
  drop(
    item: Quarantined,
    by: { readonly who: string; readonly reason: string; readonly at: Instant },
  ): Promise<void>;
  /** Events of the same user and stream that came later and were applied. */
  appliedAfter(item: Quarantined): Promise<readonly { readonly type: string; readonly sequence: string }[]>;
}
