import { setTimeout as sleep } from 'node:timers/promises';
import type { EventJob } from '../queues/jobs.ts';
import { QUEUE_OF_STREAM } from '../queues/jobs.ts';
import type { BareDone, BareWork } from './bare-bridge-main.ts';
import type { Bench } from './bench.ts';
import type { Child } from './child.ts';
import type { Measured } from './figures.ts';
import { median, medianRatio, percentile } from './figures.ts';
import type { SentEvent } from './lag.ts';
import { countByShard, lagsOf } from './lag.ts';
import { lastEventMs, waitFor } from './scheduled-run.ts';
import type { Site } from './site.ts';
import { openSite } from './site.ts';
import type { UsersStream } from './users-stream.ts';
import { strangers, usersStream } from './users-stream.ts';

const ROUNDS = 5;
const EVENTS = 4_000;
/** Held up while the other takers have their turn, the bridge must find its shards its own when it goes on. */
const LEASE_MS = 600_000;

const STEADY_PER_S = 500;
const STEADY_S = 15;
const PUTS_PER_S = 10;

const QUEUE = QUEUE_OF_STREAM.users;

interface Place {
  readonly site: Site;
  readonly stream: UsersStream;
  /** The bridge as it is in life, held up except in its turns. */
  readonly bridge: Child;
  readonly bare: Child;
}

interface Turn {
  readonly perS: number;
  readonly cpuMs: number;
}

/** In each round the same events of the same stream are taken by each of these, one after the other. */
const TURNS = {
  bridge: bridgeTurn,
  bare: (place: Place, sent: readonly SentEvent[]) => bareTurn(place, sent, { stores: false }),
  storing: (place: Place, sent: readonly SentEvent[]) => bareTurn(place, sent, { stores: true }),
} as const;
type Taker = keyof typeof TURNS;
type Round = Record<Taker, Turn>;
const TAKERS = Object.keys(TURNS) as Taker[];

/** How many events a bridge takes over in a second, and how far it is behind when they come steadily. */
export async function measureBridge({ ground, say }: Bench): Promise<Measured> {
  const site = await openSite(ground);
  const environment = { ...site.environment, LOCK_LEASE_MS: String(LEASE_MS) };
  const stream = usersStream(ground);
  const bridge = await ground.bridge(environment);
  const bare = await ground.start('./bare-bridge-main.js', {
    env: { ...environment, USERS_STREAM: stream.name },
    upWhen: 'message',
  });
  const place = { site, stream, bridge, bare };
  try {
    await bridge.hold();
    await takeTurns(place, TAKERS);
    const rounds: Round[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      // Tables grow and neighbours come: which taker goes first changes with every round.
      const order = TAKERS.map((_, index) => TAKERS[(index + round) % TAKERS.length] as Taker);
      const taken = await takeTurns(place, order);
      rounds.push(taken);
      say(
        `round ${round}: ${TAKERS.map((taker) => `${taker} ${taken[taker].perS.toFixed(0)}/s`).join(', ')}`,
      );
    }
    bridge.letGo();
    return { ...figuresOf(rounds), ...(await measureLag(place, say)) };
  } finally {
    await Promise.all([bridge.stop(), bare.stop()]);
    stream.close();
    await site.close();
  }
}

function figuresOf(rounds: readonly Round[]): Measured {
  const rates = (taker: Taker): number[] => rounds.map((round) => round[taker].perS);
  const cpuMs = (taker: Taker): number => median(rounds.map((round) => round[taker].cpuMs));
  return {
    bridge_per_s: median(rates('bridge')),
    bare_per_s: median(rates('bare')),
    bridge_to_bare: medianRatio(rates('bridge'), rates('bare')),
    storing_per_s: median(rates('storing')),
    bridge_to_storing: medianRatio(rates('bridge'), rates('storing')),
    bridge_cpu_ms_per_event: cpuMs('bridge'),
    bare_cpu_ms_per_event: cpuMs('bare'),
  };
}

async function takeTurns(place: Place, order: readonly Taker[]): Promise<Round> {
  const sent = await place.stream.put(strangers(EVENTS));
  const turns: Partial<Round> = {};
  for (const taker of order) {
    turns[taker] = await TURNS[taker](place, sent);
    await place.site.redis.flushdb();
  }
  return turns as Round;
}

/** From the moment at which it may read to the last job added, which comes after all is stored. */
async function bridgeTurn({ site, bridge }: Place, sent: readonly SentEvent[]): Promise<Turn> {
  const beganMs = Date.now();
  bridge.letGo();
  const before = await bridge.usage();
  await allEnqueued(site, sent.length);
  const elapsedMs = (await lastEventMs(site.redis, site.queues.get(QUEUE), 'added')) - beganMs;
  const after = await bridge.usage();
  await bridge.hold();
  return { perS: (sent.length * 1_000) / elapsedMs, cpuMs: (after.cpuMs - before.cpuMs) / sent.length };
}

async function bareTurn(
  { bare }: Place,
  sent: readonly SentEvent[],
  { stores }: Pick<BareWork, 'stores'>,
): Promise<Turn> {
  const work: BareWork = { events: countByShard(sent), stores };
  const { elapsedMs, cpuMs } = await bare.ask<BareDone>(work);
  return { perS: (sent.length * 1_000) / elapsedMs, cpuMs: cpuMs / sent.length };
}

const allEnqueued = ({ queues }: Site, count: number): Promise<true> =>
  waitFor('all events have their jobs', async () =>
    (await queues.get(QUEUE).getJobCountByTypes('waiting')) >= count ? true : null,
  );

/**
 * The emulator always says that nothing is left to read. So the lag is taken from the clock of this machine: a job knows
 * when it was made, which the bridge does as soon as the event is stored.
 */
async function measureLag({ site, stream }: Place, say: Bench['say']): Promise<Measured> {
  const beganMs = Date.now();
  const sent = await putSteadily(stream);
  await allEnqueued(site, sent.length);
  const jobs = await site.queues.get(QUEUE).getWaiting(0, -1);
  const stored = jobs.map(({ data, timestamp }) => ({ ...(data as EventJob), storedAtMs: timestamp }));
  const lags = lagsOf(sent, stored);
  const perS = (endMs: number): number => (sent.length * 1_000) / (endMs - beganMs);
  const part = Math.ceil(lags.length / 5);
  const [first, last] = [median(lags.slice(0, part)), median(lags.slice(-part))];
  say(`lag of the first fifth ${first.toFixed(0)} ms, of the last ${last.toFixed(0)} ms`);
  return {
    steady_put_per_s: perS(Math.max(...sent.map(({ answeredAtMs }) => answeredAtMs))),
    steady_stored_per_s: perS(Math.max(...stored.map(({ storedAtMs }) => storedAtMs))),
    bridge_lag_ms_at_500: median(lags),
    bridge_lag_p99_ms_at_500: percentile(lags, 99),
  };
}

/** By the clock, not by the answers: a producer that waits for a slow stream would hide the lag. */
async function putSteadily(stream: UsersStream): Promise<SentEvent[]> {
  const beganMs = performance.now();
  const puts: Promise<SentEvent[]>[] = [];
  for (let put = 0; put < STEADY_S * PUTS_PER_S; put += 1) {
    await sleep(Math.max(0, beganMs + (put * 1_000) / PUTS_PER_S - performance.now()));
    puts.push(stream.put(strangers(STEADY_PER_S / PUTS_PER_S)));
  }
  return (await Promise.all(puts)).flat();
}
