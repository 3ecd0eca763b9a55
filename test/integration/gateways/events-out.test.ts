import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKinesisClient } from '../../../src/adapters/kinesis/client.ts';
import { KinesisSource } from '../../../src/adapters/kinesis/kinesis-source.ts';
import { createLogger } from '../../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { startSubscription } from '../../../src/app/gateways/start-subscription.ts';
import type { ChangeEvent } from '../../../src/domain/change-event.ts';
import type { GatewayName } from '../../../src/domain/gateways/subscription.ts';
import type { RunningRole } from '../../../src/wiring/role.ts';
import { startBridges } from '../../../workers/bridges/start-bridges.ts';
import { SHORT_TIMES } from '../../support/bridges.ts';
import type { EventStreamBench } from '../../support/event-stream.ts';
import { eventStream } from '../../support/event-stream.ts';
import type { GatewayDesk } from '../../support/gateway-desk.ts';
import { gatewayDesk, newRef } from '../../support/gateway-desk.ts';
import { lemonSqueezy } from '../../support/gateway-payloads.ts';
import { eventually } from '../../support/processes.ts';
import { sharedStack } from '../../support/stack.ts';

let desk: GatewayDesk;
let stream: EventStreamBench;
let streams: Record<string, string>;

beforeAll(async () => {
  [desk, stream] = await Promise.all([gatewayDesk(), eventStream(2)]);
  await desk.worker();
  streams = {
    AWS_ENDPOINT_URL_KINESIS: sharedStack().kinesisUrl,
    SUBSCRIPTIONS_STREAM: stream.name,
    USERS_STREAM: randomUUID(),
    PAYMENTS_STREAM: randomUUID(),
    LOCK_LEASE_MS: '2000',
    LOCK_HEARTBEAT_MS: '200',
  };
});
afterAll(async () => {
  stream.close();
  await desk.close();
});

/** The bridges as anybody starts them: nothing has to be switched on. */
const bridges = (): Promise<RunningRole> =>
  startBridges(
    { ...desk.environment, ...streams },
    { log: createLogger({ role: 'test', level: 'silent' }), metrics: createMetrics(), times: SHORT_TIMES },
  );

async function published(ownerId: string): Promise<ChangeEvent[]> {
  const client = createKinesisClient({ region: 'us-east-1', endpoint: sharedStack().kinesisUrl });
  const source = new KinesisSource({ client, stream: stream.name });
  const events: ChangeEvent[] = [];
  for (const { shardId } of await source.listShards()) {
    let handle = await source.read(shardId, 'start');
    for (;;) {
      const { records, next } = await source.next(handle);
      for (const { data, partitionKey } of records) {
        if (partitionKey === ownerId) events.push(JSON.parse(Buffer.from(data).toString()) as ChangeEvent);
      }
      if (next === null || records.length === 0) break;
      handle = next;
    }
  }
  client.destroy();
  return events;
}

/** At least once: whoever begins again may say some of it again. Each in the order in which it was first said. */
async function toldOf(ownerId: string): Promise<ChangeEvent[]> {
  const events = await published(ownerId);
  const versions = events.map(({ data }) => Number(data['lock_version']));
  versions.forEach((version, index) => {
    expect(version, versions.join()).toBeLessThanOrEqual(Math.max(0, ...versions.slice(0, index)) + 1);
  });
  return [...new Map(events.map((event) => [event.id, event])).values()];
}

const publishedFor = (ownerId: string, count: number): Promise<ChangeEvent[]> =>
  eventually(`${count} events of ${ownerId}`, async () => {
    const events = await toldOf(ownerId);
    return events.length >= count && events;
  });

describe('a change of a gateway subscription', () => {
  it('is told to others in order, with its columns and no more', async () => {
    const first = await bridges();
    const ownerId = `user-${randomUUID()}`;
    const slot = { appId: 'app', ownerType: 'user', ownerId, sku: 'pro' } as const;
    const { subscription } = await startSubscription(desk.dependencies(), {
      ...slot,
      gateway: 'lemonsqueezy' as GatewayName,
      productId: 'product-1',
      quantity: 2,
    });
    const ref = newRef();
    const happens = (name: string, minute: number, status: string) =>
      desk.happens(
        lemonSqueezy(name, {
          ref,
          at: `2026-11-01T10:0${minute}:00.000000Z`,
          custom: { subscription_id: subscription.id },
          status,
        }),
      );
    await happens('subscription_created', 0, 'active');
    await publishedFor(ownerId, 2);
    await first.stop();
    // Nobody listens meanwhile.
    await happens('subscription_updated', 1, 'past_due');
    await happens('subscription_updated', 2, 'active');
    const second = await bridges();
    const events = await publishedFor(ownerId, 4);
    await second.stop();
    expect(events.map(({ id }) => id)).toEqual(
      [1, 2, 3, 4].map((version) => `${subscription.id}.${version}`),
    );
    expect(events.map(({ data }) => data['status'])).toEqual(['pending', 'active', 'past_due', 'active']);
    expect(events[1]).toEqual({
      id: `${subscription.id}.2`,
      type: 'gateway-subscription-updated',
      source: 'GatewaySubscriptions',
      data: {
        id: subscription.id,
        app_id: 'app',
        owner_type: 'user',
        owner_id: ownerId,
        product_id: 'product-1',
        sku: 'pro',
        status: 'active',
        gateway: 'lemonsqueezy',
        gateway_ref: ref,
        started_at: '2026-10-01T00:00:00Z',
        expires_at: '2026-12-01T00:00:00Z',
        quantity: 1,
        lock_version: 2,
      },
    });
  });
});
