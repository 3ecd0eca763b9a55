import type { AppleOptions, Chain, CustomData, Post } from './gateway-payloads.ts';
import { appleBody, applePost, lemonSqueezy } from './gateway-payloads.ts';

/*
 * What gateways really send about a subscription that is bought, fails, recovers, is cancelled and ends: six events each,
 * in the order in which they happened.
 */

export const lemonSqueezyHistory = (ref: string, custom: CustomData): Post[] => {
  const event = (name: string, at: string, status?: string, attributes = {}) =>
    lemonSqueezy(name, { ref, at, custom, attributes, ...(status === undefined ? {} : { status }) });
  return [
    event('subscription_created', '2026-10-01T00:00:00.000000Z', 'on_trial', {
      trial_ends_at: '2026-10-15T00:00:00.000000Z',
    }),
    event('subscription_updated', '2026-10-15T00:00:03.100000Z', 'active', {
      renews_at: '2026-11-15T00:00:00.000000Z',
    }),
    event('subscription_payment_failed', '2026-11-15T00:00:05.000000Z'),
    event('subscription_payment_recovered', '2026-11-16T00:00:07.000000Z'),
    event('subscription_cancelled', '2026-11-20T10:00:00.000000Z', 'cancelled', {
      ends_at: '2026-12-15T00:00:00.000000Z',
    }),
    event('subscription_resumed', '2026-11-21T10:00:00.000000Z', 'active', {
      renews_at: '2026-12-15T00:00:00.000000Z',
      first_subscription_item: { id: 7, quantity: 3 },
    }),
  ];
};

export const appleHistory = (chain: Chain, ref: string, token: string): Post[] => {
  const event = (type: string, at: string, options: Partial<AppleOptions> = {}): Post =>
    applePost(appleBody(chain, type, { ref, at, token, ...options }));
  const until = (text: string) => ({ transaction: { expiresDate: Date.parse(text) } });
  return [
    event('SUBSCRIBED', '2026-10-01T00:00:00Z', {
      subtype: 'INITIAL_BUY',
      transaction: { offerDiscountType: 'FREE_TRIAL', expiresDate: Date.parse('2026-10-15T00:00:00Z') },
    }),
    event('DID_RENEW', '2026-10-14T23:00:00Z', until('2026-11-15T00:00:00Z')),
    event('DID_FAIL_TO_RENEW', '2026-11-15T00:00:01Z', {
      subtype: 'GRACE_PERIOD',
      ...until('2026-11-15T00:00:00Z'),
      renewal: { gracePeriodExpiresDate: Date.parse('2026-12-01T00:00:00Z') },
    }),
    event('DID_RENEW', '2026-11-16T00:00:00Z', {
      subtype: 'BILLING_RECOVERY',
      ...until('2026-12-16T00:00:00Z'),
    }),
    event('DID_CHANGE_RENEWAL_STATUS', '2026-11-20T00:00:00Z', {
      subtype: 'AUTO_RENEW_DISABLED',
      ...until('2026-12-16T00:00:00Z'),
    }),
    event('EXPIRED', '2026-12-16T00:00:01Z', { subtype: 'VOLUNTARY', ...until('2026-12-16T00:00:00Z') }),
  ];
};
