import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import { plusDays, sortableText } from '../../domain/instant.ts';
import type { UserId } from '../../domain/subscription.ts';
import type {
  AppliedEvent,
  EventOutcome,
  EventPosition,
  EventRef,
  EventStream,
  InboxEvent,
  Quarantined,
} from '../../ports/inbox.ts';
import { EVENT_LIMITS, EVENT_STREAMS } from '../../ports/inbox.ts';
import { instant } from '../codecs.ts';
import type { PipelineKey } from './item-codec.ts';
import { dueAttributes, read, ttlSeconds, userId, write } from './item-codec.ts';
import { keys } from './pipeline-items.ts';
import type { RawItem } from './raw-item.ts';

/*
 *   INBOX#stream#user    sequence    an event that waits, in the order of its stream
 *   USER#user            MEMBERSHIP  the flag: an event of the users stream waits
 *   USER#user            QUARANTINED the ids of this user's events in quarantine
 *   EVENT#stream#id      DONE        what became of an event, by its identity
 *   APPLIED#stream#user  sequence    the same in the order of the stream
 *   QUARANTINE#id        ITEM        what is, or was, in quarantine
 *   QUARANTINE           time#id     the list of what is
 */

export const INBOX = 'inbox';
export const FLAGS = 'membership-flags';

/** Longer than any stream keeps its records, and so can deliver them again. */
const DONE_DAYS = 60;
/** What an operator decided about an event. */
const DECIDED_DAYS = 365;

export const inboxPartition = (stream: EventStream, id: UserId): string => `INBOX#${stream}#${id}`;
export const appliedPartition = (stream: EventStream, id: UserId): string => `APPLIED#${stream}#${id}`;
export const QUARANTINE_LIST = 'QUARANTINE';

export const inboxKeys = {
  event: ({ stream, userId: id, sequence }: EventRef) => ({
    pk: inboxPartition(stream, id),
    sk: sortableSequence(sequence),
  }),
  done: ({ stream, identity }: Pick<InboxEvent, 'stream' | 'identity'>) => ({
    pk: `EVENT#${stream}#${identity}`,
    sk: 'DONE',
  }),
  applied: ({ stream, userId: id, sequence }: EventRef) => ({
    pk: appliedPartition(stream, id),
    sk: sortableSequence(sequence),
  }),
  quarantine: (quarantineId: string) => ({ pk: `QUARANTINE#${quarantineId}`, sk: 'ITEM' }),
  quarantineList: ({ at, quarantineId }: Pick<Quarantined, 'at' | 'quarantineId'>) => ({
    pk: QUARANTINE_LIST,
    sk: `${sortableText(at)}#${quarantineId}`,
  }),
} as const;

export const quarantineIdOf = ({ stream, shardId, sequence }: EventPosition): string =>
  `${stream}.${shardId}.${sequence}`;

/** Sequence numbers are big integers: with zeros in front the order of the texts is theirs. */
export function sortableSequence(sequence: string): string {
  if (!/^\d+$/.test(sequence) || sequence.length > EVENT_LIMITS.sequenceDigits)
    throw new Error(`not a sequence number of at most ${EVENT_LIMITS.sequenceDigits} digits: ${sequence}`);
  return sequence.padStart(EVENT_LIMITS.sequenceDigits, '0');
}

/** As text: the store's own numbers are not JSON's. */
const json = z.codec(z.string(), z.custom<Readonly<Record<string, unknown>>>(), {
  decode: (text, context) => {
    try {
      return JSON.parse(text) as Record<string, unknown>;
    } catch {
      context.issues.push({ code: 'custom', input: text, message: 'not JSON' });
      return z.NEVER;
    }
  },
  encode: (data) => JSON.stringify(data),
});

const position = z.object({ stream: z.enum(EVENT_STREAMS), shardId: z.string(), sequence: z.string() });
const event = position.extend({
  userId,
  identity: z.string(),
  type: z.string(),
  data: json,
  receivedAt: instant,
}) satisfies z.ZodType<InboxEvent>;

const outcome = z.object({
  result: z.enum(['changed', 'no-op']),
  reason: z.string(),
  changed: z.array(z.string()),
});

/** An event in quarantine is done as well, as long as no operator puts it back: delivered again it must not be applied. */
const DONE_AS = ['applied', 'quarantined', 'dropped'] as const;
const done = z.object({ as: z.enum(DONE_AS), outcome, at: instant, sequence: z.string() });
export type Done = { readonly [K in keyof z.output<typeof done>]: z.output<typeof done>[K] };

