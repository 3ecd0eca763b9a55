import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENTS as APPLE_EVENTS } from '../../../src/adapters/gateways/apple/events.ts';
import { EVENTS as LEMONSQUEEZY_EVENTS } from '../../../src/adapters/gateways/lemonsqueezy/events.ts';
import { aFewAtOnce } from '../../../src/app/a-few-at-once.ts';
import { NO_SERVICES, api } from '../../support/api.ts';
import type { GatewayDesk } from '../../support/gateway-desk.ts';
import { gatewayDesk, newRef } from '../../support/gateway-desk.ts';
import type { AppleOptions, Post } from '../../support/gateway-payloads.ts';
import {
  appleBody,
  appleChain,
  applePost,
  lemonSqueezy,
  lemonSqueezyBody,
  lemonSqueezyPost,
  lemonSqueezySignature,
} from '../../support/gateway-payloads.ts';
import { at } from '../../support/records.ts';

let desk: GatewayDesk;
beforeAll(async () => {
  desk = await gatewayDesk();
  await desk.worker();
});
afterAll(async () => {
  // Whatever came was applied without a job that failed.
  expect(await desk.failedJobs()).toEqual([]);
  await desk.close();
});

const WHEN = '2026-11-01T10:00:00.000000Z';
const owner = () => ({ app_id: 'app', user_id: `user-${randomUUID()}`, sku: 'pro' });
const apple = (type: string, options: AppleOptions): Post => applePost(appleBody(desk.chain, type, options));
/** Everything that is kept in DynamoDB, by how much there is of it. */
const kept = async (): Promise<number> => {
  const { client, tables } = desk.store;
  const counts = await Promise.all(
    [tables.pipeline, desk.environment['GATEWAY_TABLE']!].map(async (TableName) => {
      const { Count = 0 } = await client.send(
        new ScanCommand({ TableName, Select: 'COUNT', ConsistentRead: true }),
      );
      return Count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
};

describe('every event of Lemon Squeezy', () => {
  const WITH_STATUS: Readonly<Record<string, [lemon: string, ours: string]>> = {
    subscription_created: ['on_trial', 'trial'],
    subscription_updated: ['active', 'active'],
    subscription_cancelled: ['cancelled', 'cancelled'],
    subscription_resumed: ['active', 'active'],
    subscription_expired: ['expired', 'expired'],
    subscription_paused: ['paused', 'past_due'],
    subscription_unpaused: ['active', 'active'],
    subscription_plan_changed: ['active', 'active'],
  };

  it('that carries a subscription sets where it stands', async () => {
    const names = Object.keys(LEMONSQUEEZY_EVENTS).filter((name) => LEMONSQUEEZY_EVENTS[name] === 'state');
    expect(names.sort()).toEqual(Object.keys(WITH_STATUS).sort());
    await Promise.all(
      Object.entries(WITH_STATUS).map(async ([name, [status, ours]]) => {
        const [ref, custom] = [newRef(), owner()];
        const did = await desk.happens(lemonSqueezy(name, { ref, at: WHEN, custom, status }));
        expect(did, name).toMatchObject({ result: 'applied', from: 'pending', to: ours });
        expect(await desk.subscription('lemonsqueezy', ref)).toMatchObject({
          appId: 'app',
          ownerType: 'user',
          ownerId: custom.user_id,
          sku: 'pro',
          productId: '5',
          status: ours,
          gateway: 'lemonsqueezy',
          gatewayRef: ref,
          startedAt: at('2026-10-01T00:00:00Z'),
          lockVersion: 1,
        });
      }),
    );
  });

  it('about a payment moves what it can move', async () => {
    const [ref, custom] = [newRef(), owner()];
    const send = (name: string, minute: number, status?: string) =>
      desk.happens(
        lemonSqueezy(name, {
          ref,
          at: `2026-11-01T10:0${minute}:00.000000Z`,
          custom,
          ...(status === undefined ? {} : { status }),
        }),
      );
    await send('subscription_created', 0, 'active');
    expect(await send('subscription_payment_success', 1)).toMatchObject({ from: 'active', to: 'active' });
    expect(await send('subscription_payment_failed', 2)).toMatchObject({ from: 'active', to: 'past_due' });
    expect(await send('subscription_payment_recovered', 3)).toMatchObject({
      from: 'past_due',
      to: 'active',
    });
    expect(await send('subscription_payment_failed', 1)).toMatchObject({ result: 'stale', to: 'active' });
    expect((await desk.subscription('lemonsqueezy', ref)).lockVersion).toBe(4);
  });

  it('that changes nothing, or that nobody knows, is recorded', async () => {
    const silent = Object.keys(LEMONSQUEEZY_EVENTS).filter(
      (name) => LEMONSQUEEZY_EVENTS[name] === 'no-change',
    );
    await Promise.all(
      [...silent, 'something_new'].map(async (name) => {
        const did = await desk.happens(lemonSqueezy(name, { ref: newRef(), at: WHEN, custom: owner() }));
        expect(did, name).toMatchObject({ result: 'recorded', subscriptionId: null });
      }),
    );
  });
});

describe('every notification of Apple', () => {
  const MEANT: readonly [type: string, subtype: string | undefined, status: string][] = [
    ['SUBSCRIBED', 'INITIAL_BUY', 'active'],
    ['SUBSCRIBED', 'RESUBSCRIBE', 'active'],
    ['DID_RENEW', undefined, 'active'],
    ['DID_RENEW', 'BILLING_RECOVERY', 'active'],
    ['DID_FAIL_TO_RENEW', undefined, 'past_due'],
    ['DID_FAIL_TO_RENEW', 'GRACE_PERIOD', 'past_due'],
    ['GRACE_PERIOD_EXPIRED', undefined, 'past_due'],
    ['DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED', 'cancelled'],
    ['DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED', 'active'],
    ['EXPIRED', 'VOLUNTARY', 'expired'],
    ['EXPIRED', 'BILLING_RETRY', 'expired'],
    ['REVOKE', undefined, 'expired'],
    ['REFUND', undefined, 'expired'],
  ];

  it('that says where a subscription stands sets it', async () => {
    await Promise.all(
      MEANT.map(async ([type, subtype, status]) => {
        const [ref, token] = [newRef(), randomUUID()];
        const did = await desk.happens(
          apple(type, { ref, at: WHEN, token, ...(subtype === undefined ? {} : { subtype }) }),
        );
        expect(did, `${type} ${subtype}`).toMatchObject({ result: 'applied', to: status });
        expect(await desk.subscription('apple_iap', ref)).toMatchObject({
          appId: 'com.example.app',
          ownerType: 'user',
          ownerId: token,
          sku: 'pro.monthly',
          productId: 'pro.monthly',
          status,
          gatewayRef: ref,
        });
      }),
    );
  });

  it('of a free offer begins a trial', async () => {
    const [ref, token] = [newRef(), randomUUID()];
    const transaction = { offerDiscountType: 'FREE_TRIAL' };
    expect(await desk.happens(apple('SUBSCRIBED', { ref, at: WHEN, token, transaction }))).toMatchObject({
      to: 'trial',
    });
  });

  it('that changes nothing, or that nobody knows, is recorded', async () => {
    const silent = Object.keys(APPLE_EVENTS).filter((name) => APPLE_EVENTS[name] === 'no-change');
    await Promise.all(
      [...silent, 'SOMETHING_NEW'].map(async (type) => {
        const did = await desk.happens(apple(type, { ref: newRef(), at: WHEN, token: randomUUID() }));
        expect(did, type).toMatchObject({ result: 'recorded', subscriptionId: null });
      }),
    );
  });
});

describe('an event that comes again', () => {
  it('is answered and applied once', async () => {
    const [ref, custom] = [newRef(), owner()];
    const posts = [
      lemonSqueezy('subscription_created', { ref, at: WHEN, custom }),
      apple('SUBSCRIBED', { ref, at: WHEN, token: randomUUID() }),
    ];
    for (const post of posts) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => desk.post(post)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1);
      await desk.outcome(answers[0]!.body.event_id!);
      expect(await desk.post(post)).toMatchObject({ status: 200, body: { duplicate: true } });
    }
    expect((await desk.subscription('lemonsqueezy', ref)).lockVersion).toBe(1);
    expect((await desk.subscription('apple_iap', ref)).lockVersion).toBe(1);
  });

  it('under another event name in the header is the same event', async () => {
    const post = lemonSqueezy('subscription_created', { ref: newRef(), at: WHEN, custom: owner() });
    await desk.happens(post);
    const renamed = { ...post, headers: { ...post.headers, 'x-event-name': 'subscription_expired' } };
    expect(await desk.post(renamed)).toMatchObject({ status: 200, body: { duplicate: true } });
  });
});

describe('an event that comes too late', () => {
  it('is kept as stale and changes nothing', async () => {
    const [ref, custom] = [newRef(), owner()];
    await desk.happens(lemonSqueezy('subscription_expired', { ref, at: WHEN, custom, status: 'expired' }));
    const late = lemonSqueezy('subscription_created', { ref, at: '2026-10-01T00:00:00.000000Z', custom });
    expect(await desk.happens(late)).toMatchObject({ result: 'stale', from: 'expired', to: 'expired' });
    expect(await desk.subscription('lemonsqueezy', ref)).toMatchObject({ status: 'expired', lockVersion: 1 });
  });
});

describe('what is not signed by the gateway for us', () => {
  const genuine = () => lemonSqueezy('subscription_created', { ref: newRef(), at: WHEN, custom: owner() });
  const unsigned = (post: Post): Post => ({ ...post, headers: { 'content-type': 'application/json' } });

  it('is refused with 401, and nothing is kept', async () => {
    const notification = apple('DID_RENEW', { ref: newRef(), at: WHEN, token: randomUUID() });
    const stranger = appleChain();
    const forged: Post[] = [
      unsigned(genuine()),
      { ...genuine(), body: lemonSqueezyBody('subscription_created', { ref: '1', at: WHEN }) },
      { ...genuine(), body: genuine().body.slice(0, -1) },
      { ...genuine(), headers: { 'x-signature': lemonSqueezySignature('x', 'another-secret') } },
      { ...genuine(), body: '' },
      applePost(appleBody(stranger, 'DID_RENEW', { ref: '1', at: WHEN })),
      { ...notification, body: notification.body.slice(0, -20) },
      { ...notification, body: JSON.stringify({ signedPayload: 'a.b.c' }) },
      apple('DID_RENEW', { ref: '1', at: WHEN, data: { bundleId: 'com.example.other' } }),
      apple('DID_RENEW', { ref: '1', at: WHEN, data: { appAppleId: 7 } }),
      apple('DID_RENEW', { ref: '1', at: WHEN, data: { environment: 'Sandbox' } }),
      applePost(''),
    ];
    const before = await kept();
    for (const post of forged)
      expect(await desk.post(post), post.body.slice(0, 100)).toMatchObject({
        status: 401,
        body: { code: 'bad-signature' },
      });
    expect(await kept()).toBe(before);
  });

  it('is not excused by a token of the API', async () => {
    const { path, body } = genuine();
    expect(await desk.client.call('POST', path, { as: 'operator', body })).toMatchObject({ status: 401 });
  });

  it('and is too large is refused with 413, also when nobody said how large it is', async () => {
    const body = 'x'.repeat(300_000);
    for (const post of [lemonSqueezyPost(body), applePost(body)])
      expect(await desk.post(post)).toMatchObject({ status: 413, body: { code: 'body-too-large' } });
    const chunked = request(`${desk.client.url}/webhooks/apple`, { method: 'POST' });
    chunked.on('error', () => undefined);
    chunked.write(body);
    chunked.end();
    const [answer] = (await once(chunked, 'response')) as [{ statusCode: number; resume(): void }];
    answer.resume();
    expect(answer.statusCode).toBe(413);
  });

  it('and is packed is refused: the signature is over what was sent', async () => {
    const { path, headers, body } = genuine();
    const response = await fetch(desk.client.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-encoding': 'gzip' },
      body: gzipSync(body),
    });
    expect(response.status).toBe(415);
  });

  it('is never answered with a 5xx, whatever it is: 1,000 bodies', async () => {
    const before = await kept();
    const garbage = fc.record({
      path: fc.constantFrom('/webhooks/lemonsqueezy', '/webhooks/apple'),
      body: fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.json({ maxDepth: 3 }).map((text) => new TextEncoder().encode(text)),
        fc
          .record({
            signedPayload: fc.oneof(
              fc.string(),
              fc.string().map((text) => `e30.${text}.x`),
              fc.jsonValue(),
            ),
          })
          .map((value) => new TextEncoder().encode(JSON.stringify(value))),
      ),
      headers: fc.record(
        {
          'x-signature': fc.stringMatching(/^[ -~]{0,80}$/),
          'content-type': fc.constantFrom(
            'application/json',
            'text/plain',
            'nonsense',
            'application/json; charset=x',
          ),
          'x-event-name': fc.stringMatching(/^[ -~]{0,20}$/),
        },
        { requiredKeys: [] },
      ),
    });
    const answers = await aFewAtOnce(20, fc.sample(garbage, 1_000), async ({ path, body, headers }) => {
      const response = await fetch(desk.client.url + path, {
        method: 'POST',
        headers,
        body: Buffer.from(body),
      });
      await response.text();
      return response.status;
    });
    expect(new Set(answers)).toEqual(new Set([401]));
    expect(await kept()).toBe(before);
  });
});

