import { describe, expect, it } from 'vitest';
import { dueDates, floatRanges, whyNotCollected } from '../../../../src/domain/floats/due.ts';
import type { FloatStatus, Stage } from '../../../../src/domain/floats/float.ts';
import { FLOAT_STATUSES, STAGES } from '../../../../src/domain/floats/float.ts';
import { day } from '../../../support/floats.ts';

const TODAY = day('2026-11-16');

/** Every cell: which stage collects which status. */
const GRID = `
             SCHEDULING  ACHSENT  RETRY  UNCOLLECTABLE  COMPLETED  DEFAULTED
  TOMORROW   yes         .        .      .              .          .
  TODAY6AM   yes         .        .      .              .          .
  RETRY      .           .        yes    yes            .          .
  WEBHOOK    .           .        yes    yes            .          .
  SUPPORT    yes         .        yes    yes            .          .
`;
const [head = '', ...lines] = GRID.trim().split('\n');
const columns = head.trim().split(/\s+/) as FloatStatus[];
const cells = lines.flatMap((line) => {
  const [stage, ...row] = line.trim().split(/\s+/);
  return row.map((cell, i) => ({ stage: stage as Stage, status: columns[i]!, collected: cell === 'yes' }));
});
/** A day on which the stage would take a float of any status that it collects. */
const dueFor = (stage: Stage) => day(stage === 'TOMORROW' ? '2026-11-17' : '2026-11-16');

describe('which floats a stage collects', () => {
  it('has a cell for every stage and status', () => {
    const all = STAGES.flatMap((stage) => FLOAT_STATUSES.map((status) => `${stage} ${status}`));
    expect(cells.map(({ stage, status }) => `${stage} ${status}`).sort()).toEqual(all.sort());
  });

  it.each(cells)('$stage collects $status: $collected', ({ stage, status, collected }) => {
    const reason = whyNotCollected(stage, { status, dueDate: dueFor(stage) }, TODAY);
    expect(reason).toBe(collected ? null : 'status-not-collected');
    expect(floatRanges(stage, TODAY).some((range) => range.status === status)).toBe(collected);
  });

  it('says that the status is wrong before it looks at the date', () => {
    const far = { status: 'ACHSENT', dueDate: day('2027-01-01') } as const;
    expect(whyNotCollected('RETRY', far, TODAY)).toBe('status-not-collected');
  });
});

describe('the day before, a float goes that is due', () => {
  it.each([
    ['a Monday', '2026-11-16', '2026-11-17', '2026-11-17'],
    ['a Friday', '2026-11-20', '2026-11-21', '2026-11-23'],
    ['a Saturday', '2026-11-21', '2026-11-22', '2026-11-23'],
    ['a Sunday', '2026-11-22', '2026-11-23', '2026-11-23'],
    ['the Friday before Labor Day', '2026-09-04', '2026-09-05', '2026-09-08'],
    ['Labor Day', '2026-09-07', '2026-09-08', '2026-09-08'],
    ['the day before Thanksgiving', '2026-11-25', '2026-11-26', '2026-11-27'],
    ['Thanksgiving', '2026-11-26', '2026-11-27', '2026-11-27'],
    // 4 July 2027 is a Sunday, which closes the Monday; in 2026 it is a Saturday, which closes nothing.
    ['the Friday before 4 July 2027', '2027-07-02', '2027-07-03', '2027-07-06'],
    ['the Thursday before 4 July 2026', '2026-07-02', '2026-07-03', '2026-07-03'],
    ['Christmas Eve', '2026-12-24', '2026-12-25', '2026-12-28'],
  ])('on %s, %s, from %s up to %s', (_, today, from, to) => {
    expect(dueDates('TOMORROW', day(today))).toEqual({ from, to });
  });

  it('after today, up to the first day on which the banks are open again, and not a day beyond', () => {
    const friday = day('2026-09-04');
    const due = (date: string) =>
      whyNotCollected('TOMORROW', { status: 'SCHEDULING', dueDate: day(date) }, friday);
    expect(due('2026-09-04')).toBe('not-due');
    for (const date of ['2026-09-05', '2026-09-06', '2026-09-07', '2026-09-08']) expect(due(date)).toBeNull();
    expect(due('2026-09-09')).toBe('not-due');
  });
});

describe('on and after the due date', () => {
  it.each([
    ['TODAY6AM', 'SCHEDULING'],
    ['RETRY', 'RETRY'],
    ['RETRY', 'UNCOLLECTABLE'],
    ['WEBHOOK', 'RETRY'],
    ['WEBHOOK', 'UNCOLLECTABLE'],
  ] as const)('%s takes what is %s and due today or before', (stage, status) => {
    const due = (date: string) => whyNotCollected(stage, { status, dueDate: day(date) }, TODAY);
    expect(due('2020-01-01')).toBeNull();
    expect(due('2026-11-16')).toBeNull();
    expect(due('2026-11-17')).toBe('not-due');
    expect(floatRanges(stage, TODAY)).toContainEqual({ status, from: null, to: '2026-11-16' });
  });

  it('members may pay at any time', () => {
    for (const date of ['2020-01-01', '2026-11-16', '2030-01-01'])
      expect(whyNotCollected('SUPPORT', { status: 'RETRY', dueDate: day(date) }, TODAY)).toBeNull();
  });
});
