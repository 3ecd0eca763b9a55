import { describe, expect, it } from 'vitest';
import { ALLOWED_TRANSITIONS, BORN_AS, TERMINAL, isAllowed } from '../../src/audit/allowed-transitions.ts';
import { BILLING_STATUSES } from '../../src/domain/subscription.ts';
import { BIRTH_STATUSES, TRANSITIONS, isTerminal } from '../../src/domain/transitions.ts';

describe('the audit’s copy of the transition table', () => {
  it('says the same as the table that records are moved by', () => {
    const copy = ALLOWED_TRANSITIONS.map(
      ({ from, to, causes }) => `${from} → ${to}: ${[...causes].sort().join(' ')}`,
    );
    const table = Object.entries(TRANSITIONS).flatMap(([from, row]) =>
      Object.entries(row).map(([to, causes]) => `${from} → ${to}: ${[...causes].sort().join(' ')}`),
    );
    expect(copy.sort()).toEqual(table.sort());
  });

  it('agrees on how records begin and which statuses are final', () => {
    expect([...BORN_AS].sort()).toEqual([...BIRTH_STATUSES].sort());
    expect([...TERMINAL].sort()).toEqual(BILLING_STATUSES.filter(isTerminal).sort());
  });

  it('asks the Go service for a pair of statuses only', () => {
    expect(isAllowed('SCHEDULED', 'COMPLETED', null)).toBe(true);
    expect(isAllowed('SCHEDULED', 'COMPLETED', 'refunded')).toBe(false);
    expect(isAllowed('CANCELLED', 'SCHEDULED', null)).toBe(false);
  });
});
