import type { OwnedUsers } from '../../domain/ownership.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventStream, Inbox, InboxEvent } from '../../ports/inbox.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordFate } from '../../ports/metrics.ts';
import { readEvent, userIdFrom } from './read-event.ts';
import type { Deliver } from './shard-reader.ts';

export type { RecordFate };

export interface ReceiveDependencies {
  readonly inbox: Pick<Inbox, 'store' | 'quarantineRaw'>;
  readonly clock: Clock;
  readonly owned: OwnedUsers;
  /** Jobs for what was stored. Only hints: the sweep makes up for what fails. */
  readonly enqueue: (events: readonly InboxEvent[]) => Promise<void>;
  readonly count: (stream: EventStream, fate: RecordFate) => void;
  readonly log: Log;
}

/** Puts the records of one stream into the inbox. What cannot be read goes to quarantine and does not hold up the shard. */
export const receiveEvents =
  (dependencies: ReceiveDependencies, stream: EventStream): Deliver<Uint8Array> =>
  async (shardId, records) => {
    const { inbox, clock, owned, enqueue, count, log } = dependencies;
    const events: InboxEvent[] = [];
    for (const record of records) {
      const position = { stream, shardId, sequence: record.sequence };
      const verdict = readEvent(position, record.data, { owned, receivedAt: clock.now() });
      if (verdict.fate === 'stored') events.push(verdict.event);
      if (verdict.fate === 'quarantined') {
        // A record's key is its user's id, also where nothing else of it can be read.
        const unreadable = { ...position, userId: verdict.userId ?? userIdFrom(record.partitionKey) };
        await inbox.quarantineRaw(unreadable, record.data, verdict.reason, clock.now());
        const { reason } = verdict;
        log.error({ alarm: 'quarantine', ...unreadable, reason }, 'a record cannot be read as an event');
      }
      count(stream, verdict.fate);
    }
    if (events.length === 0) return;
    await inbox.store(events);
    await enqueue(events).catch((error: unknown) =>
      log.warn(
        { err: error, stream, shardId, events: events.length },
        'no jobs for events; the sweep adds them',
      ),
    );
  };
