import { randomUUID } from 'node:crypto';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoGatewayEvents } from '../../../src/adapters/dynamodb/gateway-events.ts';
import { DynamoGatewaySubscriptions } from '../../../src/adapters/dynamodb/gateway-subscriptions.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { dateOf } from '../../../src/domain/calendar-date.ts';
import { eventIdOf } from '../../../src/domain/gateways/gateway-event.ts';
import type { GatewayStatus } from '../../../src/domain/gateways/status.ts';
import type {
  GatewayName,
  GatewaySubscription,
  GatewaySubscriptionId,
} from '../../../src/domain/gateways/subscription.ts';
import { unheardOf } from '../../../src/domain/gateways/subscription.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import { IllegalTransitionError, RecordChangedError } from '../../../src/errors.ts';
import type { GatewayOutcome, GatewayResult, StoredGatewayEvent } from '../../../src/ports/gateways.ts';
import { impatientTimer } from '../../support/impatient-timer.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Faults } from '../../support/dynamo-faults.ts';
import { injectFaults, loseAnswer, timedOut } from '../../support/dynamo-faults.ts';
import { gatewayTable } from '../../support/gateway-table.ts';
import { at } from '../../support/records.ts';

let store: BillingStore;
let table: Awaited<ReturnType<typeof gatewayTable>>;
let subscriptions: DynamoGatewaySubscriptions;
let events: DynamoGatewayEvents;
let faults: Faults;

const NOW = at('2026-11-16T08:00:00.000000001Z');
const GATEWAY = 'lemonsqueezy' as GatewayName;

beforeAll(async () => {
  [store, table] = await Promise.all([billingStore(), gatewayTable()]);
  const { client, tables } = store;
  const transactor = new Transactor({
    client,
    locksTable: tables.locks,
    timer: impatientTimer,
    random: Math.random,
  });
  subscriptions = new DynamoGatewaySubscriptions({
    client,
    transactor,
    table: table.name,
    pipelineTable: tables.pipeline,
    ids: randomUUID,
  });
  events = new DynamoGatewayEvents({ client, table: tables.pipeline });
});
afterAll(async () => {
  await table.drop();
  await store.drop();
});
beforeEach(() => {
  faults = injectFaults(store.client);
});
afterEach(() => faults.remove());

const aSubscription = (fields: Partial<GatewaySubscription> = {}): GatewaySubscription => ({
  ...unheardOf({
    id: randomUUID() as GatewaySubscriptionId,
    appId: 'app',
    ownerType: 'user',
    ownerId: `owner-${randomUUID()}`,
    productId: 'product',
    sku: 'pro',
    gateway: GATEWAY,
    gatewayRef: null,
    quantity: 1,
  }),
  ...fields,
});
const save = (before: GatewaySubscription, after: GatewaySubscription = before) =>
  subscriptions.save({ before, after, because: null });
const saved = async (fields: Partial<GatewaySubscription> = {}): Promise<GatewaySubscription> => {
  const made = aSubscription();
  return save(made, { ...made, ...fields });
};

const anEvent = (fields: Partial<StoredGatewayEvent> = {}): StoredGatewayEvent => {
  const address = { gateway: GATEWAY, ref: randomUUID(), identity: randomUUID(), ...fields };
  return {
    eventId: eventIdOf(address),
    name: 'subscription_created',
    body: Buffer.from([0, 255, 34]),
    receivedAt: NOW,
    outcome: null,
    replays: 0,
    ...address,
  };
};
const outcome = (result: GatewayResult): GatewayOutcome => ({
  result,
  reason: 'a test',
  subscriptionId: null,
  from: null,
  to: 'active',
  at: NOW,
});

