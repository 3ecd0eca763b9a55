import type { Instant } from '../domain/instant.ts';
import { plusMs } from '../domain/instant.ts';
import type { Clock } from '../ports/clock.ts';
import type { Inbox, InboxEvent } from '../ports/inbox.ts';
import type { Log } from '../ports/log.ts';
import type { PageKey } from '../ports/subscriptions.ts';

export interface InboxSweepDependencies {
  readonly inbox: Pick<Inbox, 'waiting' | 'flagged' | 'liftFlag'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes sure that the event has a job. Harmless where it has one. */
  readonly ensure: (event: InboxEvent) => Promise<void>;
}

/** What arrived within this time has its job for sure, or is about to get it. */
const YOUNG_MS = 60_000;

/**
 * Gives a job to every stored event that may have lost its own, and lifts flags that nobody lifted after the event.
 * Gives how many events there were.
 */
export async function sweepInbox(dependencies: InboxSweepDependencies): Promise<number> {
  const before = plusMs(dependencies.clock.now(), -YOUNG_MS);
  const found = await sweepEvents(dependencies, before);
  await sweepFlags(dependencies, before);
  return found;
}

async function sweepEvents({ inbox, log, ensure }: InboxSweepDependencies, before: Instant): Promise<number> {
  let found = 0;
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof inbox.waiting>> = await inbox.waiting(before, key);
    for (const error of page.unreadable) log.error({ err: error }, 'an event in the inbox cannot be read');
    for (const event of page.events) await ensure(event);
    found += page.events.length;
    key = page.nextKey;
  } while (key !== null);
  return found;
}

async function sweepFlags({ inbox, log }: InboxSweepDependencies, before: Instant): Promise<void> {
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof inbox.flagged>> = await inbox.flagged(before, key);
    for (const error of page.unreadable) log.error({ err: error }, 'a flag of a member cannot be read');
    for (const userId of page.userIds) await inbox.liftFlag(userId);
    key = page.nextKey;
  } while (key !== null);
}
