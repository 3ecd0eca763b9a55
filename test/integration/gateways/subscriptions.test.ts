import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aFewAtOnce } from '../../../src/app/a-few-at-once.ts';
import { applyEvent } from '../../../src/app/gateways/apply-event.ts';
import { sweepGateways } from '../../../src/app/gateways/sweep-gateways.ts';
import { takeWebhook } from '../../../src/app/gateways/take-webhook.ts';
import type { GatewaySubscription } from '../../../src/domain/gateways/subscription.ts';
import { eventIdOf } from '../../../src/domain/gateways/gateway-event.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { GatewayDesk } from '../../support/gateway-desk.ts';
import { gatewayDesk, newRef } from '../../support/gateway-desk.ts';
import { appleHistory, lemonSqueezyHistory } from '../../support/gateway-histories.ts';
import type { AppleOptions, LemonSqueezyOptions, Post } from '../../support/gateway-payloads.ts';
import { appleBody, applePost, deliveryOf, lemonSqueezy } from '../../support/gateway-payloads.ts';
import { permutations } from '../../support/permutations.ts';
import { eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';

let desk: GatewayDesk;
beforeAll(async () => {
  desk = await gatewayDesk();
  await Promise.all([desk.worker(), desk.worker()]);
});
afterAll(async () => {
  // Whatever came was applied without a job that failed.
  expect(await desk.failedJobs()).toEqual([]);
  await desk.close();
});

const FAR = '2099-01-01T00:00:00.000000Z';
const minute = (index: number): string => `2026-11-01T10:${String(index).padStart(2, '0')}:00.000000Z`;
const owner = () => ({ app_id: 'app', user_id: `user-${randomUUID()}`, sku: 'pro' });
const lemon = (
  name: string,
  options: LemonSqueezyOptions,
): Promise<Awaited<ReturnType<GatewayDesk['happens']>>> => desk.happens(lemonSqueezy(name, options));
const apple = (type: string, options: AppleOptions): Post => applePost(appleBody(desk.chain, type, options));
const urlOf = ({ app_id, user_id }: { app_id: string; user_id: string }, type = 'user'): string =>
  `/v1/apps/${app_id}/owners/${type}/${user_id}/subscriptions`;

interface View {
  readonly id: string;
  readonly status: string;
  readonly gateway: string;
  readonly gateway_ref: string | null;
  readonly lock_version: number;
  readonly expires_at: string | null;
  readonly collision: { readonly held_by: string; readonly event_id: string } | null;
}

const listed = async (who: { app_id: string; user_id: string }): Promise<View[]> => {
  const { body } = await desk.client.call('GET', urlOf(who), { as: 'viewer' });
  return (body as { subscriptions: View[] }).subscriptions;
};
const started = (who: { app_id: string; user_id: string; sku: string }, more: object = {}, type = 'user') =>
  desk.client.call('POST', urlOf(who, type), {
    body: { sku: who.sku, product_id: 'product-1', gateway: 'lemonsqueezy', ...more },
  });
const entitled = async (who: { app_id: string; user_id: string; sku: string }) =>
  (await desk.client.call('GET', `${urlOf(who)}/entitled?sku=${who.sku}`, { as: 'viewer' })).body;

/** What is the same in whatever order the events came; how often it was written is not. */
const state = ({
  sku,
  productId,
  status,
  startedAt,
  expiresAt,
  quantity,
  told,
  payment,
}: GatewaySubscription) => ({
  ...{ sku, productId, status, startedAt, expiresAt, quantity, payment },
  word: told?.word,
});

describe('six events on real tables', () => {
  /** In this process, without HTTP and queues: those have no say in it. */
  const applied = async (posts: readonly Post[]): Promise<void> => {
    const dependencies = { ...desk.dependencies(), enqueueGatewayEvent: () => Promise.resolve() };
    for (const post of posts) {
      const gateway = dependencies.gateways.find(({ path }) => post.path.endsWith(path))!;
      const verify = () => Promise.resolve(true);
      const taken = await takeWebhook(dependencies, { gateway, verify }, deliveryOf(post));
      if (taken.result === 'received') await applyEvent(dependencies, taken.eventId);
    }
  };

  it.each([
    ['lemonsqueezy', (ref: string) => lemonSqueezyHistory(ref, owner()), 'active'],
    ['apple_iap', (ref: string) => appleHistory(desk.chain, ref, randomUUID()), 'expired'],
  ])('of %s end the same in any order', async (gateway, history, end) => {
    const right = newRef();
    await applied(history(right));
    const wanted = state(await desk.subscription(gateway, right));
    expect(wanted.status).toBe(end);
    const indexes = permutations([0, 1, 2, 3, 4, 5]);
    // All 720 are tried on the rules themselves; here two that begin with each of them.
    const some = indexes.filter((_, index) => index % 60 === 0);
    await aFewAtOnce(8, some, async (order) => {
      const ref = newRef();
      const posts = history(ref);
      await applied(order.map((index) => posts[index]!));
      expect(state(await desk.subscription(gateway, ref)), order.join()).toEqual(wanted);
    });
  });
});

describe('fifty webhooks of one subscription at once', () => {
  it('are all applied or stale, each write on the one before, and the newest counts', async () => {
    const [ref, custom] = [newRef(), owner()];
    const statuses = ['active', 'past_due', 'cancelled', 'on_trial', 'active'];
    const posts = Array.from({ length: 50 }, (_, index) =>
      lemonSqueezy('subscription_updated', {
        ref,
        at: minute(index),
        custom,
        status: index === 49 ? 'active' : statuses[index % 5]!,
        attributes: { ends_at: FAR, renews_at: FAR, first_subscription_item: { quantity: index + 1 } },
      }),
    );
    const answers = await Promise.all(posts.map((post) => desk.post(post)));
    expect(answers.every(({ status, body }) => status === 200 && body.duplicate === false)).toBe(true);
    const outcomes = await Promise.all(answers.map(({ body }) => desk.outcome(body.event_id!)));
    const count = (result: string) => outcomes.filter((outcome) => outcome.result === result).length;
    expect(count('applied') + count('stale')).toBe(50);
    expect(await desk.subscription('lemonsqueezy', ref)).toMatchObject({
      status: 'active',
      quantity: 50,
      lockVersion: count('applied'),
    });
    expect(await listed(custom)).toHaveLength(1);
    expect(await entitled(custom)).toMatchObject({ entitled: true, seats: 50 });
  });
});

describe('races for the one active place', () => {
  it('are none between two owners of the same SKU', async () => {
    const owners = Array.from({ length: 6 }, owner);
    const did = await Promise.all(
      owners.map((custom) => lemon('subscription_created', { ref: newRef(), at: minute(0), custom })),
    );
    expect(did.map(({ result }) => result)).toEqual(owners.map(() => 'applied'));
    for (const custom of owners) expect(await listed(custom)).toMatchObject([{ status: 'active' }]);
  });

  it('are won by one of one owner’s, whoever sells it; the others are kept past due and raised', async () => {
    const token = randomUUID();
    const custom = { app_id: 'com.example.app', user_id: token, sku: 'pro.monthly' };
    const posts = [1, 2, 3].flatMap(() => [
      lemonSqueezy('subscription_created', { ref: newRef(), at: minute(0), custom }),
      apple('SUBSCRIBED', { ref: newRef(), at: minute(0), token }),
    ]);
    const did = await Promise.all(posts.map((post) => desk.happens(post)));
    expect(did.filter(({ result }) => result === 'applied')).toHaveLength(1);
    expect(did.filter(({ result }) => result === 'held')).toHaveLength(5);
    const found = await listed(custom);
    const active = found.filter(({ status }) => status === 'active');
    expect(active).toHaveLength(1);
    const others = found.filter(({ status }) => status === 'past_due');
    expect(others).toHaveLength(5);
    for (const { collision } of others) expect(collision?.held_by).toBe(active[0]!.id);
    await Promise.all(others.map(({ id }) => desk.alarm({ alarm: 'gateway-collision', subscriptionId: id })));
  });

  it('for a checkout give everybody the same one', async () => {
    const who = owner();
    const replies = await Promise.all(Array.from({ length: 8 }, () => started(who)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(replies.map(({ body }) => (body as View).id)).size).toBe(1);
    expect(await listed(who)).toHaveLength(1);
  });
});

describe('a past-due subscription that recovers beside a second one', () => {
  it.each(['subscription_updated', 'subscription_payment_recovered'])(
    'by %s stays past due and is raised, and becomes active when somebody has decided',
    async (recovery) => {
      const custom = owner();
      const [first, second] = [newRef(), newRef()];
      const far = { attributes: { renews_at: FAR } };
      await lemon('subscription_created', { ref: first, at: minute(0), custom });
      await lemon('subscription_updated', { ref: first, at: minute(1), custom, status: 'past_due', ...far });
      // Out of the way of the rule: the owner may buy again.
      expect(await lemon('subscription_created', { ref: second, at: minute(2), custom })).toMatchObject({
        result: 'applied',
        to: 'active',
      });
      const did = await lemon(recovery, { ref: first, at: minute(3), custom, ...far });
      expect(did).toMatchObject({
        result: 'held',
        from: 'past_due',
        to: 'past_due',
        reason: 'second-subscription',
      });
      const recovered = await desk.subscription('lemonsqueezy', first);
      const other = await desk.subscription('lemonsqueezy', second);
      expect(recovered).toMatchObject({
        status: 'past_due',
        collision: { wanted: 'active', heldBy: other.id },
      });
      expect(other.status).toBe('active');
      await desk.alarm({ alarm: 'gateway-collision', subscriptionId: recovered.id });
      // What was paid counts all the same.
      expect(await entitled(custom)).toMatchObject({ entitled: true, subscription_id: recovered.id });

      const collisions = async (): Promise<string[]> => {
        const { body } = await desk.client.call('GET', '/ops/gateway-collisions', { as: 'viewer' });
        return (body as { collisions: View[] }).collisions.map(({ id }) => id);
      };
      expect(await collisions()).toContain(recovered.id);
      const { event_id: eventId } =
        recovered.collision === null ? { event_id: '' } : { event_id: recovered.collision.eventId };
      const replay = () => desk.client.call('POST', `/ops/gateway-events/${eventId}/replay`);
      // Too early: the other one is still there.
      expect(await replay()).toMatchObject({ status: 202, body: { handed_over: true } });
      expect(await desk.outcome(eventId)).toMatchObject({ result: 'held' });

      await lemon('subscription_expired', { ref: second, at: minute(4), custom, status: 'expired' });
      expect(await replay()).toMatchObject({ status: 202 });
      expect(await desk.outcome(eventId)).toMatchObject({
        result: 'applied',
        from: 'past_due',
        to: 'active',
      });
      expect(await desk.subscription('lemonsqueezy', first)).toMatchObject({
        status: 'active',
        collision: null,
      });
      expect(await collisions()).not.toContain(recovered.id);
    },
  );
});

describe('a checkout', () => {
  it('becomes the subscription that it was for, of whatever kind of owner', async () => {
    for (const type of ['user', 'org']) {
      const who = { app_id: 'app', user_id: randomUUID(), sku: 'team' };
      const { status, body } = await started(who, { quantity: 5 }, type);
      expect(status).toBe(201);
      const { id } = body as View;
      expect(body).toMatchObject({
        owner_type: type,
        status: 'pending',
        gateway_ref: null,
        quantity: 5,
        lock_version: 1,
      });
      const ref = newRef();
      await lemon('subscription_created', { ref, at: minute(0), custom: { subscription_id: id } });
      expect(await desk.subscription('lemonsqueezy', ref)).toMatchObject({
        id,
        ownerType: type,
        ownerId: who.user_id,
        productId: 'product-1',
        sku: 'team',
        status: 'active',
        lockVersion: 2,
      });
    }
  });

  it('is completed by Apple with its id as the token', async () => {
    const who = owner();
    const { id } = (await started(who, { gateway: 'apple_iap' })).body as View;
    const ref = newRef();
    await desk.happens(apple('SUBSCRIBED', { ref, at: minute(0), token: id }));
    expect(await listed(who)).toMatchObject([
      { id, status: 'active', gateway: 'apple_iap', gateway_ref: ref },
    ]);
  });

  it('that is begun again, with another gateway too, is the same one', async () => {
    const who = owner();
    const first = (await started(who)).body as View;
    expect(await started(who)).toMatchObject({ status: 200, body: { id: first.id, lock_version: 1 } });
    expect(await started(who, { gateway: 'apple_iap' })).toMatchObject({
      status: 200,
      body: { id: first.id, gateway: 'apple_iap', lock_version: 2 },
    });
  });

  it('is found by its owner and SKU where the gateway does not name it', async () => {
    const custom = owner();
    const { id } = (await started(custom)).body as View;
    await lemon('subscription_created', { ref: newRef(), at: minute(0), custom });
    expect(await listed(custom)).toMatchObject([{ id, status: 'active' }]);
  });

  it('is refused while there is an active one', async () => {
    const custom = owner();
    await lemon('subscription_created', { ref: newRef(), at: minute(0), custom });
    expect(await started(custom)).toMatchObject({ status: 409, body: { code: 'already-subscribed' } });
  });

  it('that was used before gives another subscription when it is used again', async () => {
    const who = owner();
    const { id } = (await started(who)).body as View;
    const custom = { subscription_id: id };
    const [first, second] = [newRef(), newRef()];
    await lemon('subscription_created', { ref: first, at: minute(0), custom });
    await lemon('subscription_expired', { ref: first, at: minute(1), custom, status: 'expired' });
    await lemon('subscription_created', { ref: second, at: minute(2), custom });
    const found = await listed(who);
    expect(found).toHaveLength(2);
    expect(found.find((each) => each.id === id)).toMatchObject({ status: 'expired', gateway_ref: first });
    expect(found.find((each) => each.id !== id)).toMatchObject({ status: 'active', gateway_ref: second });
  });

  it('makes known whose an event is that came before it', async () => {
    const who = owner();
    // By the id that it will have been given: the event is stored, and waits for somebody.
    const ref = newRef();
    const nobodys = { ref, at: minute(0), custom: { app_id: who.app_id } };
    const { body } = await desk.post(lemonSqueezy('subscription_created', nobodys));
    expect(await desk.outcome(body.event_id!)).toMatchObject({ result: 'unmatched' });
    // The next one tells whose it is, and is about the same subscription.
    await lemon('subscription_updated', { ref, at: minute(1), custom: who });
    await desk.client.call('POST', `/ops/gateway-events/${body.event_id}/replay`);
    expect(await desk.outcome(body.event_id!)).toMatchObject({ result: 'stale' });
    const { events } = await desk.stores.gatewayEvents.troubled(null);
    expect(events.map(({ eventId }) => eventId)).not.toContain(body.event_id);
  });
});

describe('what an owner may use', () => {
  it('follows the end that the gateway gave', async () => {
    const custom = owner();
    const ref = newRef();
    expect(await entitled(custom)).toEqual({ entitled: false, until: null, seats: 0, subscription_id: null });
    const seats = { renews_at: FAR, ends_at: null, first_subscription_item: { quantity: 4 } };
    await lemon('subscription_created', { ref, at: minute(0), custom, attributes: seats });
    const [{ id }] = (await listed(custom)) as [View];
    const yes = { entitled: true, until: '2099-01-01T00:00:00Z', seats: 4, subscription_id: id };
    expect(await entitled(custom)).toEqual(yes);
    const ends = { ...seats, ends_at: FAR };
    await lemon('subscription_cancelled', {
      ref,
      at: minute(1),
      custom,
      status: 'cancelled',
      attributes: ends,
    });
    expect(await entitled(custom)).toEqual(yes);
    await lemon('subscription_expired', { ref, at: minute(2), custom, status: 'expired', attributes: ends });
    expect(await entitled(custom)).toMatchObject({ entitled: false });
  });

  it('is asked of one application and kind of owner', async () => {
    const custom = owner();
    await lemon('subscription_created', {
      ref: newRef(),
      at: minute(0),
      custom,
      attributes: { renews_at: FAR },
    });
    expect(await entitled({ ...custom, app_id: 'another' })).toMatchObject({ entitled: false });
    const org = await desk.client.call('GET', `${urlOf(custom, 'org')}/entitled?sku=pro`);
    expect(org.body).toMatchObject({ entitled: false });
    const [{ id }] = (await listed(custom)) as [View];
    expect((await desk.client.call('GET', `${urlOf(custom)}/${id}`)).status).toBe(200);
    expect((await desk.client.call('GET', `${urlOf(custom, 'org')}/${id}`)).status).toBe(404);
  });
});

describe('the sweep', () => {
  const cancelled = async (ends: string): Promise<string> => {
    const ref = newRef();
    await lemon('subscription_cancelled', {
      ref,
      at: minute(0),
      custom: owner(),
      status: 'cancelled',
      attributes: { ends_at: ends },
    });
    return ref;
  };

  it('expires what was cancelled and has run out, and nothing else', async () => {
    const [over, notYet] = [await cancelled('2026-11-10T00:00:00.000000Z'), await cancelled(FAR)];
    const unpaid = newRef();
    await lemon('subscription_updated', {
      ref: unpaid,
      at: minute(0),
      custom: owner(),
      status: 'past_due',
      attributes: { renews_at: '2026-11-10T00:00:00.000000Z' },
    });
    const statusOf = async (ref: string) => (await desk.subscription('lemonsqueezy', ref)).status;
    desk.now = at('2026-11-09T23:59:59Z');
    await sweepGateways(desk.dependencies());
    expect(await statusOf(over)).toBe('cancelled');
    desk.now = at('2026-11-10T00:00:00Z');
    const counts = await Promise.all([1, 2, 3].map(() => sweepGateways(desk.dependencies())));
    expect(counts.reduce((sum, { expired }) => sum + expired, 0)).toBe(1);
    expect(await statusOf(over)).toBe('expired');
    expect(await statusOf(notYet)).toBe('cancelled');
    expect(await statusOf(unpaid)).toBe('past_due');
    expect((await desk.subscription('lemonsqueezy', over)).lockVersion).toBe(2);
  });

  it('takes its word back when the gateway says that it was resumed before', async () => {
    const ref = await cancelled('2026-11-10T00:00:00.000000Z');
    desk.now = at('2026-11-10T00:00:01Z');
    await sweepGateways(desk.dependencies());
    const late = { ref, at: '2026-11-09T10:00:00.000000Z', status: 'active', attributes: { renews_at: FAR } };
    expect(await lemon('subscription_resumed', late)).toMatchObject({
      result: 'applied',
      from: 'expired',
      to: 'active',
    });
  });
});

describe('Redis', () => {
  it('may forget every job: a stored event gets another one', async () => {
    const dependencies = desk.dependencies();
    const gateway = dependencies.gateways[0]!;
    const [ref, custom] = [newRef(), owner()];
    const post = lemonSqueezy('subscription_created', { ref, at: minute(0), custom });
    // As if the API had died after it kept the event.
    const lost = { ...dependencies, enqueueGatewayEvent: () => Promise.reject(new Error('Redis is away')) };
    const taken = await takeWebhook(lost, { gateway, verify: () => Promise.resolve(true) }, deliveryOf(post));
    const event = gateway.read(Buffer.from(post.body));
    expect(taken).toEqual({ result: 'received', eventId: eventIdOf(event), duplicate: false });
    await desk.redis.client.flushall();
    desk.now = plusMs(desk.now, 59_000);
    expect((await sweepGateways(dependencies)).handedOver).toBe(0);
    desk.now = plusMs(desk.now, 2_000);
    expect((await sweepGateways(dependencies)).handedOver).toBe(1);
    expect(await desk.outcome(eventIdOf(event))).toMatchObject({ result: 'applied' });
    await eventually('nothing waits any more', async () => {
      const { events } = await desk.stores.gatewayEvents.waiting(plusMs(desk.now, 1_000), null);
      return events.length === 0;
    });
  });

  it('may be away: the webhook is answered, and the event is kept', async () => {
    const here = await gatewayDesk();
    await here.redis.kill();
    const post = lemonSqueezy('subscription_created', { ref: newRef(), at: minute(0), custom: owner() });
    const { status, body } = await here.post(post);
    expect(status).toBe(200);
    expect(await here.stores.gatewayEvents.get(body.event_id!)).toMatchObject({ outcome: null, replays: 0 });
    await here.close();
  });
});