const applied = z.object({ type: z.string(), sequence: z.string(), at: instant });
const flag = z.object({ userId, sequence: z.string() });

const QUARANTINE_STATES = ['held', 'released', 'dropped'] as const;
const quarantined = position.extend({
  userId: userId.nullable(),
  quarantineId: z.string(),
  state: z.enum(QUARANTINE_STATES),
  reason: z.string(),
  at: instant,
  event: event.nullable(),
  raw: z.string().nullable(),
  cut: z.boolean(),
});
const quarantineEntry = z.object({ quarantineId: z.string() });

const expiry = (from: Instant, days: number) => ({
  expires_at: ttlSeconds(plusDays(from, days)),
});

const identifying = ({ stream, userId: id, sequence }: EventRef): string => `${stream}.${id}.${sequence}`;

export const inboxItems = {
  event: {
    read: (item: RawItem): InboxEvent => read(event, item),
    write(content: InboxEvent): RawItem {
      assertWithinLimits(content);
      return write(event, content, {
        ...inboxKeys.event(content),
        ...dueAttributes(identifying(content), { list: INBOX, at: content.receivedAt }),
      });
    },
  },
  flag: {
    read: (item: RawItem): UserId => read(flag, item).userId,
    /** Of the newest event that is stored along with it. */
    write: ({ userId: id, sequence, receivedAt }: InboxEvent): RawItem =>
      write(
        flag,
        { userId: id, sequence },
        { ...keys.membership(id), ...dueAttributes(id, { list: FLAGS, at: receivedAt }) },
      ),
  },
  done: {
    read: (item: RawItem): Done => read(done, item),
    write: (
      of: Pick<InboxEvent, 'stream' | 'identity' | 'sequence'>,
      as: Done['as'],
      what: { readonly outcome: EventOutcome; readonly at: Instant },
      changeId?: string,
    ): RawItem =>
      write(
        done,
        {
          as,
          at: what.at,
          sequence: of.sequence,
          outcome: { ...what.outcome, changed: [...what.outcome.changed] },
        },
        { ...inboxKeys.done(of), ...expiry(what.at, DONE_DAYS), changeId },
      ),
  },
  applied: {
    read: (item: RawItem): AppliedEvent => read(applied, item),
    write: (of: InboxEvent, at: Instant): RawItem =>
      write(
        applied,
        { type: of.type, sequence: of.sequence, at },
        { ...inboxKeys.applied(of), ...expiry(at, DONE_DAYS) },
      ),
  },
  quarantined: {
    /** Null when an operator has acted on it. */
    read(item: RawItem): Quarantined | null {
      const { state, ...content } = read(quarantined, item);
      return state === 'held' ? content : null;
    },
    write: (content: Quarantined, changeId: string): RawItem =>
      write(
        quarantined,
        { ...content, state: 'held' },
        { ...inboxKeys.quarantine(content.quarantineId), changeId },
      ),
    writeDecided: (
      content: Quarantined,
      state: 'released' | 'dropped',
      by: { readonly at: Instant; readonly who?: string; readonly reason?: string },
      changeId: string,
    ): RawItem =>
      write(
        quarantined,
        { ...content, state },
        {
          ...inboxKeys.quarantine(content.quarantineId),
          ...expiry(by.at, DECIDED_DAYS),
          decidedAt: sortableText(by.at),
          decidedBy: by.who,
          decidedBecause: by.reason,
          changeId,
        },
      ),
  },
  quarantineEntry: {
    read: (item: RawItem): PipelineKey => inboxKeys.quarantine(read(quarantineEntry, item).quarantineId),
    write: (content: Quarantined): RawItem =>
      write(quarantineEntry, { quarantineId: content.quarantineId }, inboxKeys.quarantineList(content)),
  },
} as const;

/** One event too large would make the store refuse the batch that it is in, again and again. */
function assertWithinLimits({ data, identity, userId: id }: InboxEvent): void {
  if (Buffer.byteLength(JSON.stringify(data)) > EVENT_LIMITS.dataBytes) throw new Error('an event too large');
  for (const text of [identity, id]) {
    if (Buffer.byteLength(text) > EVENT_LIMITS.idBytes) throw new Error('an id too long for a key');
  }
}
