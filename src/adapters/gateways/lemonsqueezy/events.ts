import type { PaymentWord, StateWord } from '../../../domain/gateways/transitions.ts';

/*
 * What Lemon Squeezy's names mean. An event about a subscription carries the whole of it, and its `status` says where it
 * stands; one about a payment carries an invoice.
 */

export type Meaning = 'state' | PaymentWord | 'no-change';

/** A name that is missing here is an event that we do not know. */
export const EVENTS: Readonly<Record<string, Meaning>> = {
  subscription_created: 'state',
  subscription_updated: 'state',
  subscription_cancelled: 'state',
  subscription_resumed: 'state',
  subscription_expired: 'state',
  subscription_paused: 'state',
  subscription_unpaused: 'state',
  subscription_plan_changed: 'state',
  subscription_payment_failed: 'payment-failed',
  subscription_payment_success: 'payment-made',
  subscription_payment_recovered: 'payment-made',
  // The money of one invoice: whether the subscription ends with it is told by an event of its own.
  subscription_payment_refunded: 'no-change',
  order_created: 'no-change',
  order_refunded: 'no-change',
  license_key_created: 'no-change',
  license_key_updated: 'no-change',
  affiliate_activated: 'no-change',
  dispute_created: 'no-change',
  dispute_resolved: 'no-change',
};

export const STATUSES = [
  'on_trial',
  'active',
  'paused',
  'past_due',
  'unpaid',
  'cancelled',
  'expired',
] as const;
export type LemonSqueezyStatus = (typeof STATUSES)[number];

export const WORDS: Readonly<Record<LemonSqueezyStatus, StateWord>> = {
  on_trial: 'trialing',
  active: 'paid',
  // No money comes in, and it can go on at any time.
  paused: 'unpaid',
  past_due: 'unpaid',
  unpaid: 'unpaid',
  cancelled: 'cancelled',
  expired: 'ended',
};

export type EndField = 'trial_ends_at' | 'ends_at' | 'renews_at';

/** Which of its dates says how long the subscription is good for; the first that is set. */
export const ENDS: Readonly<Record<LemonSqueezyStatus, readonly EndField[]>> = {
  on_trial: ['trial_ends_at', 'renews_at'],
  active: ['renews_at'],
  paused: ['ends_at', 'renews_at'],
  past_due: ['ends_at', 'renews_at'],
  unpaid: ['ends_at', 'renews_at'],
  cancelled: ['ends_at', 'renews_at'],
  expired: ['ends_at', 'renews_at'],
};
