import type { Clock } from '../ports/clock.ts';
import type { AppliedEvent, InboxEvent, Quarantine, Quarantined, QuarantinePage } from '../ports/inbox.ts';
import type { LockClient } from '../ports/lock.ts';
import { subscriptionLockKey } from '../ports/lock.ts';
import type { Log } from '../ports/log.ts';
import type { PageKey } from '../ports/subscriptions.ts';
import type { ReadAgain } from './read-again.ts';

export interface ReplayDependencies {
  readonly quarantine: Quarantine;
  readonly locks: LockClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly readAgain: (item: Quarantined) => ReadAgain;
  /** Hands the event to the workers. Only a hint: the sweep makes up for it. */
  readonly enqueue: (event: InboxEvent) => Promise<unknown>;
}

export type Replay =
  | { readonly result: 'replayed'; readonly event: InboxEvent; readonly later: readonly AppliedEvent[] }
  | { readonly result: 'unknown' }
  /** It cannot be read as an event now either. */
  | { readonly result: 'unreadable'; readonly reason: string }
  /** Later events of this user were applied: out of order only with `force`. */
  | { readonly result: 'overtaken'; readonly later: readonly AppliedEvent[] }
  /** Somebody works on this user. Try again. */
  | { readonly result: 'busy' };

/** Everything that is in quarantine, page by page, oldest first. */
export async function* listQuarantine({
  quarantine,
}: Pick<ReplayDependencies, 'quarantine'>): AsyncGenerator<QuarantinePage> {
  let key: PageKey | null = null;
  do {
    const page: QuarantinePage = await quarantine.list(key);
    yield page;
    key = page.nextKey;
  } while (key !== null);
}

/** Puts an event back into its user's inbox, to be applied like one that has just come. */
export async function replayQuarantined(
  dependencies: ReplayDependencies,
  quarantineId: string,
  { force }: { readonly force: boolean },
): Promise<Replay> {
  const item = await dependencies.quarantine.get(quarantineId);
  if (item === null) return { result: 'unknown' };
  const read = dependencies.readAgain(item);
  if (read.event === null) return { result: 'unreadable', reason: read.reason };
  const { event } = read;
  const replay = await underLock(dependencies, event, () => release(dependencies, item, event, force));
  if (replay.result === 'replayed') await handOver(dependencies, event);
  return replay;
}

/** False when there is no such thing in quarantine, or no more. */
export async function dropQuarantined(
  { quarantine, clock }: Pick<ReplayDependencies, 'quarantine' | 'clock'>,
  quarantineId: string,
  by: { readonly who: string; readonly reason: string },
): Promise<boolean> {
  const item = await quarantine.get(quarantineId);
  if (item === null) return false;
  await quarantine.drop(item, { ...by, at: clock.now() });
  return true;
}

/**
 * Whoever decides about a user reads what is in the inbox and what is in quarantine at slightly different moments, and
 * could see the event in neither while it goes from one to the other. They hold the user's lock meanwhile, so we do too.
 */
async function underLock(
  { locks }: ReplayDependencies,
  { userId }: InboxEvent,
  work: () => Promise<Replay>,
): Promise<Replay> {
  const acquired = await locks.acquire(subscriptionLockKey(userId));
  if ('busy' in acquired) return { result: 'busy' };
  try {
    return await work();
  } finally {
    await acquired.lock.release();
  }
}

async function release(
  { quarantine, clock }: ReplayDependencies,
  item: Quarantined,
  event: InboxEvent,
  force: boolean,
): Promise<Replay> {
  const later = await quarantine.appliedAfter(event);
  if (later.length > 0 && !force) return { result: 'overtaken', later };
  await quarantine.release(item, event, clock.now());
  return { result: 'replayed', event, later };
}

async function handOver({ enqueue, log }: ReplayDependencies, event: InboxEvent): Promise<void> {
  try {
    await enqueue(event);
  } catch (error) {
    const { stream, shardId, sequence } = event;
    log.warn({ err: error, stream, shardId, sequence }, 'no job for a replayed event; the sweep adds it');
  }
}
