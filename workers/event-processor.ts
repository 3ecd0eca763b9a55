import { DelayedError } from 'bullmq';
import { eventJob } from '../queues/jobs.ts';
import type { EventJob } from '../queues/jobs.ts';
import { backoffMs } from '../queues/options.ts';
import { lockKeyOfEvent } from '../src/app/payment-event.ts';
import { whileLocked } from '../src/app/while-locked.ts';
import { msOf } from '../src/domain/instant.ts';
import { MalformedEventError, UnknownRecordError, UnpricedTierError } from '../src/errors.ts';
import type { EventOutcome, InboxEvent } from '../src/ports/inbox.ts';
import type { PastSighting, Sighting } from '../src/ports/lock.ts';
import { lookAgainSoon, pastSighting } from './busy-lock.ts';
import type { WorkerContext } from './context.ts';
import type { Processor, TakenJob } from './job.ts';
import { dataOf } from './job.ts';
import { delay, putOff, reasonOf } from './put-off.ts';

export type EventContext = Pick<WorkerContext, 'inbox' | 'queues' | 'redis' | 'log'> & {
  readonly collect: Pick<WorkerContext['collect'], 'locks' | 'clock'>;
};

export type ApplyEvent = (
  event: InboxEvent,
  seen: PastSighting | undefined,
) => Promise<{ readonly outcome: EventOutcome } | { readonly busy: Sighting }>;

/** So often an event may fail for a reason of its own before it waits for an operator. */
const EVENT_TRIES = 3;
/** A record that an event speaks of may not have been written yet; for so long it is waited for. */
const UNKNOWN_RECORD_MS = 15 * 60_000;
const BETWEEN_LOOKS_MS = 30_000;
const DEALT_WITH = { result: 'no-op', reason: 'dealt-with' } as const;

/**
 * One event, when it is its user's turn: the earliest that is not done. So the order holds across tries, crashes and
 * workers, and no event waits for another user's.
 */
export function eventProcessor(context: EventContext, apply: ApplyEvent): Processor {
  return async (taken) => {
    const data = dataOf(eventJob, taken.job);
    try {
      return await inTurn(context, taken, data, apply);
    } catch (error) {
      await putOff(context, taken, error, Number.POSITIVE_INFINITY);
      throw error;
    }
  };
}

async function inTurn(
  context: EventContext,
  taken: TakenJob,
  data: EventJob,
  apply: ApplyEvent,
): Promise<unknown> {
  const { inbox, queues } = context;
  const first = await inbox.earliest(data.stream, data.userId);
  if (first !== null && isEarlier(first, data)) await awaitTurn(context, taken, data);
  if (first?.sequence !== data.sequence) {
    // The worker that was through with it may have died before calling the next.
    if (first !== null) await queues.ensureEvent(first);
    return DEALT_WITH;
  }
  const outcome = await attempt(context, taken, { data, event: first, apply });
  const next = await inbox.earliest(data.stream, data.userId);
  if (next !== null) await queues.ensureEvent(next);
  return outcome;
}

const isEarlier = (one: Pick<InboxEvent, 'sequence'>, other: Pick<InboxEvent, 'sequence'>): boolean =>
  BigInt(one.sequence) < BigInt(other.sequence);

/**
 * The worker that finishes the one before calls this one. It looks by itself as well, for when that call is lost, and
 * the more seldom the longer it waits: where many events of a user wait, their looks must not keep the store from the
 * one that they wait for.
 */
async function awaitTurn(
  { inbox, queues, log }: EventContext,
  taken: TakenJob,
  data: EventJob,
): Promise<never> {
  const { job, token } = taken;
  await job.moveToDelayed(Date.now() + backoffMs(job.attemptsStarted), token);
  try {
    // The one before may have ended since we looked, and found this job at work instead of waiting for its call.
    const first = await inbox.earliest(data.stream, data.userId);
    if (first?.sequence === data.sequence) await queues.ensureEvent(first);
  } catch (error) {
    log.warn({ jobId: job.id, err: error }, 'an event could not call itself; it looks again by itself');
  }
  throw new DelayedError();
}

interface Turn {
  readonly data: EventJob;
  readonly event: InboxEvent;
  readonly apply: ApplyEvent;
}

async function attempt(
  context: EventContext,
  taken: TakenJob,
  { data, event, apply }: Turn,
): Promise<unknown> {
  const seen = await pastSighting(context, data.seen);
  let result: Awaited<ReturnType<ApplyEvent>>;
  try {
    result = await apply(event, seen);
  } catch (error) {
    // A lock that is busy and a dependency that is down are not the event's fault, however long it takes.
    await putOff(context, taken, error, Number.POSITIVE_INFINITY);
    return afterFailure(context, taken, { data, event }, error);
  }
  // Outside the try: if Redis has lost the job, putting it off throws, and that is no failed try of the event.
  return 'outcome' in result ? result.outcome : lookAgainSoon(context, taken, data.seen, result.busy);
}

async function afterFailure(
  context: EventContext,
  taken: TakenJob,
  turn: Pick<Turn, 'data' | 'event'>,
  error: unknown,
): Promise<unknown> {
  const { inbox, log, collect } = context;
  const { event } = turn;
  const { userId, stream, sequence, type } = event;
  const isHopeless = error instanceof MalformedEventError || error instanceof UnpricedTierError;
  if (error instanceof UnknownRecordError) {
    const ageMs = msOf(collect.clock.now()) - msOf(event.receivedAt);
    if (ageMs < UNKNOWN_RECORD_MS) return delay(taken, BETWEEN_LOOKS_MS);
  } else if (!isHopeless) {
    const tries = await inbox.countTry(event, reasonOf(error));
    log.warn({ userId, stream, sequence, type, tries, err: error }, 'an event failed');
    if (tries < EVENT_TRIES) return delay(taken, backoffMs(tries));
  }
  return quarantine(context, taken, turn, error);
}

/** Under the lock: no run or request decides between the flag that goes and the mark that comes. */
async function quarantine(
  context: EventContext,
  taken: TakenJob,
  { data, event }: Pick<Turn, 'data' | 'event'>,
  error: unknown,
): Promise<unknown> {
  const { inbox, collect, log } = context;
  const { userId, stream, sequence, type } = event;
  const seen = await pastSighting(context, data.seen);
  const result = await whileLocked(collect.locks, { key: lockKeyOfEvent(event), seen }, async () => {
    const reason = error instanceof Error ? error.message : String(error);
    await inbox.quarantine(event, reason, collect.clock.now());
    log.error(
      { alarm: 'quarantine', userId, stream, sequence, type, err: error },
      'an event waits for somebody',
    );
    return { result: 'quarantined', reason: reasonOf(error) };
  });
  return 'busy' in result ? lookAgainSoon(context, taken, data.seen, result.busy) : result;
}
