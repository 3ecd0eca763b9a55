import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import type { ChangeEvent } from '../../../src/domain/change-event.ts';
import type { SubscriptionId, UserId } from '../../../src/domain/subscription.ts';
import { ConfigurationError } from '../../../src/errors.ts';
import { startBridges } from '../../../workers/bridges/start-bridges.ts';
import golden from '../../golden/billing-rows-written-by-go.json' with { type: 'json' };
import type { Item } from '../../support/billing-store.ts';
import { SHORT_TIMES } from '../../support/bridges.ts';
import type { FeederBench, Mishap } from '../../support/feeders.ts';
import { checkpointOf, feederBench } from '../../support/feeders.ts';
import { eventually } from '../../support/processes.ts';
import { at, subscription } from '../../support/records.ts';

let here: FeederBench;
beforeEach(async () => {
  here = await feederBench(2);
});
afterEach(() => here.close());

const DAY = '2026-12-01T06:00:00Z';
const stamp = (index: number): string => `2026-11-16T08:00:00.${String(index).padStart(8, '0')}1Z`;
const row = (userId: string, index: number, fields: Item = {}): Item => ({
  user_id: { S: userId },
  billing_date: { S: DAY },
  subscription_id: { S: `sub-of-${userId}` },
  last_run_date: { S: stamp(index) },
  billing_status: { S: 'SCHEDULED' },
  updated_event: { S: '' },
  ...fields,
});
const idOf = (userId: string, index: number): string => `sub-of-${userId}${stamp(index)}`;
const eventsOf = (events: readonly ChangeEvent[], userId: string): ChangeEvent[] =>
  events.filter(({ data }) => data['user_id'] === userId);
const publishedFor = (userId: string, count: number): Promise<ChangeEvent[]> =>
  eventually(`${count} events of ${userId}`, async () => {
    const events = eventsOf(await here.published(), userId);
    return events.length >= count && events;
  });

const users = Array.from({ length: 8 }, (_, index) => `user-${index}`);
const CHANGES = 12;
const changes = Array.from({ length: CHANGES }, (_, index) => index);
const writeAll = async (): Promise<void> => {
  for (const index of changes)
    await Promise.all(users.map((user) => here.store.putBillingRow(row(user, index))));
};
/** The changes of each user as they were published, by their number. */
async function published(): Promise<Map<string, number[]>> {
  const events = await here.published();
  return new Map(
    users.map((user) => {
      const ids = changes.map((index) => idOf(user, index));
      return [user, eventsOf(events, user).map(({ id }) => ids.indexOf(id))];
    }),
  );
}
const allPublished = () =>
  eventually('every change of every user', async () => {
    const found = await published();
    return [...found.values()].every((numbers) => new Set(numbers).size === CHANGES) && found;
  });
const withoutRepetitions = (numbers: readonly number[]): number[] =>
  numbers.filter((number, index) => number !== numbers[index - 1]);

