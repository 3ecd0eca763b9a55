import { describe, expect, it } from 'vitest';
import { entitlementOf } from '../../../../src/domain/gateways/entitlement.ts';
import type { GatewaySubscription } from '../../../../src/domain/gateways/subscription.ts';
import { at } from '../../../support/records.ts';
import { NOW, fresh } from './situations.ts';

const LATER = at('2026-11-16T08:00:01Z');
const one = (fields: Partial<GatewaySubscription>): GatewaySubscription => ({ ...fresh(), ...fields });
const isEntitled = (fields: Partial<GatewaySubscription>): boolean =>
  entitlementOf([one(fields)], NOW) !== null;

describe('whether an owner may use a SKU', () => {
  it.each([
    ['pending', false, false],
    ['trial', true, true],
    ['active', true, true],
    ['past_due', true, false],
    ['cancelled', true, false],
    ['expired', false, false],
  ] as const)('%s: %s before its end, %s without one', (status, dated, undated) => {
    expect(isEntitled({ status, expiresAt: LATER })).toBe(dated);
    expect(isEntitled({ status, expiresAt: null })).toBe(undated);
  });

  it.each(['trial', 'active', 'past_due', 'cancelled'] as const)('not after the end: %s', (status) => {
    expect(isEntitled({ status, expiresAt: NOW })).toBe(false);
  });

  it('says until when and with how many seats, by what lasts longest', () => {
    const [short, long] = [
      one({ status: 'active', expiresAt: LATER, quantity: 1 }),
      one({ status: 'cancelled', expiresAt: at('2027-01-01T00:00:00Z'), quantity: 4 }),
    ];
    const over = one({ status: 'expired', expiresAt: at('2028-01-01T00:00:00Z') });
    expect(entitlementOf([short, long, over], NOW)).toEqual({
      subscription: long,
      until: long.expiresAt,
      seats: 4,
    });
    const endless = one({ status: 'active', expiresAt: null, quantity: 9 });
    expect(entitlementOf([short, endless, long], NOW)).toMatchObject({ until: null, seats: 9 });
    expect(entitlementOf([], NOW)).toBeNull();
  });
});
