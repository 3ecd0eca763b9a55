import { describe, expect, it } from 'vitest';
import type { FloatStatus } from '../../../../src/domain/floats/float.ts';
import { FLOAT_STATUSES, isOpenFloat } from '../../../../src/domain/floats/float.ts';
import type { FloatCause } from '../../../../src/domain/floats/transitions.ts';
import {
  FLOAT_BIRTH_STATUS,
  FLOAT_CAUSES,
  changesFloat,
  floatCausesOf,
  isLegalForFloat,
} from '../../../../src/domain/floats/transitions.ts';

const STATUSES = [
  'SCHEDULING',
  'ACHSENT',
  'RETRY',
  'UNCOLLECTABLE',
  'COMPLETED',
  'DEFAULTED',
] as const satisfies readonly FloatStatus[];

/** One letter for each cause, so that the whole table can be seen at once. */
const LEGEND: Record<string, FloatCause> = {
  O: 'attempt-opened',
  S: 'attempt-succeeded',
  A: 'ach-accepted',
  D: 'attempt-declined',
  G: 'given-up-for-today',
  M: 'account-missing',
  L: 'limit-reached',
  C: 'ach-completed',
  R: 'ach-returned',
  B: 'credit-returned',
  T: 'told-aside',
  s: 'support-changed',
};

/** Rows: from; columns: to, in the order of STATUSES. A point is a change that must not happen. */
const GRID = `
                 SCHED  ACHS  RETRY  UNCOLL  COMPL  DEFAULTED
  SCHEDULING     OD     A     DGs    .       Ss     LBs
  ACHSENT        .      T     R      .       C      B
  RETRY          .      A     ODTs   M       Ss     LBs
  UNCOLLECTABLE  .      A     Ds     ODT     Ss     LBs
  COMPLETED      .      .     R      .       T      B
  DEFAULTED      .      A     s      .       S      DTB
`;
const cells = GRID.trim()
  .split('\n')
  .slice(1)
  .flatMap((line) => {
    const [from, ...row] = line.trim().split(/\s+/);
    return row.map((letters, column) => ({
      from: from as FloatStatus,
      to: STATUSES[column]!,
      causes: letters === '.' ? [] : [...letters].map((letter) => LEGEND[letter]!),
    }));
  });

describe('the table of this test', () => {
  it('has a cell for every pair of statuses and a letter for every cause', () => {
    expect(new Set(cells.map(({ from, to }) => `${from} ${to}`)).size).toBe(36);
    expect([...FLOAT_STATUSES].sort()).toEqual([...STATUSES].sort());
    expect(Object.values(LEGEND).sort()).toEqual([...FLOAT_CAUSES].sort());
  });
});

describe('every change of a float', () => {
  it.each(cells)('from $from to $to is legal for $causes only', ({ from, to, causes }) => {
    expect([...floatCausesOf(from, to)].sort()).toEqual([...causes].sort());
    for (const cause of FLOAT_CAUSES)
      expect(isLegalForFloat(from, to, cause), cause).toBe(causes.includes(cause));
  });

  const pairs = STATUSES.flatMap((from) => FLOAT_CAUSES.map((cause) => ({ from, cause })));
  it.each(pairs)('from $from, $cause leads somewhere only if the table says so', ({ from, cause }) => {
    const somewhere = cells.some((cell) => cell.from === from && cell.causes.includes(cause));
    expect(changesFloat(from, cause)).toBe(somewhere);
  });
});

describe('a float', () => {
  it('is born when it has been paid out, and is open until it is paid back or lost', () => {
    expect(FLOAT_BIRTH_STATUS).toBe('SCHEDULING');
    expect(STATUSES.filter(isOpenFloat)).toEqual(['SCHEDULING', 'ACHSENT', 'RETRY', 'UNCOLLECTABLE']);
  });

  it('in any status is lost when the advance itself comes back', () => {
    for (const status of STATUSES)
      expect(isLegalForFloat(status, 'DEFAULTED', 'credit-returned'), status).toBe(true);
  });

  it('is in nobody’s hands but the bank’s while money is under way', () => {
    const words = STATUSES.flatMap((to) => floatCausesOf('ACHSENT', to));
    expect(words.sort()).toEqual(['ach-completed', 'ach-returned', 'credit-returned', 'told-aside']);
  });
});
