import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { plusDays } from '../../../src/domain/instant.ts';
import { requestIdOf } from '../../../src/domain/request-id.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Reply } from '../../support/api.ts';
import { API_TOKENS, caller } from '../../support/api.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import type { HoldPoint, RoleProcess } from '../../support/role-process.ts';
import { roleProcess } from '../../support/role-process.ts';

let system: Pipeline;
const processes: RoleProcess[] = [];

beforeAll(async () => {
  system = await pipeline({ LOCK_LEASE_MS: '4000' });
  await system.worker();
});
afterAll(async () => {
  await Promise.all(processes.map((one) => one.kill()));
  await system.close();
});

async function apiProcess(holdPoints: readonly HoldPoint[] = []): Promise<RoleProcess> {
  const env = { ...system.environment, API_TOKENS, PORT: '0', API_RATE_PER_MINUTE: '100000' };
  const running = await roleProcess('api', env, holdPoints);
  processes.push(running);
  return running;
}

/** Something that moves money, asked for under one key. */
interface Wish {
  readonly record: StoredSubscription;
  readonly path: string;
  readonly key: string;
  readonly body: object;
  readonly status: number;
  /** What moves at the bank for this member, all in all. */
  readonly debits: number;
  readonly credits: number;
}

const KINDS = {
  async pay(): Promise<Wish> {
    const record = await system.here.member();
    const path = `subscriptions/${record.subscriptionId}/pay`;
    return { record, path, key: keyFor(record), body: {}, status: 202, debits: 1, credits: 0 };
  },
  async refund(): Promise<Wish> {
    const born = await system.here.member();
    expect(await system.here.collect('INITIAL', born)).toMatchObject({ verdict: 'collected' });
    const record = await system.here.row(born);
    const path = `subscriptions/${record.subscriptionId}/refund`;
    const body = { reason: 'sorry' };
    return { record, path, key: keyFor(record), body, status: 202, debits: 1, credits: 1 };
  },
  async upgrade(): Promise<Wish> {
    const billingDate = plusDays(TICK, 35);
    const record = await system.here.member({}, { billingDate });
    const body = { tier: 'Plus', version: 'v1', amount: '5.83' };
    const path = 'subscriptions/upgrade';
    return { record, path, key: keyFor(record), body, status: 200, debits: 1, credits: 0 };
  },
} as const;
type Kind = keyof typeof KINDS;

const keyFor = ({ subscriptionId }: StoredSubscription): string => `once-${subscriptionId}`;

const send = ({ url }: RoleProcess, { record, path, key, body }: Wish): Promise<Reply> =>
  caller(url)('POST', `/v1/${record.userId}/${path}`, { body, headers: { 'idempotency-key': key } });

type Place = (wish: Wish) => HoldPoint;

const key =
  (nth: number, when: HoldPoint['when']): Place =>
  (wish) => ({
    command: 'PutItemCommand',
    text: `IDEMPOTENCY#${createHash('sha256')
      .update(JSON.stringify(['operator-name', wish.key]))
      .digest('hex')}`,
    nth,
    when,
  });
const change =
  (nth: number, when: HoldPoint['when']): Place =>
  ({ record }) => ({ command: 'TransactWriteItemsCommand', text: record.userId, nth, when });
const order: Place = (wish) => ({
  command: 'PutItemCommand',
  text: requestIdOf('pay', 'operator-name', wish.key),
  nth: 1,
  when: 'after',
});

/** Where each kind dies. The three of a round die with the same process. */
const ROUNDS: Readonly<Record<string, Readonly<Record<Kind, Place>>>> = {
  'before anything is promised': {
    pay: key(1, 'after'),
    refund: key(1, 'after'),
    upgrade: key(1, 'after'),
  },
  'when it is promised': { pay: order, refund: change(1, 'after'), upgrade: change(1, 'after') },
  'when it is carried out, or handed over, and nobody has written it down': {
    pay: key(2, 'before'),
    refund: change(2, 'before'),
    upgrade: change(2, 'before'),
  },
  'when all is written down but the answer': {
    pay: key(2, 'after'),
    refund: change(2, 'after'),
    upgrade: change(2, 'after'),
  },
};

async function moved({ record: { userId } }: Wish): Promise<{ debits: number; credits: number }> {
  const page = (await system.here.bank('GET', `/ledger?limit=5000&user_id=${userId}`)) as {
    entries: { user_id?: string; effect?: string }[];
  };
  const count = (effect: string): number =>
    page.entries.filter((entry) => entry.user_id === userId && entry.effect === effect).length;
  return { debits: count('debit'), credits: count('credit') };
}

const isPaid = ({ record }: Wish): Promise<true> =>
  eventually('it is paid', async () => (await system.here.row(record)).billingStatus === 'COMPLETED');

async function expectAnswer(from: RoleProcess, wish: Wish): Promise<void> {
  // The dead process still holds the member's lock for a while.
  const reply = await eventually(`${wish.path} is answered`, async () => {
    const told = await send(from, wish);
    return (told.body as { code?: string }).code !== 'user-busy' && told;
  });
  expect(reply).toMatchObject({ status: wish.status });
  const again = await send(from, wish);
  expect([again.status, again.body]).toEqual([reply.status, reply.body]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
}

/** A process of its own comes to all three places, and is killed there. */
async function killedAt(places: Readonly<Record<Kind, Place>>): Promise<Record<Kind, Wish>> {
  const wishes = { pay: await KINDS.pay(), refund: await KINDS.refund(), upgrade: await KINDS.upgrade() };
  const kinds = Object.keys(wishes) as Kind[];
  const process = await apiProcess(kinds.map((kind) => places[kind](wishes[kind])));
  const answered: string[] = [];
  const ends = kinds.map((kind) =>
    send(process, wishes[kind]).then(
      ({ status, body }) => void answered.push(`${kind}: ${status} ${JSON.stringify(body)}`),
      () => undefined,
    ),
  );
  await eventually('all stand still', () => {
    expect(answered).toEqual([]);
    return process.held() === kinds.length;
  });
  await process.kill();
  await Promise.all(ends);
  expect(answered).toEqual([]);
  return wishes;
}

it('an API process that is killed anywhere in the middle has moved money once when it was asked again', async () => {
  const rounds: (readonly [string, Record<Kind, Wish>])[] = [];
  for (const [where, places] of Object.entries(ROUNDS)) rounds.push([where, await killedAt(places)]);

  const restarted = await apiProcess();
  // At once: most of it is waiting until the dead are known to be dead.
  const wishes = rounds.flatMap(([, round]) => Object.values(round));
  await Promise.all(wishes.map((wish) => expectAnswer(restarted, wish)));

  for (const [where, { pay, refund, upgrade }] of rounds) {
    await isPaid(pay);
    for (const wish of [pay, refund, upgrade]) {
      const { path, debits, credits } = wish;
      expect([where, path, await moved(wish)]).toEqual([where, path, { debits, credits }]);
    }
    const attempts = await system.here.dependencies.pipeline.attemptsOn(refund.record.subscriptionId);
    expect(attempts.filter(({ refundOf }) => refundOf !== null)).toMatchObject([
      { refundOf: refund.record.transactionId, resolution: {} },
    ]);
    expect(await system.here.row(upgrade.record)).toMatchObject({
      billingAmount: 999,
      receiptTierName: 'Plus:v1',
    });
    expect(await system.here.partition(upgrade.record.userId)).toHaveLength(2);
  }
  expect(await system.audit()).toEqual([]);
});