describe('a body that is signed and makes no sense', () => {
  it('is kept, and somebody is called', async () => {
    const nonsense = [
      'no JSON at all',
      '[]',
      JSON.stringify({ meta: { event_name: 'subscription_updated' }, data: {} }),
      lemonSqueezyBody('subscription_updated', { ref: newRef(), at: WHEN, status: 'unheard-of' }),
    ];
    for (const body of nonsense)
      expect(await desk.happens(lemonSqueezyPost(body)), body).toMatchObject({ result: 'unreadable' });
    const { events } = await desk.stores.gatewayEvents.troubled(null);
    expect(events.filter(({ outcome }) => outcome?.result === 'unreadable').length).toBeGreaterThanOrEqual(4);
    await desk.alarm({ alarm: 'gateway-event', result: 'unreadable' });
  });
});

describe('an event of which nobody can tell whose it is', () => {
  it('is kept, and somebody is called', async () => {
    const custom = { subscription_id: randomUUID() };
    const unclaimed = [
      lemonSqueezy('subscription_created', { ref: newRef(), at: WHEN, custom }),
      lemonSqueezy('subscription_payment_failed', { ref: newRef(), at: WHEN }),
      apple('SUBSCRIBED', { ref: newRef(), at: WHEN }),
    ];
    for (const post of unclaimed) {
      const { body } = await desk.post(post);
      expect(await desk.outcome(body.event_id!)).toMatchObject({ result: 'unmatched' });
      await desk.alarm({ alarm: 'gateway-event', eventId: body.event_id, result: 'unmatched' });
    }
  });
});

