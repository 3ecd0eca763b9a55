import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';
import { QUEUE_OF_REQUEST } from '../queues/jobs.ts';
import { freePort } from '../src/embedded/free-port.ts';
import type { Bench } from './bench.ts';
import type { Measured } from './figures.ts';
import { median, medianRatio, percentile } from './figures.ts';
import type { Ground } from './ground.ts';
import { dueMembers, dueRecordOf } from './members.ts';
import { waitFor } from './scheduled-run.ts';
import type { Site } from './site.ts';
import { openSite } from './site.ts';

const ROUNDS = 3;
const RECORDS = 200;
const QUEUE = QUEUE_OF_REQUEST.MANUAL_REPAYMENT;
const TOKEN = 'token-of-the-bench';

/** More would overflow the queue of a listening socket, and the time would be that of TCP's second try. */
const CONNECTIONS = 250;

/** Short: a job that finds a member busy looks again after the lease, and the bench waits for all of them. */
const SHORT_LEASE = { LOCK_LEASE_MS: '3000', LOCK_HEARTBEAT_MS: '250', PROCESSOR_TIMEOUT_MS: '1000' };

interface Order {
  readonly path: string;
  readonly key: string | null;
}

interface Burst {
  readonly perS: number;
  readonly p99Ms: number;
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<number, number>>;
}

/**
 * A thousand payments by hand at once for two hundred records, beside a handler that only enqueues; then, which members
 * were charged.
 */
export async function measurePay({ ground, say }: Bench): Promise<Measured> {
  const site = await openSite(ground);
  const [api, bare] = await Promise.all([apiPort(ground, site), barePort(ground, site)]);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    const rounds: { readonly api: Burst; readonly bare: Burst }[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const taken = await takeTurns(site, agent, { api, bare }, round % 2 === 0);
      // The first one warms both up and opens the connections.
      if (round === 0) continue;
      rounds.push(taken);
      say(`round ${round}: api ${taken.api.perS.toFixed(0)}/s, bare ${taken.bare.perS.toFixed(0)}/s`);
    }
    const rates = (who: 'api' | 'bare'): number[] => rounds.map((round) => round[who].perS);
    return {
      pay_per_s: median(rates('api')),
      bare_pay_per_s: median(rates('bare')),
      pay_to_bare: medianRatio(rates('api'), rates('bare')),
      pay_p99_ms: median(rounds.map((round) => round.api.p99Ms)),
      bare_pay_p99_ms: median(rounds.map((round) => round.bare.p99Ms)),
      pay_most_charges: await mostCharges({ ground, site, agent, api, say }),
    };
  } finally {
    agent.destroy();
    await site.close();
  }
}

async function takeTurns(
  site: Site,
  agent: Agent,
  ports: { readonly api: number; readonly bare: number },
  apiFirst: boolean,
): Promise<{ readonly api: Burst; readonly bare: Burst }> {
  const { orders } = await newOrders(site);
  const turn = async (port: number): Promise<Burst> => {
    const burst = await fire(agent, port, orders);
    if (burst.statuses[202] !== orders.length)
      throw new Error(`not all were accepted: ${JSON.stringify(burst.statuses)}`);
    await site.redis.flushdb();
    return burst;
  };
  // Which one goes first changes with every round.
  if (apiFirst) return { api: await turn(ports.api), bare: await turn(ports.bare) };
  const bare = await turn(ports.bare);
  return { bare, api: await turn(ports.api) };
}

/** Five for each record, in turns: two under one key, one under another, two without. */
async function newOrders(
  site: Site,
): Promise<{ readonly orders: readonly Order[]; readonly ids: ReadonlySet<string> }> {
  const members = dueMembers(RECORDS);
  await site.settle(members);
  const records = members.map((member) => {
    const { userId, subscriptionId } = dueRecordOf(member);
    const [same, other] = [randomUUID(), randomUUID()];
    const path = `/v1/${userId}/subscriptions/${subscriptionId}/pay`;
    return { subscriptionId, orders: [same, null, other, same, null].map((key) => ({ path, key })) };
  });
  const turns = [0, 1, 2, 3, 4].flatMap((turn) =>
    records.flatMap(({ orders }) => orders.slice(turn, turn + 1)),
  );
  return { orders: turns, ids: new Set(records.map(({ subscriptionId }) => subscriptionId)) };
}

async function fire(agent: Agent, port: number, orders: readonly Order[]): Promise<Burst> {
  const beganMs = performance.now();
  const answers = await Promise.all(
    orders.map(async (order) => {
      const status = await post(agent, port, order);
      return { status, ms: performance.now() - beganMs };
    }),
  );
  const elapsedMs = performance.now() - beganMs;
  const statuses: Record<number, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  const latencies = answers.map(({ ms }) => ms);
  return { perS: (orders.length * 1_000) / elapsedMs, p99Ms: percentile(latencies, 99), statuses };
}

async function post(agent: Agent, port: number, { path, key }: Order): Promise<number> {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    ...(key === null ? {} : { 'idempotency-key': key }),
  };
  const sent = request({ agent, host: '127.0.0.1', port, path, method: 'POST', headers });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode ?? 0;
}

interface Charging {
  readonly ground: Ground;
  readonly site: Site;
  readonly agent: Agent;
  readonly api: number;
  readonly say: Bench['say'];
}

/** The same burst while a worker carries it out. Some are refused, because the charge that another asked for was quicker. */
async function mostCharges({ ground, site, agent, api, say }: Charging): Promise<number> {
  const worker = await ground.worker({ ...site.environment, ...SHORT_LEASE, QUEUES: QUEUE });
  try {
    const { orders, ids } = await newOrders(site);
    const { statuses } = await fire(agent, api, orders);
    await waitFor('all payments are dealt with', async () =>
      (await site.queues.isDrained(QUEUE)) ? true : null,
    );
    const charges = await chargesOf(ground, ids);
    say(
      `${charges.length} of ${RECORDS} records were charged, answers by status ${JSON.stringify(statuses)}`,
    );
    if (charges.length !== RECORDS) throw new Error('a record that somebody paid for was not charged');
    return Math.max(...charges);
  } finally {
    await worker.stop();
  }
}

/** How often each of the records was debited that were debited at all. */
async function chargesOf({ bankUrl }: Ground, ids: ReadonlySet<string>): Promise<number[]> {
  const counts = new Map<string, number>();
  for (let after: number | null = 0; after !== null;) {
    const answer = await fetch(`${bankUrl}/ledger?effect=debit&limit=5000&after=${after}`);
    const page = (await answer.json()) as { entries: { reference_id: string }[]; next: number | null };
    for (const { reference_id: id } of page.entries) counts.set(id, (counts.get(id) ?? 0) + 1);
    after = page.next;
  }
  return [...counts].filter(([id]) => ids.has(id)).map(([, count]) => count);
}

/** The API as it is in life. */
async function apiPort(ground: Ground, site: Site): Promise<number> {
  const port = await freePort();
  const env = {
    ...site.environment,
    PORT: String(port),
    API_TOKENS: `bench:service:${TOKEN}`,
    API_RATE_PER_MINUTE: '1000000',
    LOG_LEVEL: 'info',
  };
  await ground.start('../src/api/main.js', { env, upWhen: { says: 'api is up' } });
  return port;
}

async function barePort(ground: Ground, site: Site): Promise<number> {
  const port = await freePort();
  const env = { ...site.environment, PORT: String(port) };
  await ground.start('./bare-pay-main.js', { env, upWhen: 'message' });
  return port;
}
