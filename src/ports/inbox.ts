import type { Instant } from '../domain/instant.ts';
import type { UserId } from '../domain/subscription.ts';
import type { Write } from './transaction.ts';
import type { PageKey } from './subscriptions.ts';

/** Where events come from. Their order is promised within one stream, never between two. */
export const EVENT_STREAMS = ['users', 'payments'] as const;
export type EventStream = (typeof EVENT_STREAMS)[number];

/**
 * What the store can keep of an event. A record beyond it is no event for us: it goes to quarantine as it came, so that
 * it does not stop its shard.
 */
export const EVENT_LIMITS = {
  /** Of `data` as JSON, in UTF-8. The store's items end at 400 KB. */
  dataBytes: 256 * 1024,
  /** Of the user's id and of the identity each, in UTF-8: they are parts of keys. */
  idBytes: 512,
  /** Of objects and lists within each other in `data`: much deeper, and writing them as JSON fails. */
  dataLevels: 64,
  /** Kinesis uses 56 digits. */
  sequenceDigits: 64,
} as const;

/** Where in its stream an event stood. Sequence numbers are compared as big integers. */
export interface EventPosition {
  readonly stream: EventStream;
  readonly shardId: string;
  readonly sequence: string;
}

/** A record that cannot be read as an event. */
export interface UnreadableRecord extends EventPosition {
  /** Whose it is, as far as anybody can tell: they may have cancelled with it. */
  readonly userId: UserId | null;
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

export type Quarantined = UnreadableRecord & {
  readonly quarantineId: string;
  readonly reason: string;
  readonly at: Instant;
  /** Null where the record could not be read far enough to tell. */
  readonly event: InboxEvent | null;
  /** What came, where it could not be read: base64. */
  readonly raw: string | null;
  /** Only the beginning of what came could be kept. */
  readonly cut: boolean;
};

export interface QuarantinePage {
  readonly items: readonly Quarantined[];
  /** Items that cannot be read. They are reported and do not hide the others. */
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

export interface WaitingPage {
  readonly events: readonly InboxEvent[];
  /** Items that cannot be read. They are reported and do not hide the others. */
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

export interface FlaggedPage {
  readonly userIds: readonly UserId[];
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/**
 * Each user's events in the order of their stream, until they are applied. An event is stored here before the stream's
 * checkpoint moves past it; jobs are only hints that can be written again from here.
 *
 * A user of whom an event of the `users` stream is stored is flagged, and everything that collects waits for the flag to
 * go (`membershipEvent: 'unapplied'`). When the last such event is dealt with, the flag is lifted.
 */
export interface Inbox {
  /** Repeatable, in any number and from several places. Once it is done, the events are there and their users flagged. */
  store(events: readonly InboxEvent[]): Promise<void>;
  /** Consistent: the user's first event of that stream that is neither applied nor in quarantine. */
  earliest(stream: EventStream, userId: UserId): Promise<InboxEvent | null>;
  /**
   * What became of an event of this identity, if it was dealt with before: applied, or taken out as it is in quarantine or
   * was dropped. Then it was only delivered again: `saveApplied` takes it out of the inbox.
   */
  wasApplied(event: Pick<InboxEvent, 'stream' | 'identity'>): Promise<EventOutcome | null>;
  /**
   * Goes along with the change that the event makes: applied once, with it or not at all. Three items of the transaction.
   * Afterwards, for an event of the `users` stream: `liftFlag`.
   */
  applied(event: InboxEvent, outcome: EventOutcome, at: Instant): readonly Write[];
  /**
   * For an event that changes nothing, or that `wasApplied` told of: what was said before stands. Lifts the flag. Refused
   * if the event was in quarantine and somebody put it back meanwhile: look again.
   */
  saveApplied(event: InboxEvent, outcome: EventOutcome, at: Instant): Promise<void>;
  /** Counts a failed try and gives how many there were. Survives Redis; starts anew when the event is delivered again. */
  countTry(event: InboxEvent, error: string): Promise<number>;
  /**
   * Later events of the user go on; automatic paths wait for somebody. Lifts the flag. Best under the user's lock: then
   * nobody decides between the flag that goes and the mark that comes.
   */
  quarantine(event: InboxEvent, reason: string, at: Instant): Promise<void>;
  /** What cannot even be read as an event. Automatic paths wait for somebody as well. Repeatable. */
  quarantineRaw(record: UnreadableRecord, raw: Uint8Array, reason: string, at: Instant): Promise<void>;
  /** Events that were stored up to `before` and are not applied yet: their jobs may be lost. */
  waiting(before: Instant, key: PageKey | null): Promise<WaitingPage>;
  /** Takes the user's flag away, unless an event of the `users` stream waits. Repeatable at any time. */
  liftFlag(userId: UserId): Promise<void>;
  /** Users who were flagged up to `before`. Whoever applied their last event may have ended before it lifted the flag. */
  flagged(before: Instant, key: PageKey | null): Promise<FlaggedPage>;
}

/** What an operator does with what is in quarantine. */
export interface Quarantine {
  /** How many there are. */
  size(): Promise<number>;
  /** Oldest first. */
  list(key: PageKey | null): Promise<QuarantinePage>;
  get(quarantineId: string): Promise<Quarantined | null>;
  /** The membership events of one user, because of which automatic paths wait. Consistent. */
  ofUser(userId: UserId): Promise<readonly Quarantined[]>;
  /** Back into the inbox, to be applied again, as the event that it is read as now. */
  release(item: Quarantined, event: InboxEvent, at: Instant): Promise<void>;
  /** Given up. Who and why stays on record. */
  drop(
    item: Quarantined,
    by: { readonly who: string; readonly reason: string; readonly at: Instant },
  ): Promise<void>;
  /** Events of the same user and stream that came later and were applied. Consistent. */
  appliedAfter(event: EventRef): Promise<readonly AppliedEvent[]>;
}

export interface AppliedEvent {
  readonly type: string;
  readonly sequence: string;
  readonly at: Instant;
}
