import { describe, expect, it } from 'vitest';
import { readEvent as readApple } from '../../../src/adapters/gateways/apple/read-event.ts';
import { readEvent as readLemonSqueezy } from '../../../src/adapters/gateways/lemonsqueezy/read-event.ts';
import type { GatewayEvent } from '../../../src/domain/gateways/gateway-event.ts';
import { isTelling } from '../../../src/domain/gateways/hear.ts';
import { appleHistory, lemonSqueezyHistory } from '../../support/gateway-histories.ts';
import type { Post } from '../../support/gateway-payloads.ts';
import { appleChain } from '../../support/gateway-payloads.ts';
import { permutations } from '../../support/permutations.ts';
import { at } from '../../support/records.ts';
import { after } from '../domain/gateways/situations.ts';

const eventsOf = (posts: readonly Post[], read: (body: Uint8Array) => GatewayEvent) =>
  posts.map(({ body }) => read(Buffer.from(body))).filter(isTelling);

describe.each([
  [
    'Lemon Squeezy',
    () => eventsOf(lemonSqueezyHistory('1', {}), readLemonSqueezy),
    { status: 'active', expiresAt: at('2026-12-15T00:00:00Z'), quantity: 3 },
  ],
  [
    'Apple',
    () => eventsOf(appleHistory(appleChain(), '1', 'jane'), readApple),
    { status: 'expired', expiresAt: at('2026-12-16T00:00:00Z'), quantity: 1 },
  ],
])('six events of %s', (_, history, end) => {
  it('end the same in each of their 720 orders', () => {
    const events = history();
    expect(events).toHaveLength(6);
    const right = after(events);
    expect(right).toMatchObject({ ...end, startedAt: at('2026-10-01T00:00:00Z') });
    const orders = permutations(events);
    expect(orders).toHaveLength(720);
    for (const order of orders) expect(after(order)).toEqual(right);
  });
});
