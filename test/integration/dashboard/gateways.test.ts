import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dashboard, Page } from '../../support/dashboard.ts';
import { dashboard, isReady } from '../../support/dashboard.ts';
import type { GatewayDesk } from '../../support/gateway-desk.ts';
import { gatewayDesk, newRef } from '../../support/gateway-desk.ts';
import { appleBody, applePost, lemonSqueezy, lemonSqueezyPost } from '../../support/gateway-payloads.ts';
import { tellsMask } from '../../support/masks.ts';

let desk: GatewayDesk;
let here: Dashboard;
let viewer: string;
let operator: string;

beforeAll(async () => {
  desk = await gatewayDesk();
  [here] = await Promise.all([dashboard(desk.environment), desk.worker()]);
  await isReady(here);
  [viewer, operator] = await Promise.all([here.signedIn('viewer'), here.signedIn('operator')]);
});
afterAll(async () => {
  await here.close();
  await desk.close();
});

const look = (path: string, cookie = viewer): Promise<Page> => here.get(path, { cookie });
const page = async (path: string, cookie = viewer): Promise<string> => (await look(path, cookie)).text;
const eventPage = (eventId: string): string => `/gateways/events/${encodeURIComponent(eventId)}`;
const WHEN = '2026-11-01T10:00:00.000000Z';

describe('the page of gateways', () => {
  it('finds what an owner has, by SKU too, and shows what the gateway sent and what each event did', async () => {
    const custom = { app_id: 'app', user_id: `<jane>-${randomUUID()}`, sku: 'pro & more' };
    const ref = newRef();
    await desk.happens(lemonSqueezy('subscription_created', { ref, at: WHEN, custom }));
    await desk.happens(
      lemonSqueezy('subscription_updated', {
        ref,
        at: '2026-10-20T00:00:00.000000Z',
        custom,
        status: 'past_due',
      }),
    );
    const { id } = await desk.subscription('lemonsqueezy', ref);
    const owner = encodeURIComponent(custom.user_id);
    for (const query of [`owner=${owner}`, `owner=${owner}&sku=${encodeURIComponent(custom.sku)}`]) {
      const found = await page(`/gateways?${query}`);
      expect(found).toContain(id);
      expect(found).toContain('pro &amp; more');
      expect(found).toContain('&lt;jane&gt;');
      expect(found).not.toContain('<jane>');
    }
    expect(await page(`/gateways?owner=${owner}&sku=other`)).toMatch(/has no\s+subscription/);
    const shown = await page(`/gateways/subscriptions/${id}`);
    expect(shown).toMatch(/subscription_updated[\s\S]*stale[\s\S]*subscription_created[\s\S]*applied/);
    expect(shown).toContain('pending → active');
    expect(shown).toContain(ref);
  });

  it('lists the events of a day, and leads to the day before', async () => {
    const ref = newRef();
    await desk.happens(
      lemonSqueezy('subscription_created', {
        ref,
        at: WHEN,
        custom: { app_id: 'a', user_id: ref, sku: 's' },
      }),
    );
    const today = await page('/gateways');
    expect(today).toContain(ref);
    const [, before] = /href="(\/gateways\?day=[\d-]+)"/.exec(today)!;
    expect(await page(before!)).not.toContain(ref);
    expect((await look('/gateways?day=tomorrow')).status).toBe(400);
  });

  it('shows what an event says, without who the customer is', async () => {
    const [ref, token] = [newRef(), randomUUID()];
    const posts = [
      lemonSqueezy('subscription_created', {
        ref,
        at: WHEN,
        custom: { app_id: 'a', user_id: ref, sku: 's' },
      }),
      applePost(appleBody(desk.chain, 'SUBSCRIBED', { ref, at: WHEN, token })),
    ];
    for (const post of posts) {
      const { body } = await desk.post(post);
      await desk.outcome(body.event_id!);
      const text = await page(eventPage(body.event_id!));
      expect(text).toContain('What it says');
      expect(text).toContain(ref);
      for (const secret of ['jane@example.com', 'Jane Doe', 'signature=secret'])
        expect(text).not.toContain(secret);
      expect(tellsMask(text, '4242')).toBe(false);
    }
    const { body } = await desk.post(lemonSqueezyPost('no JSON'));
    await desk.outcome(body.event_id!);
    expect(await page(eventPage(body.event_id!))).toContain('It cannot be read. It has 7 bytes.');
    expect((await look('/gateways/events/nothing')).status).toBe(404);
    expect((await look('/gateways/subscriptions/nothing')).status).toBe(404);
  });

  it('lists collisions, and lets an operator have the event applied again', async () => {
    const custom = { app_id: 'app', user_id: `user-${randomUUID()}`, sku: 'pro' };
    const [first, second] = [newRef(), newRef()];
    await desk.happens(lemonSqueezy('subscription_created', { ref: first, at: WHEN, custom }));
    const { body } = await desk.post(lemonSqueezy('subscription_created', { ref: second, at: WHEN, custom }));
    const eventId = body.event_id!;
    expect(await desk.outcome(eventId)).toMatchObject({ result: 'held' });
    const collided = await desk.subscription('lemonsqueezy', second);
    const listed = await page('/gateways');
    expect(listed).toContain(collided.id);
    expect(listed).toContain(encodeURIComponent(eventId));
    expect(await page(`/gateways/subscriptions/${collided.id}`)).toContain('kept back since');

    await desk.happens(
      lemonSqueezy('subscription_expired', {
        ref: first,
        at: '2026-11-02T00:00:00.000000Z',
        custom,
        status: 'expired',
      }),
    );
    const form = { id: eventId };
    expect((await here.post('/gateways/replay', form, { cookie: viewer })).status).toBe(403);
    expect(await page(eventPage(eventId), viewer)).not.toContain('Replay…');
    expect(await page(eventPage(eventId), operator)).toContain('Replay…');
    const question = await here.post('/gateways/replay', form, { cookie: operator });
    expect(question.text).toContain('Replay this event?');
    expect((await desk.subscription('lemonsqueezy', second)).status).toBe('past_due');
    const done = await here.post('/gateways/replay', { ...form, confirmed: 'yes' }, { cookie: operator });
    expect([done.status, done.headers.get('location')]).toEqual([
      303,
      `${eventPage(eventId)}?done=event-replayed`,
    ]);
    expect(await desk.outcome(eventId)).toMatchObject({ result: 'applied', to: 'active' });
    const shown = await page(eventPage(eventId), operator);
    expect(shown).toContain('replayed 1 time');
    const unknown = { id: 'lemonsqueezy.1.nothing', confirmed: 'yes' };
    expect((await here.post('/gateways/replay', unknown, { cookie: operator })).status).toBe(404);
  });
});
