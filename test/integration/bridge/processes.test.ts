import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { SHORT_TIMES } from '../../support/bridges.ts';
import type { EventStreamBench } from '../../support/event-stream.ts';
import { eventStream } from '../../support/event-stream.ts';
import { closedPort, eventually } from '../../support/processes.ts';
import { sharedStack } from '../../support/stack.ts';

const BRIDGE = fileURLToPath(new URL('../../support/bridge-process.mjs', import.meta.url));
const USERS = Array.from({ length: 20 }, (_, index) => `user-${index}`);
const ROUNDS = 5;

let store: BillingStore;
let users: EventStreamBench;
let payments: EventStreamBench;
const children: ChildProcess[] = [];

beforeAll(async () => {
  [store, users, payments] = await Promise.all([billingStore(), eventStream(2), eventStream(1)]);
});
afterAll(async () => {
  const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  await Promise.all(
    running.map((child) => {
      child.kill('SIGKILL');
      return once(child, 'exit');
    }),
  );
  users.close();
  payments.close();
  await store.drop();
});

interface BridgeProcess {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** How many events it has stored. */
  stored(): number;
}

async function bridgeProcess(): Promise<BridgeProcess> {
  const { tables } = store;
  const child = fork(BRIDGE, {
    env: {
      PATH: process.env['PATH'],
      // Nobody answers there: what is stored does not depend on Redis.
      REDIS_URL: `redis://127.0.0.1:${await closedPort()}`,
      AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
      AWS_ENDPOINT_URL_KINESIS: sharedStack().kinesisUrl,
      BILLING_TABLE: tables.billing,
      HISTORY_TABLE: tables.history,
      LOCKS_TABLE: tables.locks,
      PIPELINE_TABLE: tables.pipeline,
      USERS_STREAM: users.name,
      PAYMENTS_STREAM: payments.name,
      LOCK_LEASE_MS: '2000',
      LOCK_HEARTBEAT_MS: '200',
      BRIDGE_TIMES: JSON.stringify(SHORT_TIMES),
    },
    execArgv: [],
    silent: true,
  });
  children.push(child);
  let output = '';
  let stored = 0;
  let isUp = false;
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-100_000)));
  child.on('message', (message: { up?: boolean; stored?: number }) => {
    isUp ||= message.up === true;
    stored += message.stored ?? 0;
  });
  await eventually('the bridge is up', () => {
    if (child.exitCode !== null) throw new Error(`the bridge ended: ${output}`);
    return isUp;
  });
  return { child, output: () => output, stored: () => stored };
}

/** What is in the inbox of each user, in its order. */
async function inboxes(): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const pages = paginateScan(
    { client: store.client },
    {
      TableName: store.tables.pipeline,
      ConsistentRead: true,
      FilterExpression: 'begins_with(pk, :inbox)',
      ExpressionAttributeValues: { ':inbox': { S: 'INBOX#users#' } },
    },
  );
  const items = [];
  for await (const { Items = [] } of pages) items.push(...Items);
  items.sort((a, b) => (a['sk']!.S! < b['sk']!.S! ? -1 : 1));
  for (const item of items) {
    const user = item['pk']!.S!.slice('INBOX#users#'.length);
    const { n } = JSON.parse(item['data']!.S!) as { n: number };
    found.set(user, [...(found.get(user) ?? []), n]);
  }
  return found;
}

// That nothing is lost when one of several is killed is shown up to the records, in pipeline/streams-to-records.test.ts.
describe('a bridge process without Redis', () => {
  it('stores every event in the order of its user, and stops in peace', async () => {
    const bridge = await bridgeProcess();
    const { child } = bridge;
    for (let n = 0; n < ROUNDS; n += 1) {
      const event = (user: string) => ({
        id: `${user}-${n}`,
        type: 'PAYNOW',
        source: 'test',
        data: { user_id: user, n },
      });
      await users.put(USERS.map((user) => ({ key: user, data: JSON.stringify(event(user)) })));
    }
    await eventually('every event is stored', () => bridge.stored() >= USERS.length * ROUNDS);
    const inOrder = Array.from({ length: ROUNDS }, (_, n) => n);
    await eventually('the last of them are there', async () => {
      const counts = [...(await inboxes()).values()].map(({ length }) => length);
      return counts.reduce((sum, count) => sum + count, 0) >= USERS.length * ROUNDS;
    });
    expect(await inboxes()).toEqual(new Map(USERS.map((user) => [user, inOrder])));
    child.kill('SIGTERM');
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, bridge.output()]).toEqual([0, expect.stringContaining('stopped')]);
  });
});
