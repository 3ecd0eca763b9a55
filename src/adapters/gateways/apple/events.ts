import type { StateWord } from '../../../domain/gateways/transitions.ts';

/*
 * What Apple's notification types mean, where it matters with their subtype. Each carries the newest transaction and
 * renewal: with the type they say where the subscription stands.
 */

/** `by-offer`: it goes on, and whether anything was paid for it is told by the transaction's offer. */
export type Meaning = StateWord | 'by-offer' | 'no-change';

/** Looked up by type and subtype, then by type. What is missing here is an event that we do not know. */
export const EVENTS: Readonly<Record<string, Meaning>> = {
  SUBSCRIBED: 'by-offer',
  DID_RENEW: 'paid',
  DID_FAIL_TO_RENEW: 'unpaid',
  GRACE_PERIOD_EXPIRED: 'unpaid',
  'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED': 'cancelled',
  'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED': 'by-offer',
  EXPIRED: 'ended',
  REVOKE: 'ended',
  REFUND: 'ended',
  CONSUMPTION_REQUEST: 'no-change',
  DID_CHANGE_RENEWAL_PREF: 'no-change',
  EXTERNAL_PURCHASE_TOKEN: 'no-change',
  METADATA_UPDATE: 'no-change',
  MIGRATION: 'no-change',
  OFFER_REDEEMED: 'no-change',
  ONE_TIME_CHARGE: 'no-change',
  PRICE_CHANGE: 'no-change',
  PRICE_INCREASE: 'no-change',
  REFUND_DECLINED: 'no-change',
  REFUND_REVERSED: 'no-change',
  RENEWAL_EXTENDED: 'no-change',
  RENEWAL_EXTENSION: 'no-change',
  RESCIND_CONSENT: 'no-change',
  TEST: 'no-change',
};

/** What else is sold once can be refunded and revoked under the same names. */
export const SUBSCRIPTION = 'Auto-Renewable Subscription';

export const FREE_OFFER = 'FREE_TRIAL';

/** The customer keeps what they have until its end, although the renewal failed. */
export const IN_GRACE = 'DID_FAIL_TO_RENEW/GRACE_PERIOD';