describe('a gateway subscription', () => {
  it('is kept under its id, with every column, and read as what it was', async () => {
    const mark = { at: NOW, status: 'past_due', by: 'event-1' } as const;
    const whole = await saved({
      status: 'past_due',
      gatewayRef: randomUUID(),
      startedAt: at('2026-10-01T00:00:00Z'),
      expiresAt: at('2026-12-01T00:00:00.5Z'),
      quantity: 7,
      told: { word: 'unpaid', mark },
      payment: { word: 'payment-failed', mark },
    });
    expect(whole.lockVersion).toBe(1);
    expect(await subscriptions.get(whole.id)).toEqual(whole);
    const { Item } = await store.client.send(
      new GetItemCommand({ TableName: table.name, Key: { id: { S: whole.id } } }),
    );
    expect(Item).toMatchObject({
      id: { S: whole.id },
      app_id: { S: 'app' },
      owner_type: { S: 'user' },
      owner_id: { S: whole.ownerId },
      product_id: { S: 'product' },
      sku: { S: 'pro' },
      status: { S: 'past_due' },
      gateway: { S: 'lemonsqueezy' },
      gateway_ref: { S: whole.gatewayRef },
      started_at: { S: '2026-10-01T00:00:00Z' },
      expires_at: { S: '2026-12-01T00:00:00.5Z' },
      quantity: { N: '7' },
      lock_version: { N: '1' },
    });
    expect(await subscriptions.get('nobody' as GatewaySubscriptionId)).toBeNull();
  });

  it('changes only if nobody changed it since it was read', async () => {
    const first = await saved();
    const second = await save(first, { ...first, quantity: 2 });
    expect(second.lockVersion).toBe(2);
    await expect(save(first, { ...first, quantity: 3 })).rejects.toThrow(RecordChangedError);
    await expect(save(aSubscription({ id: first.id }))).rejects.toThrow(RecordChangedError);
    expect(await subscriptions.get(first.id)).toEqual(second);
  });

  it('never goes back to a checkout', async () => {
    const active = await saved({ status: 'active' });
    await expect(save(active, { ...active, status: 'pending' })).rejects.toThrow(IllegalTransitionError);
  });

  it('is written once when the answer is lost', async () => {
    const before = await saved({ status: 'active' });
    faults.script('TransactWriteItemsCommand', loseAnswer(timedOut()), { times: 2 });
    const after = await save(before, { ...before, status: 'cancelled' });
    expect(await subscriptions.get(before.id)).toEqual(after);
    expect(after.lockVersion).toBe(2);
  });

  it('is found by its owner, and by owner and SKU; one that cannot be read hides no other', async () => {
    const ownerId = `owner-${randomUUID()}`;
    const [pro, team] = await Promise.all([
      saved({ ownerId, sku: 'pro' }),
      saved({ ownerId, sku: 'team', status: 'expired' }),
    ]);
    const Item = { id: { S: randomUUID() }, owner_id: { S: ownerId }, sku: { S: 'pro' } };
    await store.client.send(new PutItemCommand({ TableName: table.name, Item }));
    const all = await subscriptions.listByOwner(ownerId);
    expect(all.subscriptions).toEqual([pro, team]);
    expect(all.unreadable).toHaveLength(1);
    expect((await subscriptions.listByOwner(ownerId, 'team')).subscriptions).toEqual([team]);
    await expect(subscriptions.get(Item.id.S as GatewaySubscriptionId)).rejects.toThrow(/app_id/);
  });
});

