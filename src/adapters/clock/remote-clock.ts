import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import { parseInstant, plusNanos } from '../../domain/instant.ts';
import { ServiceDownError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import { systemTimer } from '../system-timer.ts';
import type { ClockSource } from './clock-source.ts';
import { systemClock } from './system-clock.ts';

/** How long one question stays with the sandbox while its clock is not moved. */
const WAIT_MS = 30_000;
const ANSWER_LIMIT_MS = 10_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

const answer = z.object({
  now: z.string().transform((text, context) => {
    const instant = parseInstant(text);
    if (instant === null) context.addIssue('no instant');
    return instant ?? z.NEVER;
  }),
  frozen: z.boolean(),
  version: z.number(),
});

interface Reading extends z.infer<typeof answer> {
  /** The machine's own time when the answer arrived. */
  readonly heardAt: Instant;
}

/**
 * The sandbox's time, told without asking it each time: the machine's time plus what the sandbox's is ahead, or the
 * instant at which it was frozen. The way of an answer is not taken off, so this clock may be late by that way, a
 * millisecond on one machine, and is never ahead of the sandbox.
 */
class RemoteClock implements Clock {
  private reading: Reading;

  constructor(reading: Reading) {
    this.reading = reading;
  }

  get version(): number {
    return this.reading.version;
  }

  now(): Instant {
    const { now, frozen } = this.reading;
    return frozen ? now : plusNanos(systemClock.now(), ahead(this.reading));
  }

  set(reading: Reading): void {
    this.reading = reading;
  }

  /** Of two answers about an unmoved clock the one that travelled faster is right. Time does not step back for the other. */
  refine(reading: Reading): void {
    if (ahead(reading) > ahead(this.reading)) this.reading = reading;
  }
}

const ahead = ({ now, heardAt }: Reading): bigint => now - heardAt;

/**
 * Follows the clock at `url`, the sandbox's `/clock`. Fails when it does not answer now; later it may go away, and time
 * runs on as last heard until it is back.
 */
export async function openRemoteClock({ url }: { readonly url: string }): Promise<ClockSource> {
  const closing = new AbortController();
  const listeners: (() => void)[] = [];
  const first = await ask(url, null, closing.signal).catch((error: unknown) => {
    throw new ServiceDownError('the clock at CLOCK_URL does not answer', { cause: error });
  });
  const clock = new RemoteClock(first);
  const following = follow(url, clock, closing.signal, () => {
    // Not called from here: a listener that throws must not end the following of the clock.
    for (const listener of listeners) queueMicrotask(listener);
  });
  return {
    clock,
    onChange: (listener) => {
      listeners.push(listener);
    },
    close: async () => {
      closing.abort();
      await following;
    },
  };
}

async function follow(
  url: string,
  clock: RemoteClock,
  closing: AbortSignal,
  changed: () => void,
): Promise<void> {
  let failures = 0;
  while (!closing.aborted) {
    try {
      const reading = await ask(url, failures > 0 ? null : clock.version, closing);
      // A sandbox that was away may be another, whose versions say nothing about the one before.
      const moved = failures > 0 || reading.version !== clock.version;
      failures = 0;
      if (!moved) clock.refine(reading);
      else {
        clock.set(reading);
        changed();
      }
    } catch {
      await systemTimer.sleep(pauseMs(failures), closing).catch(() => undefined);
      failures += 1;
    }
  }
}

const pauseMs = (failures: number): number => Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);

/** With the version that was seen last, the answer comes when the clock is moved; with null at once. */
async function ask(clockUrl: string, seen: number | null, closing: AbortSignal): Promise<Reading> {
  const url = new URL(clockUrl);
  if (seen !== null) {
    url.searchParams.set('after', String(seen));
    url.searchParams.set('wait_ms', String(WAIT_MS));
  }
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS + (seen === null ? 0 : WAIT_MS));
  const response = await fetch(url, { signal: AbortSignal.any([closing, limit]) });
  const body: unknown = await response.json();
  const heardAt = systemClock.now();
  return { ...answer.parse(body), heardAt };
}
