import type { OwnedUsers } from '../../domain/ownership.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventStream, Inbox, InboxEvent } from '../../ports/inbox.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordFate } from '../../ports/metrics.ts';
import { readEvent } from './read-event.ts';
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

/** Puts the records of one stream into the inbox. What cannot be read goes to quarantine and holds nobody up. */
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
        await inbox.quarantineRaw(position, record.data, verdict.reason, clock.now());
        log.warn({ ...position, reason: verdict.reason }, 'a record cannot be read as an event');
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
