import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENTS, STATUSES } from '../../../src/adapters/gateways/lemonsqueezy/events.ts';
import { readEvent, showEvent } from '../../../src/adapters/gateways/lemonsqueezy/read-event.ts';
import { verifyWith } from '../../../src/adapters/gateways/lemonsqueezy/verify.ts';
import { MalformedEventError } from '../../../src/errors.ts';
import {
  LEMONSQUEEZY_SECRET,
  deliveryOf,
  lemonSqueezy,
  lemonSqueezyBody,
  lemonSqueezyPost,
  lemonSqueezySignature,
} from '../../support/gateway-payloads.ts';
import { at } from '../../support/records.ts';

const WHEN = '2026-11-01T10:00:00.123456Z';
const CUSTOM = { app_id: 'app', user_id: 'jane', sku: 'pro', subscription_id: 'sub-1' };
const OPTIONS = { ref: '1042', at: WHEN, custom: CUSTOM };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const read = (name: string, more: Partial<Parameters<typeof lemonSqueezy>[1]> = {}) =>
  readEvent(bytes(lemonSqueezy(name, { ...OPTIONS, ...more }).body));

describe('an event of Lemon Squeezy', () => {
  it.each(Object.keys(EVENTS).filter((name) => EVENTS[name] === 'state'))('%s tells all of it', (name) => {
    expect(read(name)).toMatchObject({
      gateway: 'lemonsqueezy',
      name,
      ref: '1042',
      claim: {
        subscriptionId: 'sub-1',
        slot: { appId: 'app', ownerType: 'user', ownerId: 'jane', sku: 'pro' },
      },
      report: {
        kind: 'state',
        word: 'paid',
        at: at(WHEN),
        startedAt: at('2026-10-01T00:00:00Z'),
        expiresAt: at('2026-12-01T00:00:00Z'),
        quantity: 1,
        productId: '5',
      },
    });
  });

  it.each([
    ['on_trial', 'trialing', '2026-10-15T00:00:00Z'],
    ['active', 'paid', '2026-12-01T00:00:00Z'],
    ['paused', 'unpaid', '2026-12-01T00:00:00Z'],
    ['past_due', 'unpaid', '2026-12-01T00:00:00Z'],
    ['unpaid', 'unpaid', '2026-12-01T00:00:00Z'],
    ['cancelled', 'cancelled', '2026-11-20T00:00:00Z'],
    ['expired', 'ended', '2026-11-20T00:00:00Z'],
  ])('with the status %s says %s', (status, word, expires) => {
    const isOver = status === 'cancelled' || status === 'expired';
    const attributes = {
      trial_ends_at: '2026-10-15T00:00:00.000000Z',
      ends_at: isOver ? '2026-11-20T00:00:00.000000Z' : null,
    };
    expect(read('subscription_updated', { status, attributes }).report).toMatchObject({
      word,
      expiresAt: at(expires),
    });
    expect(STATUSES).toContain(status);
  });

  it.each([
    ['subscription_payment_failed', 'payment-failed'],
    ['subscription_payment_success', 'payment-made'],
    ['subscription_payment_recovered', 'payment-made'],
  ])('%s is about an invoice', (name, word) => {
    expect(read(name)).toMatchObject({
      ref: '1042',
      claim: { subscriptionId: 'sub-1' },
      report: { kind: 'payment', word, at: at(WHEN) },
    });
  });

  it.each([
    ['subscription_payment_refunded', 'no-change', '1042'],
    ['order_created', 'no-change', '1042'],
    ['something_new', 'unknown-event', '1042'],
    ['constructor', 'unknown-event', '1042'],
  ])('%s says nothing: %s', (name, reason, ref) => {
    expect(read(name)).toMatchObject({ name, ref, report: { kind: 'none', reason } });
  });

  it('is about no subscription where it names none', () => {
    const body = JSON.stringify({ meta: { event_name: 'order_created' }, data: { type: 'orders', id: '1' } });
    expect(readEvent(bytes(body))).toMatchObject({ ref: null, report: { kind: 'none' } });
  });

  it('is known by its name and its body, and by nothing that was not signed', () => {
    const [one, two] = [read('subscription_created'), read('subscription_created')];
    expect(one.identity).toBe(two.identity);
    expect(one.identity).toMatch(/^subscription_created-[0-9a-f]{64}$/);
    expect(read('subscription_created', { at: '2026-11-01T10:00:00.123457Z' }).identity).not.toBe(
      one.identity,
    );
  });

  it('tells as much of the owner as the checkout was given', () => {
    const claim = (custom: object) => read('subscription_created', { custom }).claim;
    expect(claim({})).toEqual({ subscriptionId: null, slot: null });
    expect(claim({ subscription_id: 'sub-1' })).toMatchObject({ subscriptionId: 'sub-1', slot: null });
    expect(claim({ app_id: 'app', user_id: 7, sku: 'pro' })).toMatchObject({ slot: { ownerId: '7' } });
    expect(claim({ app_id: 'app', user_id: 'jane' })).toMatchObject({ slot: null });
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['no object', '[]'],
    ['null', 'null'],
    ['no name', '{"meta":{}}'],
    ['a name that is none', JSON.stringify({ meta: { event_name: 'a.b' } })],
    ['no subscription', JSON.stringify({ meta: { event_name: 'subscription_created' } })],
    ['an unknown status', lemonSqueezyBody('subscription_updated', { ...OPTIONS, status: 'odd' })],
    ['no time', lemonSqueezyBody('subscription_updated', { ...OPTIONS, at: 'yesterday' })],
    ['no id', lemonSqueezyBody('subscription_updated', { ...OPTIONS, ref: '../x' })],
    [
      'no seats',
      lemonSqueezyBody('subscription_updated', {
        ...OPTIONS,
        attributes: { first_subscription_item: { quantity: 0 } },
      }),
    ],
  ])('with %s cannot be read, and that is all', (_, body) => {
    expect(() => readEvent(bytes(body))).toThrow(MalformedEventError);
  });

  it('is never read as anything, or with another error, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(bytes)), (body) => {
        try {
          readEvent(body);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedEventError);
        }
      }),
    );
  });

  it('is shown without links that let whoever has them change the subscription, and without the customer', () => {
    const shown = JSON.stringify(showEvent(bytes(lemonSqueezy('subscription_created', OPTIONS).body)));
    expect(shown).toContain('subscription_created');
    for (const secret of ['signature=secret', '4242', 'visa', 'Jane', 'jane@'])
      expect(shown).not.toContain(secret);
    expect(showEvent(bytes('7'))).toEqual({ body: 7 });
  });

  it('is shown without the customer’s address wherever it stands', () => {
    const custom = { customer_email: 'jane@example.com', note: 'write to jane@example.com', seats: 3 };
    const shown = JSON.stringify(showEvent(bytes(JSON.stringify({ meta: { custom_data: custom } }))));
    expect(shown).toContain('"seats":3');
    expect(shown).not.toContain('jane');
  });

  it('is shown however deep it is', () => {
    const deep = bytes('['.repeat(100_000) + ']'.repeat(100_000));
    expect(JSON.stringify(showEvent(deep)).length).toBeLessThan(100);
  });
});