describe('the one active place of an owner and SKU', () => {
  const slotOf = ({ ownerId }: GatewaySubscription) => ({ ownerId });

  it.each<GatewayStatus>(['pending', 'trial', 'active'])('is taken by one that is %s', async (status) => {
    const first = await saved({ status });
    expect(await subscriptions.holderOf(first)).toBe(first.id);
    for (const other of ['pending', 'trial', 'active'] as const)
      await expect(saved({ ...slotOf(first), status: other }), other).rejects.toThrow(RecordChangedError);
  });

  it.each<GatewayStatus>(['past_due', 'cancelled', 'expired'])(
    'is left by one that is %s',
    async (status) => {
      const first = await saved({ status: 'active' });
      const gone = await save(first, { ...first, status });
      expect(await subscriptions.holderOf(first)).toBeNull();
      const second = await saved({ ...slotOf(first), status: 'active' });
      expect(await subscriptions.holderOf(first)).toBe(second.id);
      await expect(save(gone, { ...gone, status: 'active' })).rejects.toThrow(RecordChangedError);
      // Who has left it does not take it from the other by leaving once more.
      await save(gone, { ...gone, status: 'expired' });
      expect(await subscriptions.holderOf(first)).toBe(second.id);
    },
  );

  it('is kept through changes that leave it active', async () => {
    const first = await saved();
    const second = await save(first, { ...first, status: 'trial' });
    await save(second, { ...second, status: 'active' });
    expect(await subscriptions.holderOf(first)).toBe(first.id);
  });

  it('is one per application, kind of owner, owner and SKU', async () => {
    const first = await saved({ status: 'active' });
    const { ownerId } = first;
    const others = [
      { ownerId, appId: 'another' },
      { ownerId, ownerType: 'org' as const },
      { ownerId, sku: 'team' },
    ];
    for (const other of others) expect(await saved({ ...other, status: 'active' })).toMatchObject(other);
  });

  it('must still be held by the other when a collision is written', async () => {
    const other = await saved({ status: 'active' });
    const collided = aSubscription({
      ...slotOf(other),
      status: 'past_due',
      collision: { wanted: 'active', heldBy: other.id, eventId: 'event-1', since: NOW },
    });
    const before = { ...collided, status: 'pending' as const, collision: null };
    const written = await save(before, collided);
    expect((await subscriptions.collisions(null)).subscriptions).toContainEqual(written);
    await save(other, { ...other, status: 'expired' });
    const late = { ...collided, id: randomUUID() as GatewaySubscriptionId };
    await expect(save({ ...before, id: late.id }, late)).rejects.toThrow(RecordChangedError);
    const decided = await save(written, { ...written, status: 'active', collision: null });
    expect(await subscriptions.holderOf(other)).toBe(decided.id);
    expect((await subscriptions.collisions(null)).subscriptions).not.toContainEqual(
      expect.objectContaining({ id: decided.id }),
    );
  });
});

describe('the gateway’s own id', () => {
  it('leads to one subscription', async () => {
    const ref = randomUUID();
    const first = await saved({ gatewayRef: ref });
    expect(await subscriptions.byRef(GATEWAY, ref)).toBe(first.id);
    expect(await subscriptions.byRef('apple_iap' as GatewayName, ref)).toBeNull();
    await expect(saved({ gatewayRef: ref })).rejects.toThrow(RecordChangedError);
    await save(first, { ...first, quantity: 2 });
  });

  it('is given to a checkout with its first event', async () => {
    const checkout = await saved();
    const ref = randomUUID();
    await save(checkout, { ...checkout, gatewayRef: ref, status: 'active' });
    expect(await subscriptions.byRef(GATEWAY, ref)).toBe(checkout.id);
  });
});

describe('what is to expire', () => {
  it('is what was cancelled, by its end', async () => {
    const ends = at('2026-11-20T00:00:00Z');
    const cancelled = await saved({ status: 'cancelled', expiresAt: ends });
    await saved({ status: 'past_due', expiresAt: ends });
    const due = async (asOf = ends) => {
      const found: GatewaySubscriptionId[] = [];
      let key = null;
      do {
        const page: Awaited<ReturnType<typeof subscriptions.lapsed>> = await subscriptions.lapsed(asOf, key);
        found.push(...page.subscriptions.map(({ id }) => id));
        key = page.nextKey;
      } while (key !== null);
      return found;
    };
    expect(await due()).toEqual([cancelled.id]);
    expect(await due(plusMs(ends, -1))).toEqual([]);
    await save(cancelled, { ...cancelled, status: 'expired' });
    expect(await due()).toEqual([]);
  });
});

