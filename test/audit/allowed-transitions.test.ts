import { describe, expect, it } from 'vitest';
import type { AllowedTransition } from '../../src/audit/allowed-transitions.ts';
import { ALLOWED_TRANSITIONS, BORN_AS, TERMINAL, isAllowed } from '../../src/audit/allowed-transitions.ts';
import {
  ALLOWED_FLOAT_TRANSITIONS,
  CHARGED_BY,
  FLOAT_BORN_AS,
  OPEN_FLOATS,
} from '../../src/audit/floats/allowed-float-transitions.ts';
import {
  ALLOWED_RECURRING_TRANSITIONS,
  GOES_ON,
} from '../../src/audit/recurring/allowed-recurring-transitions.ts';
import { COLLECTED_BY } from '../../src/domain/floats/due.ts';
import { OPEN_FLOAT_STATUSES } from '../../src/domain/floats/float.ts';
import { FLOAT_BIRTH_STATUS, FLOAT_TRANSITIONS } from '../../src/domain/floats/transitions.ts';
import { RECURRING_STATUSES, isCharged } from '../../src/domain/recurring/recurring.ts';
import { RECURRING_TRANSITIONS } from '../../src/domain/recurring/transitions.ts';
import { BILLING_STATUSES } from '../../src/domain/subscription.ts';
import { BIRTH_STATUSES, TRANSITIONS, isTerminal } from '../../src/domain/transitions.ts';

describe('the audit’s copy of the transition table', () => {
  it('says the same as the table that records are moved by', () => {
    expect(copied(ALLOWED_TRANSITIONS)).toEqual(tabled(TRANSITIONS));
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

describe('the audit’s copy of what floats may do', () => {
  it('says the same as the table that floats are moved by', () => {
    expect(copied(ALLOWED_FLOAT_TRANSITIONS)).toEqual(tabled(FLOAT_TRANSITIONS));
    expect(FLOAT_BORN_AS).toBe(FLOAT_BIRTH_STATUS);
  });

  it('agrees on which are open and on which each stage charges', () => {
    expect(OPEN_FLOATS).toEqual(OPEN_FLOAT_STATUSES);
    expect(CHARGED_BY).toEqual(COLLECTED_BY);
  });
});

describe('the audit’s copy of what recurring payments may do', () => {
  it('says the same as the table that they are moved by, and which go on', () => {
    expect(copied(ALLOWED_RECURRING_TRANSITIONS)).toEqual(tabled(RECURRING_TRANSITIONS));
    expect(GOES_ON).toEqual(RECURRING_STATUSES.filter(isCharged));
  });
});

const line = (from: string, to: string, causes: readonly string[]): string =>
  `${from} → ${to}: ${[...causes].sort().join(' ')}`;

const copied = (transitions: readonly AllowedTransition[]): string[] =>
  transitions.map(({ from, to, causes }) => line(from, to, causes)).sort();

const tabled = (table: Record<string, Partial<Record<string, readonly string[]>>>): string[] =>
  Object.entries(table)
    .flatMap(([from, row]) => Object.entries(row).map(([to, causes]) => line(from, to, causes ?? [])))
    .sort();