describe('a gateway that is not configured', () => {
  it('answers 503, and the other goes on', async () => {
    const { AWS_ENDPOINT_URL_DYNAMODB, PIPELINE_TABLE, REDIS_URL, GATEWAY_TABLE, LEMONSQUEEZY_SECRET } =
      desk.environment as Record<string, string>;
    const common = {
      AWS_ENDPOINT_URL_DYNAMODB,
      PIPELINE_TABLE,
      REDIS_URL,
      GATEWAY_TABLE,
      ...NO_SERVICES,
    } as Record<string, string>;
    const [none, one] = await Promise.all([
      api(common),
      api({ ...common, LEMONSQUEEZY_SECRET: LEMONSQUEEZY_SECRET! }),
    ]);
    const { body, headers } = lemonSqueezy('subscription_created', {
      ref: newRef(),
      at: WHEN,
      custom: owner(),
    });
    const off = { status: 503, body: { code: 'gateway-off' } };
    for (const path of ['/webhooks/lemonsqueezy', '/webhooks/apple'])
      expect(await none.call('POST', path, { as: null, body, headers })).toMatchObject(off);
    expect(await one.call('POST', '/webhooks/apple', { as: null, body, headers })).toMatchObject(off);
    expect((await one.call('POST', '/webhooks/lemonsqueezy', { as: null, body, headers })).status).toBe(200);
    await Promise.all([none.close(), one.close()]);
  });
});
