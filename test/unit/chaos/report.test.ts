import { expect, it } from 'vitest';
import type { OwnEnd, Report } from '../../../chaos/report.ts';
import { wrongsFound, figuresOf, isClean } from '../../../chaos/report.ts';
import { show } from '../../../chaos/show.ts';

const clean: Report = {
  struck: [{ what: 'redis-flushed' }],
  ownEnds: [],
  stillOpen: [],
  verdict: {
    findings: {
      charges: 3,
      double_debits: 0,
      unpaid_periods: 0,
      unpaid_requests: 0,
      lost_periods: 0,
      periods_after_closing: 0,
      lost_events: 0,
      lost_requests: 0,
      held_back_events: 0,
      misread_events: 0,
      audit_violations: 0,
      events: 4,
      requests: 5,
      refused: 6,
    },
    violations: [],
    endings: new Map([
      ['payment done: declined', 1],
      ['payment done: collected', 4],
    ]),
  },
  dataDir: '/somewhere',
};
const end: OwnEnd = { name: 'worker 2', how: 'exit code 1', inQuiet: false };

function shown(report: Report): string {
  const lines: string[] = [];
  const silent = () => ({ update: () => undefined, finish: () => undefined, note: () => undefined });
  const line = (text = ''): void => void lines.push(text);
  const table = (_: readonly string[], rows: readonly (readonly string[])[]): void =>
    rows.forEach((row) => line(row.join(' ')));
  show({ line, table, progress: silent, counter: silent }, report);
  return lines.join('\n');
}

it('is clean without anything wrong, and not with a violation, one of the audit, or something still open', () => {
  expect(isClean(clean)).toBe(true);
  const { verdict } = clean;
  expect(isClean({ ...clean, stillOpen: ['inbox: 1'] })).toBe(false);
  expect(isClean({ ...clean, verdict: { ...verdict, violations: ['debited twice: a'] } })).toBe(false);
  const findings = { ...verdict.findings, audit_violations: 1 };
  expect(isClean({ ...clean, verdict: { ...verdict, findings } })).toBe(false);
});

it('forgives a process that ended by itself in the storm, and none that did in the quiet', () => {
  expect(isClean({ ...clean, ownEnds: [end] })).toBe(true);
  const inQuiet: Report = { ...clean, ownEnds: [end, { ...end, inQuiet: true }] };
  expect(isClean(inQuiet)).toBe(false);
  expect(wrongsFound(inQuiet)).toEqual(['ended by itself in the quiet: worker 2, exit code 1']);
});

it('counts what is still open and who ended by themselves, for machines too', () => {
  const ownEnds = [end, { ...end, inQuiet: true }];
  expect(figuresOf({ ...clean, stillOpen: ['inbox: 1', 'requests: 2'], ownEnds })).toMatchObject({
    faults: 1,
    charges: 3,
    refused: 6,
    still_open: 2,
    own_ends: 2,
    own_ends_in_quiet: 1,
  });
});

it('tells people how promises ended, most first, what was refused and who ended by themselves', () => {
  const text = shown({ ...clean, ownEnds: [end] });
  expect(text).toContain('payment done: collected 4\npayment done: declined 1');
  expect(text).toContain('6 orders were refused, 1 processes ended by themselves in the storm');
  expect(text).toContain('nothing was lost');
});

it('tells people what is wrong', () => {
  const text = shown({ ...clean, stillOpen: ['inbox: 1'], ownEnds: [{ ...end, inQuiet: true }] });
  expect(text).toContain('still open: inbox: 1');
  expect(text).toContain('ended by itself in the quiet: worker 2, exit code 1');
  expect(text).toContain('1 things still open, 1 processes ended by themselves in the quiet');
  expect(text).toContain('kept in /somewhere');
});