describe('a change of a billing record', () => {
  it('is published with the record as it is stored; a removal is not', async () => {
    await here.feeder();
    const user = randomUUID();
    await here.store.putBillingRow(row(user, 1));
    await here.store.putBillingRow(
      row(user, 2, { billing_week: { NULL: true }, pause_duration_months: { N: '3' } }),
    );
    await here.store.removeBillingRow(user, at(DAY));
    await here.store.putBillingRow(row(user, 4, { billing_status: { S: 'COMPLETED' } }));
    const common = { user_id: user, billing_date: DAY, subscription_id: `sub-of-${user}`, updated_event: '' };
    const event = (index: number, fields: object) => ({
      id: idOf(user, index),
      type: 'subscription-updated',
      source: 'SubscriptionService',
      data: { ...common, last_run_date: stamp(index), ...fields },
    });
    expect(await publishedFor(user, 3)).toEqual([
      event(1, { billing_status: 'SCHEDULED' }),
      event(2, { billing_status: 'SCHEDULED', billing_week: null, pause_duration_months: 3 }),
      event(4, { billing_status: 'COMPLETED' }),
    ]);
  });

  it('is published once under the updated_event that it set, also when the record moves later', async () => {
    await here.feeder();
    const { store } = here;
    const userId = randomUUID() as UserId;
    const subscriptionId = randomUUID() as SubscriptionId;
    const fence = await store.takeLock(userId);
    const born = await store.subscriptions.add(
      fence,
      subscription({ userId, subscriptionId }),
      await store.context(userId, { cause: 'plan-changed' }),
    );
    const support = () => store.context(userId, { cause: 'support-changed' });
    const paused = { ...born, billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED' } as const;
    const [stopped] = await store.subscriptions.addAll(
      fence,
      [paused],
      await store.context(userId, { cause: 'membership-paused' }),
    );
    const touched = await store.subscriptions.adminUpdate(
      fence,
      stopped!,
      { ...stopped!, pauseDurationMonths: 2 },
      await support(),
    );
    const moved = await store.subscriptions.adminUpdate(
      fence,
      touched,
      { ...touched, billingDate: at('2026-12-24T06:00:00Z') },
      await support(),
    );
    await store.subscriptions.adminUpdate(
      fence,
      moved,
      { ...moved, updatedEvent: 'UNPAUSE' },
      await support(),
    );
    const events = await publishedFor(userId, 5);
    expect(events.map(({ type }) => type)).toEqual([
      'subscription-updated',
      'SUB_PAUSED',
      'subscription-updated',
      'subscription-updated',
      'UNPAUSE',
    ]);
    expect(events[3]?.data).toMatchObject({
      billing_date: '2026-12-24T06:00:00Z',
      updated_event: 'SUB_PAUSED',
    });
    const history = await store.historyRows(userId);
    expect(events.map(({ id }) => id)).toEqual(
      history.map((item) => subscriptionId + item['last_run_date']!.S!),
    );
  });

  it('by the Go service is published like ours', async () => {
    await here.feeder();
    for (const item of golden.rows as unknown as Item[]) {
      await here.store.putBillingRow(item);
      const [event] = await publishedFor(item['user_id']!.S!, 1);
      expect(Object.keys(event!.data).toSorted()).toEqual(Object.keys(item).toSorted());
      expect(event!.id).toBe(item['subscription_id']!.S! + item['last_run_date']!.S!);
    }
  });

  it('that cannot be told holds nobody up, and an odd one is told as it is', async () => {
    const user = randomUUID();
    const withoutId = Object.entries(row(user, 1)).filter(([name]) => name !== 'subscription_id');
    await here.store.putBillingRow(Object.fromEntries(withoutId));
    await here.store.putBillingRow(row(user, 2, { billing_amount: { N: '12345678901234567890' } }));
    await here.feeder();
    const [event] = await publishedFor(user, 1);
    expect(event).toMatchObject({ id: idOf(user, 2), data: { billing_amount: '12345678901234567890' } });
    await eventually('the checkpoint moves', () => checkpointOf(here));
    expect(eventsOf(await here.published(), user)).toHaveLength(1);
  });

  it('is left to the other side when the user is theirs', async () => {
    await here.store.putBillingRow(row('user-1', 1));
    await here.feeder(undefined, { OWNED_USERS: 'none' });
    await eventually('the checkpoint moves', () => checkpointOf(here));
    expect(await here.published()).toEqual([]);
  });
});

describe('the order of the changes of each user', () => {
  it('holds when records are refused and answers are lost', async () => {
    const refusals = new Map<string, number>();
    let requests = 0;
    let mishaps = 0;
    // Each record is refused up to twice, and every fifth request is stored without an answer.
    const mishap: Mishap = (texts) => {
      requests += 1;
      const refused = texts.map((text, index) => {
        const left = refusals.get(text) ?? (requests + index) % 3;
        refusals.set(text, left - 1);
        return left > 0;
      });
      const loseAnswer = requests % 5 === 0;
      if (loseAnswer || refused.includes(true)) mishaps += 1;
      return { refused, loseAnswer };
    };
    await writeAll();
    await here.feeder(mishap);
    const found = await allPublished();
    for (const numbers of found.values()) expect(withoutRepetitions(numbers)).toEqual(changes);
    expect(mishaps).toBeGreaterThan(CHANGES);
  });

  it('holds over a feeder that ends in the middle of a batch, and nothing is lost', async () => {
    await writeAll();
    let requests = 0;
    // From the fifth request on it stores every other record and never says so.
    const first = await here.feeder((texts) => {
      requests += 1;
      return {
        refused: texts.map((_, index) => requests >= 5 && index % 2 === 0),
        loseAnswer: requests >= 5,
      };
    });
    await eventually('it is in the middle', () => requests >= 7);
    await first.stop();
    const middle = await published();
    expect([...middle.values()].some((numbers) => numbers.length > 0)).toBe(true);
    expect([...middle.values()].some((numbers) => new Set(numbers).size < CHANGES)).toBe(true);
    await here.feeder();
    for (const numbers of (await allPublished()).values()) {
      // Whoever begins again says some of it again, but never skips one.
      numbers.forEach((number, index) => {
        expect(number).toBeLessThanOrEqual(Math.max(-1, ...numbers.slice(0, index)) + 1);
      });
    }
  });

  it('holds over a feeder that is stopped and started again while changes come, with nothing said twice', async () => {
    const writing = writeAll();
    const first = await here.feeder();
    await eventually('it is in the middle', async () => (await here.published()).length > users.length);
    await first.stop();
    await writing;
    await here.feeder();
    for (const numbers of (await allPublished()).values()) expect(numbers).toEqual(changes);
  });
});

describe('the bridges process', () => {
  const start = (environment: Record<string, string>, metrics = createMetrics()) =>
    startBridges(
      { ...here.environment, USERS_STREAM: randomUUID(), PAYMENTS_STREAM: randomUUID(), ...environment },
      { log: createLogger({ role: 'test', level: 'silent' }), metrics, times: SHORT_TIMES },
    );

  it('publishes when it is told to, counts what it did, and says how far behind it is', async () => {
    await here.store.putBillingRow(row('user-1', 1));
    await here.store.removeBillingRow('user-1', at(DAY));
    const metrics = createMetrics();
    const lines = async () => (await metrics.text()).split('\n').filter((line) => line.includes('"billing"'));
    const role = await start({ FEEDER_ENABLED: 'true' }, metrics);
    const [event] = await publishedFor('user-1', 1);
    expect(event?.id).toBe(idOf('user-1', 1));
    await eventually('both changes are counted and the lag is told', async () => {
      const shown = (await lines()).join();
      return shown.includes('fate="removed"') && shown.includes('collections_stream_lag_seconds{');
    });
    await role.stop();
    // The lag of a shard that is no longer read went with it.
    expect(await lines()).toEqual([
      'collections_stream_records_total{stream="billing",fate="published"} 1',
      'collections_stream_records_total{stream="billing",fate="removed"} 1',
    ]);
    expect(await checkpointOf(here)).not.toBeNull();
  });

  it('refuses a table whose changes it could not tell, and only when it is told to', async () => {
    const BILLING_TABLE = here.store.tables.history;
    await expect(start({ FEEDER_ENABLED: 'true', BILLING_TABLE })).rejects.toThrow(ConfigurationError);
    const role = await start({ BILLING_TABLE });
    await role.stop();
  });
});
