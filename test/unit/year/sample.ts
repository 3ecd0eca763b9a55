import type { AuditTotals } from '../../../src/audit/violation.ts';
import type { CalendarDate } from '../../../src/domain/calendar-date.ts';
import { cents } from '../../../src/domain/money.ts';
import type { RunId } from '../../../src/domain/runs.ts';
import type { Run } from '../../../src/ports/runs.ts';
import type { Change } from '../../../year/figures/changes.ts';
import type { Movement } from '../../../year/figures/money.ts';
import type { Making } from '../../../year/report/page.ts';
import { at } from '../../support/records.ts';

export const date = (text: string): CalendarDate => text as CalendarDate;

export const change = (
  time: string,
  status: string,
  cause: string,
  fields: Partial<Change> = {},
): Change => ({
  userId: 'u1',
  subscriptionId: 's1',
  status,
  cause,
  updatedEvent: '',
  at: at(time),
  ...fields,
});

export const movement = (
  effect: Movement['effect'],
  time: string,
  confirmationId: string,
  fields: Partial<Movement> = {},
): Movement => ({
  effect,
  at: at(time),
  confirmationId,
  kind: 'SUBSCRIPTION',
  rail: 'PINLESS',
  amount: cents(499),
  ...fields,
});

export const run = (process: Run['process'], tick: string, byVerdict: object): Run => ({
  runId: `${process}-${tick}` as RunId,
  process,
  tick: at(tick),
  status: 'complete',
  pass: 1,
  page: 0,
  cursor: null,
  due: 0,
  enqueuedInPass: 0,
  enqueued: 0,
  notOwned: 0,
  startedAt: at(tick),
  progressAt: at(tick),
  finishedAt: at(tick),
  report: { records: 0, amount: cents(0), byVerdict, byPlan: {} },
  forecast: null,
});

export const totals: AuditTotals = {
  users: 2,
  records: 3,
  floats: 1,
  recurring: 1,
  accountItems: 4,
  attempts: 5,
  debits: 6,
  violations: 0,
  unsettled: 0,
  ledgerRead: true,
};

export const making: Making = {
  users: 2,
  seed: '1',
  from: date('2030-01-01'),
  to: date('2030-03-01'),
  durationMs: 61_000,
  runs: 494,
  jobs: 1_304,
  failedJobs: 0,
  quarantined: 0,
};
