import type { Instant } from '../domain/instant.ts';
import { msOf, plusMs } from '../domain/instant.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventStream, Inbox, InboxEvent, Quarantine } from '../ports/inbox.ts';
import { EVENT_STREAMS } from '../ports/inbox.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import { pagesOf } from './pages-of.ts';

export interface InboxSweepDependencies {
  readonly inbox: Pick<Inbox, 'waiting' | 'flagged' | 'liftFlag'>;
  readonly quarantine: Pick<Quarantine, 'size'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'inboxOldest' | 'quarantineSize'>;
  /** Makes sure that the event has a job. Harmless where it has one. */
  readonly ensure: (event: InboxEvent) => Promise<void>;
}

/** What arrived within this time has its job for sure, or is about to get it. */
const YOUNG_MS = 60_000;

/**
 * Gives a job to every stored event that may have lost its own, and lifts flags that a worker left behind when it died
 * after the event. Tells how long events wait and how many are in quarantine. Gives how many events there were.
 */
export async function sweepInbox(dependencies: InboxSweepDependencies): Promise<number> {
  const { clock, quarantine, metrics } = dependencies;
  metrics.quarantineSize(await quarantine.size());
  const now = clock.now();
  const before = plusMs(now, -YOUNG_MS);
  const waits = new Map<EventStream, number>(EVENT_STREAMS.map((stream) => [stream, 0]));
  const noteWait = ({ stream, receivedAt }: InboxEvent): void =>
    void waits.set(stream, Math.max(waits.get(stream) ?? 0, msOf(now) - msOf(receivedAt)));
  try {
    const found = await sweepEvents(dependencies, before, noteWait);
    await sweepFlags(dependencies, before);
    return found;
  } finally {
    // Also when no job can be added: that is when they wait long.
    for (const [stream, ms] of waits) metrics.inboxOldest(stream, ms);
  }
}

async function sweepEvents(
  { inbox, log, ensure }: InboxSweepDependencies,
  before: Instant,
  noteWait: (event: InboxEvent) => void,
): Promise<number> {
  let found = 0;
  for await (const page of pagesOf((key) => inbox.waiting(before, key))) {
    for (const error of page.unreadable) log.error({ err: error }, 'an event in the inbox cannot be read');
    page.events.forEach(noteWait);
    for (const event of page.events) await ensure(event);
    found += page.events.length;
  }
  return found;
}

async function sweepFlags({ inbox, log }: InboxSweepDependencies, before: Instant): Promise<void> {
  for await (const page of pagesOf((key) => inbox.flagged(before, key))) {
    for (const error of page.unreadable) log.error({ err: error }, 'a flag of a member cannot be read');
    for (const userId of page.userIds) await inbox.liftFlag(userId);
  }
}
