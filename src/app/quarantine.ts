import { RecordChangedError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { AppliedEvent, InboxEvent, Quarantine, Quarantined, QuarantinePage } from '../ports/inbox.ts';
import type { LockClient } from '../ports/lock.ts';
import type { Log } from '../ports/log.ts';
import { pagesOf } from './pages-of.ts';
import { lockKeyOfEvent } from './payment-event.ts';
import type { ReadAgain } from './read-again.ts';
import { tellWorkers } from './tell-workers.ts';
import { whileLocked } from './while-locked.ts';

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
  | {
      readonly result: 'replayed';
      readonly event: InboxEvent;
      /** What was applied before it although it came later. */
      readonly later: readonly AppliedEvent[];
      /** False: its job could not be added. The sweep adds it. */
      readonly handedOver: boolean;
    }
  /** Nothing of that name is in quarantine, or no more. */
  | { readonly result: 'unknown' }
  /** It cannot be read as an event now either. */
  | { readonly result: 'unreadable'; readonly reason: string }
  /** The same event was delivered once more, and applied or dropped then: this one can only be dropped. */
  | { readonly result: 'dealt-with' }
  /** Later events of this user were applied: out of order only with `force`. */
  | { readonly result: 'overtaken'; readonly later: readonly AppliedEvent[] }
  /** Another process works on this user. Try again. */
  | { readonly result: 'busy' };

export type Drop = { readonly result: 'dropped' | 'unknown' };

/** Everything that is in quarantine, page by page, oldest first. */
export const listQuarantine = ({
  quarantine,
}: Pick<ReplayDependencies, 'quarantine'>): AsyncGenerator<QuarantinePage> =>
  pagesOf((key) => quarantine.list(key));

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
  // A run or request that decides about a user reads the inbox and the quarantine at slightly different moments, and
  // could see the event in neither while it goes from one to the other. It holds the user's lock meanwhile, so we do too.
  const key = lockKeyOfEvent(event);
  const released = await whileLocked(dependencies.locks, { key }, () =>
    release(dependencies, item, event, force),
  );
  if ('busy' in released) return { result: 'busy' };
  if (released.result !== 'released') return released;
  return {
    result: 'replayed',
    event,
    later: released.later,
    handedOver: await handOver(dependencies, event),
  };
}

export async function dropQuarantined(
  { quarantine, clock }: Pick<ReplayDependencies, 'quarantine' | 'clock'>,
  quarantineId: string,
  by: { readonly who: string; readonly reason: string },
): Promise<Drop> {
  const item = await quarantine.get(quarantineId);
  if (item === null) return { result: 'unknown' };
  const dropped = await unlessChanged(() => quarantine.drop(item, { ...by, at: clock.now() }));
  return { result: dropped ? 'dropped' : 'unknown' };
}

type Release =
  | { readonly result: 'released'; readonly later: readonly AppliedEvent[] }
  | Exclude<Replay, { readonly result: 'replayed' }>;

async function release(
  { quarantine, clock }: ReplayDependencies,
  item: Quarantined,
  event: InboxEvent,
  force: boolean,
): Promise<Release> {
  const later = await quarantine.appliedAfter(event);
  if (later.length > 0 && !force) return { result: 'overtaken', later };
  if (await unlessChanged(() => quarantine.release(item, event, clock.now())))
    return { result: 'released', later };
  const isGone = (await quarantine.get(item.quarantineId)) === null;
  return { result: isGone ? 'unknown' : 'dealt-with' };
}

function handOver({ enqueue, log }: ReplayDependencies, event: InboxEvent): Promise<boolean> {
  const { stream, shardId, sequence } = event;
  const untold = 'no job for a replayed event; the sweep adds it';
  return tellWorkers(log, () => enqueue(event), { stream, shardId, sequence }, untold);
}

/** False when another replay or drop was faster. */
async function unlessChanged(decide: () => Promise<void>): Promise<boolean> {
  try {
    await decide();
    return true;
  } catch (error) {
    if (error instanceof RecordChangedError) return false;
    throw error;
  }
}