describe('an event', () => {
  it('is kept as it came, once', async () => {
    const event = anEvent();
    expect(await events.add(event)).toBe(true);
    expect(await events.add({ ...event, body: Buffer.from('another') })).toBe(false);
    expect(await events.get(event.eventId)).toEqual({ ...event, body: new Uint8Array(event.body) });
    expect(await events.get('nonsense')).toBeNull();
    expect(await events.get('a.b.c')).toBeNull();
  });

  it('without a subscription has a place as well', async () => {
    const event = anEvent({ ref: null });
    await events.add(event);
    expect(await events.get(event.eventId)).toMatchObject({ eventId: event.eventId, ref: null });
  });

  it('is said once what it did, and waits again when somebody wants it', async () => {
    const event = anEvent();
    await events.add(event);
    expect(await events.close(event, outcome('recorded'))).toBe(true);
    expect(await events.close(event, outcome('stale'))).toBe(false);
    const done = (await events.get(event.eventId))!;
    expect(done.outcome?.result).toBe('recorded');
    const again = await events.reopen(done, NOW);
    expect(again).toMatchObject({ outcome: null, replays: 1 });
    expect(await events.reopen(done, NOW)).toBeNull();
    expect(await events.close(event, outcome('stale'))).toBe(false);
    expect(await events.close(again!, outcome('stale'))).toBe(true);
  });

  it('and what it changes are written together or not at all', async () => {
    const [before, event] = [await saved(), anEvent()];
    await events.add(event);
    const change = {
      before,
      after: { ...before, quantity: 2 },
      because: { event, outcome: outcome('applied') },
    };
    await subscriptions.save(change);
    expect((await events.get(event.eventId))?.outcome?.result).toBe('applied');
    const now = (await subscriptions.get(before.id))!;
    await expect(
      subscriptions.save({ ...change, before: now, after: { ...now, quantity: 3 } }),
    ).rejects.toThrow(RecordChangedError);
    expect((await subscriptions.get(before.id))?.quantity).toBe(2);
    const other = anEvent();
    await events.add(other);
    await expect(
      subscriptions.save({ ...change, because: { event: other, outcome: outcome('applied') } }),
    ).rejects.toThrow(RecordChangedError);
    expect((await events.get(other.eventId))?.outcome).toBeNull();
  });

  it('is listed with those of its subscription, and by what is to be done about it', async () => {
    const ref = randomUUID();
    const day = at('2031-05-05T10:00:00Z');
    const [one, two, three] = [0, 1, 2].map((index) => anEvent({ ref, receivedAt: plusMs(day, index) })) as [
      StoredGatewayEvent,
      StoredGatewayEvent,
      StoredGatewayEvent,
    ];
    for (const event of [one, two, three]) await events.add(event);
    const ids = (found: readonly StoredGatewayEvent[]) => found.map(({ eventId }) => eventId);
    expect(ids((await events.ofRef(GATEWAY, ref)).events).toSorted()).toEqual(
      ids([one, two, three]).toSorted(),
    );
    await events.close(one, outcome('recorded'));
    await events.close(two, outcome('applied'));
    await events.close(three, outcome('unmatched'));
    expect(ids((await events.ofDay(dateOf(day), null)).events)).toEqual([two.eventId, one.eventId]);
    expect(ids((await events.troubled(null)).events)).toContain(three.eventId);
    expect((await events.ofRef(GATEWAY, ref)).events).toHaveLength(3);
  });

  it('waits until it is applied', async () => {
    const event = anEvent({ receivedAt: at('2020-01-01T00:00:00Z') });
    await events.add(event);
    const waiting = async () => {
      const found: string[] = [];
      let key = null;
      do {
        const page: Awaited<ReturnType<typeof events.waiting>> = await events.waiting(
          at('2020-01-01T00:00:00Z'),
          key,
        );
        found.push(...page.events.map(({ eventId }) => eventId));
        key = page.nextKey;
      } while (key !== null);
      return found;
    };
    expect(await waiting()).toEqual([event.eventId]);
    await events.close(event, outcome('applied'));
    expect(await waiting()).toEqual([]);
  });
});
