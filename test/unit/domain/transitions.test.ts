import { describe, expect, it } from 'vitest';
import type { BillingStatus } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import type { Cause } from '../../../src/domain/transitions.ts';
import { BIRTH_STATUSES, CAUSES, causesOf, isLegal, isTerminal } from '../../../src/domain/transitions.ts';

const STATUSES = [
  'SCHEDULED',
  'ACHSENT',
  'COMPLETED',
  'ERROR',
  'WAIVED',
  'CANCELLED',
  'PAUSED',
  'PAUSED_SKIPPED',
  'REFUNDED',
  'STALE',
  'INACTIVE',
] as const satisfies readonly BillingStatus[];

/** One letter for each cause, so that the whole table can be seen at once. */
const LEGEND: Record<string, Cause> = {
  O: 'attempt-opened',
  S: 'attempt-succeeded',
  A: 'ach-accepted',
  D: 'attempt-declined',
  B: 'balance-refused',
  X: 'cancelled-by-run',
  E: 'employee-waived',
  T: 'gone-stale',
  K: 'pause-skipped',
  c: 'membership-cancelled',
  p: 'membership-paused',
  r: 'membership-retracted',
  u: 'membership-unpaused',
  z: 'account-closed',
  C: 'ach-completed',
  R: 'ach-returned',
  F: 'refunded',
  H: 'charged-back',
  s: 'support-changed',
  P: 'plan-changed',
  y: 'reactivated',
  o: 'refund-opened',
  a: 'refund-accepted',
  d: 'refund-declined',
  t: 'told-aside',
};

/** Rows: from; columns: to, in the order of STATUSES. A point is a change that must not happen. */
const GRID = `
                  SCHED   ACHS COMPL  ERROR   WAIVED CANC    PAUSED P_SKIP REFUND STALE INACT
  SCHEDULED       ODcrsPt A    S      DB      Es     Xzsy    ps     .      .      T     .
  ACHSENT         .       ADt  SC     RH      .      .       .      .      F      R     .
  COMPLETED       .       A    SDoadt RH      .      .       .      .      F      R     .
  ERROR           s       A    S      ODBsadt Es     Xs      .      .      .      T     .
  WAIVED          .       A    S      .       Dt     .       .      .      .      .     .
  CANCELLED       .       A    S      .       .      Dcpruzt .      .      .      .     .
  PAUSED          us      A    S      .       s      Xuzsy   Dcst   K      .      .     .
  PAUSED_SKIPPED  .       A    S      .       .      .       .      Dt     .      .     .
  REFUNDED        .       A    S      .       .      .       .      .      Dadt   .     .
  STALE           .       A    S      .       .      .       .      .      .      Dadt  .
  INACTIVE        .       .    .      .       .      .       .      .      .      .     .
`;

const cells = GRID.trim()
  .split('\n')
  .slice(1)
  .flatMap((line) => {
    const [from, ...row] = line.trim().split(/\s+/);
    return row.map((letters, column) => ({
      from: from as BillingStatus,
      to: STATUSES[column]!,
      causes: letters === '.' ? [] : [...letters].map((letter) => LEGEND[letter]!),
    }));
  });

const TERMINAL = ['COMPLETED', 'WAIVED', 'CANCELLED', 'PAUSED_SKIPPED', 'REFUNDED', 'STALE'] as const;

describe('the table of this test', () => {
  it('has a cell for every pair of statuses and a letter for every cause', () => {
    expect(cells).toHaveLength(121);
    expect(new Set(cells.map(({ from, to }) => `${from} ${to}`)).size).toBe(121);
    expect([...BILLING_STATUSES].sort()).toEqual([...STATUSES].sort());
    expect(Object.values(LEGEND).sort()).toEqual([...CAUSES].sort());
  });
});

describe('every change of status', () => {
  it.each(cells)('from $from to $to is legal for $causes only', ({ from, to, causes }) => {
    expect([...causesOf(from, to)].sort()).toEqual([...causes].sort());
    for (const cause of CAUSES) expect(isLegal(from, to, cause), cause).toBe(causes.includes(cause));
  });

  it.each(CAUSES)('%s causes some change', (cause) => {
    expect(cells.some(({ from, to }) => isLegal(from, to, cause))).toBe(true);
  });
});

describe('terminal statuses', () => {
  it('are the six in which a period is over', () => {
    expect(STATUSES.filter(isTerminal)).toEqual(TERMINAL);
  });

  it('are left only by the outcome of an attempt that was open, or by a late reversal of a completed one', () => {
    const exits = TERMINAL.flatMap((from) =>
      STATUSES.filter((to) => to !== from).flatMap((to) =>
        causesOf(from, to).map((cause) => `${from} → ${to}: ${cause}`),
      ),
    );
    expect(exits.sort()).toEqual(
      [
        ...['WAIVED', 'CANCELLED', 'PAUSED_SKIPPED', 'REFUNDED', 'STALE'].flatMap((from) => [
          `${from} → ACHSENT: ach-accepted`,
          `${from} → COMPLETED: attempt-succeeded`,
        ]),
        'COMPLETED → ACHSENT: ach-accepted',
        'COMPLETED → ERROR: ach-returned',
        'COMPLETED → ERROR: charged-back',
        'COMPLETED → REFUNDED: refunded',
        'COMPLETED → STALE: ach-returned',
      ].sort(),
    );
  });

  it('are never the place where an attempt is opened', () => {
    for (const from of TERMINAL) {
      for (const to of STATUSES) expect(isLegal(from, to, 'attempt-opened'), `${from} → ${to}`).toBe(false);
    }
  });
});

describe("the outcome of one's own attempt", () => {
  const stored = STATUSES.filter((status) => status !== 'INACTIVE');

  it.each(stored)('is legal from %s: the money has moved, whatever became of the row', (status) => {
    expect(isLegal(status, 'COMPLETED', 'attempt-succeeded')).toBe(true);
    expect(isLegal(status, 'ACHSENT', 'ach-accepted')).toBe(true);
    expect(isLegal(status, status, 'attempt-declined')).toBe(true);
  });
});

describe('what support may do', () => {
  const LEGAL = [
    'SCHEDULED → SCHEDULED', // another due date
    'SCHEDULED → PAUSED',
    'SCHEDULED → CANCELLED',
    'SCHEDULED → WAIVED',
    'PAUSED → PAUSED',
    'PAUSED → SCHEDULED',
    'PAUSED → CANCELLED',
    'PAUSED → WAIVED',
    'ERROR → ERROR',
    'ERROR → SCHEDULED',
    'ERROR → CANCELLED',
    'ERROR → WAIVED',
  ];

  it('is limited to records that are neither on their way nor over', () => {
    const legal = cells
      .filter(({ from, to }) => isLegal(from, to, 'support-changed'))
      .map(({ from, to }) => `${from} → ${to}`);
    expect(legal.sort()).toEqual(LEGAL.sort());
  });
});

describe('INACTIVE', () => {
  it('is no status of a record: nothing leads there, nothing leads away, none is born in it', () => {
    for (const status of STATUSES) {
      expect(causesOf('INACTIVE', status)).toEqual([]);
      expect(causesOf(status, 'INACTIVE')).toEqual([]);
    }
    expect(BIRTH_STATUSES).not.toContain('INACTIVE');
    expect(isTerminal('INACTIVE')).toBe(false);
  });
});

describe('a new record', () => {
  it('is scheduled, paused, paid at once, or the trace of a charge that failed', () => {
    expect([...BIRTH_STATUSES].sort()).toEqual(['CANCELLED', 'COMPLETED', 'PAUSED', 'SCHEDULED']);
  });
});
