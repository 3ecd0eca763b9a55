import { describe, expect, it } from 'vitest';
import type { RecurringStatus } from '../../../../src/domain/recurring/recurring.ts';
import { RECURRING_STATUSES, isCharged } from '../../../../src/domain/recurring/recurring.ts';
import type { RecurringCause } from '../../../../src/domain/recurring/transitions.ts';
import { RECURRING_CAUSES, isLegalForRecurring } from '../../../../src/domain/recurring/transitions.ts';

const STATUSES = ['ACTIVE', 'PAST_DUE', 'FAILED', 'CANCELLED'] as const satisfies readonly RecurringStatus[];

/** One letter for each cause, so that the whole table can be seen at once. */
const LEGEND: Record<string, RecurringCause> = {
  N: 'created',
  R: 'reminded',
  O: 'attempt-opened',
  S: 'attempt-succeeded',
  D: 'attempt-declined',
  A: 'attempt-abandoned',
  T: 'period-too-old',
  H: 'changed',
  C: 'cancelled',
};

/** Rows: from; columns: to, in the order of STATUSES. A point is a change that must not happen. */
const GRID = `
             ACTIVE  PAST_DUE  FAILED  CANCELLED
  ACTIVE     ROSATH  D         D       C
  PAST_DUE   ST      ODAH      D       C
  FAILED     .       .         .       .
  CANCELLED  .       .         .       SDA
`;

const cells = GRID.trim()
  .split('\n')
  .slice(1)
  .flatMap((line) => {
    const [from, ...row] = line.trim().split(/\s+/);
    return row.map((letters, column) => ({ from: from as RecurringStatus, to: STATUSES[column]!, letters }));
  });

describe('the table of transitions', () => {
  it('knows every status, and this test every cause', () => {
    expect([...RECURRING_STATUSES]).toEqual([...STATUSES]);
    expect(Object.values(LEGEND).sort()).toEqual([...RECURRING_CAUSES].sort());
    expect(cells).toHaveLength(STATUSES.length ** 2);
  });

  it.each(cells)('from $from to $to: $letters', ({ from, to, letters }) => {
    for (const [letter, cause] of Object.entries(LEGEND))
      expect(isLegalForRecurring(from, to, cause)).toBe(letters.includes(letter));
  });

  it('lets nobody out of an end', () => {
    for (const { from, to, letters } of cells) if (!isCharged(from) && letters !== '.') expect(to).toBe(from);
  });
});
