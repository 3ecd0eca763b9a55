import type { Redis } from 'ioredis';
import { systemTimer } from '../adapters/system-timer.ts';
import type { Health, HealthReport } from '../ports/health.ts';
import type { Log } from '../ports/log.ts';
import type { Timer } from '../ports/timer.ts';
import type { Stores } from './stores.ts';

/** Rejects, or says nothing, when it is down. */
type Answers = () => Promise<unknown>;

export interface Leanings {
  /** Without one of these the process can do nothing. */
  readonly needed: Readonly<Record<string, Answers>>;
  /** Without one of these some things are late. */
  readonly helpful?: Readonly<Record<string, Answers>>;
}

export interface HealthTools {
  readonly log: Log;
  readonly timer?: Timer;
}

/** Shorter than the patience of a probe. */
const PATIENCE_MS = 2_000;
/** However many ask, what we lean on is asked about once a second. */
const FRESH_MS = 1_000;

export const dynamodbAnswers =
  ({ freezes }: Pick<Stores, 'freezes'>): Answers =>
  () =>
    freezes.list();

/** A connection that waits for Redis would keep the question, and all that follow, until it is back. */
export const redisAnswers =
  (redis: Redis): Answers =>
  async () => {
    if (redis.status !== 'ready') throw new Error(`the connection is ${redis.status}`);
    await redis.ping();
  };

/** One process's health: which of the things that it leans on answer. Logs when one goes away or comes back. */
export function watchHealth(
  { needed, helpful = {} }: Leanings,
  { log, timer = systemTimer }: HealthTools,
): Health {
  const down = new Set<string>();
  const look = async (name: string, answers: Answers): Promise<void> => {
    const problem = await problemOf(answers, timer);
    if (problem === null && down.delete(name)) log.info({ dependency: name }, 'a dependency answers again');
    if (problem === null || down.has(name)) return;
    down.add(name);
    log.warn({ dependency: name, err: problem }, 'a dependency does not answer');
  };
  const names = [...Object.keys(needed), ...Object.keys(helpful)];
  const ask = async (): Promise<HealthReport> => {
    await Promise.all(
      Object.entries({ ...needed, ...helpful }).map(([name, answers]) => look(name, answers)),
    );
    const isReady = Object.keys(needed).every((name) => !down.has(name));
    return {
      status: !isReady ? 'not ready' : down.size === 0 ? 'ready' : 'degraded',
      checks: Object.fromEntries(names.map((name) => [name, down.has(name) ? 'down' : 'up'])),
    };
  };
  return whileFresh(ask, timer);
}

async function problemOf(answers: Answers, timer: Timer): Promise<Error | null> {
  const answered = new AbortController();
  const tooLong = timer.sleep(PATIENCE_MS, answered.signal).then(() => new Error('no answer in time'));
  try {
    return await Promise.race([answers().then(() => null), tooLong]);
  } catch (error) {
    return error as Error;
  } finally {
    answered.abort();
    // Woken early it rejects, and nothing awaits it any more.
    void tooLong.catch(() => undefined);
  }
}

/** Probes that ask meanwhile get the same answer. */
function whileFresh<T>(ask: () => Promise<T>, timer: Timer): () => Promise<T> {
  let answer: Promise<T> | null = null;
  let staleAtMs = Infinity;
  const askNow = async (): Promise<T> => {
    staleAtMs = Infinity;
    const value = await ask();
    staleAtMs = timer.elapsedMs() + FRESH_MS;
    return value;
  };
  return () => {
    if (answer === null || timer.elapsedMs() >= staleAtMs) answer = askNow();
    return answer;
  };
}
