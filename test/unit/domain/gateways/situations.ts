import type { PaymentReport, StateReport } from '../../../../src/domain/gateways/gateway-event.ts';
import type { TellingEvent } from '../../../../src/domain/gateways/hear.ts';
import { hear } from '../../../../src/domain/gateways/hear.ts';
import type {
  GatewayName,
  GatewaySubscription,
  GatewaySubscriptionId,
} from '../../../../src/domain/gateways/subscription.ts';
import { unheardOf } from '../../../../src/domain/gateways/subscription.ts';
import type { PaymentWord, StateWord } from '../../../../src/domain/gateways/transitions.ts';
import { at } from '../../../support/records.ts';

export const MINE = 'mine' as GatewaySubscriptionId;
export const OTHER = 'other' as GatewaySubscriptionId;
export const NOW = at('2026-11-16T08:00:00Z');

export const fresh = (): GatewaySubscription =>
  unheardOf({
    id: MINE,
    appId: 'app',
    ownerType: 'user',
    ownerId: 'jane',
    productId: 'product',
    sku: 'pro',
    gateway: 'lemonsqueezy' as GatewayName,
    gatewayRef: '1',
    quantity: 1,
  });

const event = (identity: string, report: StateReport | PaymentReport): TellingEvent => ({
  gateway: 'lemonsqueezy' as GatewayName,
  identity,
  name: identity,
  ref: '1',
  claim: { subscriptionId: null, slot: null },
  report,
});

export const said = (
  word: StateWord,
  when: string,
  {
    identity = `${word}-${when.replaceAll(/\W/g, '')}`,
    expires = '2026-12-01T00:00:00Z',
    seats = 1,
    product = 'theirs',
  } = {},
): TellingEvent =>
  event(identity, {
    kind: 'state',
    word,
    at: at(when),
    startedAt: at('2026-10-01T00:00:00Z'),
    expiresAt: at(expires),
    quantity: seats,
    productId: product,
  });

export const payment = (word: PaymentWord, when: string): TellingEvent =>
  event(`${word}-${when.replaceAll(/\W/g, '')}`, { kind: 'payment', word, at: at(when) });

/** What it is after these, in this order, while nobody is in its way. */
export const after = (
  events: readonly TellingEvent[],
  holder: GatewaySubscriptionId | null = null,
): GatewaySubscription =>
  events.reduce((before, each) => {
    const hearing = hear(before, each, { holder, now: NOW });
    return hearing.result === 'stale' ? before : hearing.subscription;
  }, fresh());