describe('its signature', () => {
  const verify = verifyWith(LEMONSQUEEZY_SECRET);
  const post = lemonSqueezy('subscription_created', OPTIONS);
  const verified = (body: string | Uint8Array, signature: string | undefined): Promise<boolean> =>
    verify({ body: Buffer.from(body), header: (name) => (name === 'x-signature' ? signature : undefined) });

  it('is over the body as it came', async () => {
    expect(await verify(deliveryOf(post))).toBe(true);
    expect(await verified(post.body, lemonSqueezySignature(post.body).toUpperCase())).toBe(true);
    const odd = new Uint8Array([0xff, 0xfe, 0, 0x22]);
    expect(await verified(odd, lemonSqueezySignature(odd))).toBe(true);
  });

  it.each([
    ['of another body', lemonSqueezySignature('{}')],
    ['with another secret', lemonSqueezySignature(post.body, 'another-secret')],
    ['that is cut', lemonSqueezySignature(post.body).slice(0, 62)],
    ['that is longer', `${lemonSqueezySignature(post.body)}00`],
    ['that is no hexadecimal', 'z'.repeat(64)],
    ['that is empty', ''],
    ['that is missing', undefined],
  ])('%s is refused', async (_, signature) => {
    expect(await verified(post.body, signature)).toBe(false);
  });

  it('does not fit a body that was changed in any one byte', async () => {
    const original = Buffer.from(post.body);
    for (let index = 0; index < original.length; index += 97) {
      const forged = Buffer.from(original);
      forged[index] = forged[index]! ^ 1;
      expect(await verify({ ...deliveryOf(lemonSqueezyPost(post.body)), body: forged })).toBe(false);
    }
  });
});
