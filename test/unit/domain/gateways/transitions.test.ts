import { describe, expect, it } from 'vitest';
import type { GatewayStatus } from '../../../../src/domain/gateways/status.ts';
import { GATEWAY_STATUSES, isActive } from '../../../../src/domain/gateways/status.ts';
import { TRANSITIONS, isLegalForGateway, next } from '../../../../src/domain/gateways/transitions.ts';
import type { Word } from '../../../../src/domain/gateways/transitions.ts';

/* Every cell by hand: by what is said, from pending, trial, active, past_due, cancelled, expired. */
const TABLE: readonly (readonly [Word, ...(GatewayStatus | null)[]])[] = [
  ['trialing', 'trial', 'trial', 'trial', 'trial', 'trial', 'trial'],
  ['paid', 'active', 'active', 'active', 'active', 'active', 'active'],
  ['unpaid', 'past_due', 'past_due', 'past_due', 'past_due', 'past_due', 'past_due'],
  ['cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled'],
  ['ended', 'expired', 'expired', 'expired', 'expired', 'expired', 'expired'],
  ['payment-failed', 'pending', 'past_due', 'past_due', 'past_due', 'cancelled', 'expired'],
  ['payment-made', 'pending', 'trial', 'active', 'active', 'cancelled', 'expired'],
  ['lapsed', null, null, null, null, 'expired', null],
];

const FROM = ['pending', 'trial', 'active', 'past_due', 'cancelled', 'expired'] as const;

const CELLS = TABLE.flatMap(([word, ...row]) => row.map((to, index) => [word, FROM[index]!, to] as const));

describe('the state machine', () => {
  it('has a row for every word and a cell for every status', () => {
    expect(TABLE.map(([word]) => word).sort()).toEqual(Object.keys(TRANSITIONS).sort());
    expect([...FROM]).toEqual([...GATEWAY_STATUSES]);
    expect(CELLS).toHaveLength(48);
  });

  it.each(CELLS)('%s, when it is %s → %s', (word, from, to) => {
    expect(TRANSITIONS[word][from]).toBe(to);
    if (word !== 'lapsed') expect(next(word, from)).toBe(to);
  });

  it.each([
    ['checkout completed', 'pending', 'trial'],
    ['checkout completed', 'pending', 'active'],
    ['payment failure', 'trial', 'past_due'],
    ['payment failure', 'active', 'past_due'],
    ['renewed', 'active', 'active'],
    ['cancel', 'trial', 'cancelled'],
    ['cancel', 'active', 'cancelled'],
    ['recovered', 'past_due', 'active'],
    ['expires', 'past_due', 'expired'],
    ['expires', 'cancelled', 'expired'],
    ['resumed', 'cancelled', 'active'],
  ] as const)('has the arrow "%s" from %s to %s', (_, from, to) => {
    expect(isLegalForGateway(from, to)).toBe(true);
  });

  it('never goes back to a checkout', () => {
    for (const from of GATEWAY_STATUSES)
      expect(isLegalForGateway(from, 'pending'), from).toBe(from === 'pending');
  });

  it('counts pending, trial and active as active', () => {
    expect(GATEWAY_STATUSES.filter(isActive)).toEqual(['pending', 'trial', 'active']);
  });
});
