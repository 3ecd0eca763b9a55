import { describe, expect, it } from 'vitest';
import { yearFigures } from '../../../year/figures/figures.ts';
import { headlinesOf } from '../../../year/figures/headlines.ts';
import type { Month } from '../../../year/figures/months.ts';
import { moneyByMonth } from '../../../year/figures/money.ts';
import { membersByMonth } from '../../../year/figures/membership.ts';
import { outcomesByMonth } from '../../../year/figures/outcomes.ts';
import {
  failedFirsts,
  recoveredByAttempt,
  recoveryByMonth,
  recoveryCurve,
} from '../../../year/figures/recovery.ts';
import { judgementOf, shareOf } from '../../../year/figures/returns.ts';
import { jobsIn } from '../../../year/gather.ts';
import { at } from '../../support/records.ts';
import { change, date, movement, run } from './sample.ts';

const JAN = '2030-01' as Month;
const FEB = '2030-02' as Month;

describe('money', () => {
  it('counts by the month of the debit, by rail and by kind', () => {
    const [january, february] = moneyByMonth(
      [
        movement('debit', '2030-01-31T23:59:59Z', 'a'),
        movement('debit', '2030-02-01T00:00:00Z', 'b', { rail: 'ACH', kind: 'FLOAT' }),
      ],
      [JAN, FEB],
    );
    expect(january).toMatchObject({ kept: { PINLESS: 499, ACH: 0 }, keptByKind: { SUBSCRIPTION: 499 } });
    expect(february).toMatchObject({ kept: { PINLESS: 0, ACH: 499 }, keptByKind: { FLOAT: 499 } });
  });

  it('was not collected if it went back, also in a later month', () => {
    const [january, february] = moneyByMonth(
      [
        movement('debit', '2030-01-20T14:00:00Z', 'a', { rail: 'ACH' }),
        movement('credit', '2030-02-02T14:00:00Z', 'a', { rail: 'ACH' }),
        movement('debit', '2030-01-21T14:00:00Z', 'b', { rail: 'ACH' }),
      ],
      [JAN, FEB],
    );
    expect(january).toMatchObject({ kept: { ACH: 499 }, givenBack: 499 });
    expect(february).toMatchObject({ kept: { ACH: 0 }, givenBack: 0 });
  });
});

describe('a failed first attempt', () => {
  const scheduled = change('2030-01-01T00:00:00Z', 'SCHEDULED', 'attempt-opened');
  const refused = change('2030-01-30T08:00:00Z', 'ERROR', 'balance-refused');

  it('is none where the first attempt went through, whatever the bank said later', () => {
    const paid = change('2030-01-30T08:00:00Z', 'COMPLETED', 'attempt-succeeded');
    const back = change('2030-02-20T14:00:00Z', 'ERROR', 'ach-returned');
    expect(failedFirsts([scheduled, paid])).toEqual([]);
    expect(failedFirsts([scheduled, paid, back])).toEqual([]);
    expect(failedFirsts([scheduled])).toEqual([]);
  });

  it('is recovered by the attempt that went through, and by its day', () => {
    const again = change('2030-01-31T07:00:00Z', 'ERROR', 'attempt-declined');
    const paid = change('2030-02-03T07:00:00Z', 'COMPLETED', 'attempt-succeeded');
    expect(failedFirsts([paid, refused, scheduled, again])).toEqual([
      { month: JAN, recovered: { attempt: 3, days: 4 }, isLost: false },
    ]);
  });

  it('counts an ACH entry from the day it was sent, not from the bank’s word', () => {
    const sent = change('2030-01-31T08:00:00Z', 'ACHSENT', 'ach-accepted');
    const settled = change('2030-02-05T14:00:00Z', 'COMPLETED', 'ach-completed');
    expect(failedFirsts([refused, sent, settled])[0]!.recovered).toEqual({ attempt: 2, days: 1 });
    expect(failedFirsts([refused, sent])[0]).toMatchObject({ recovered: null, isLost: false });
  });

  it('is lost when it went stale or was cancelled', () => {
    const stale = change('2030-03-01T09:00:00Z', 'STALE', 'gone-stale');
    expect(failedFirsts([refused, stale])).toEqual([{ month: JAN, recovered: null, isLost: true }]);
  });

  it('is counted by month, by days and by attempt', () => {
    const failed = [
      { month: JAN, recovered: { attempt: 2, days: 1 }, isLost: false },
      { month: JAN, recovered: { attempt: 9, days: 12 }, isLost: false },
      { month: JAN, recovered: null, isLost: true },
      { month: FEB, recovered: null, isLost: false },
    ];
    expect(recoveryByMonth(failed, [JAN, FEB])).toEqual([
      { month: JAN, failed: 3, soon: 1, later: 1, open: 0, lost: 1 },
      { month: FEB, failed: 1, soon: 0, later: 0, open: 1, lost: 0 },
    ]);
    const curve = recoveryCurve(failed, 30);
    expect([curve[0], curve[1], curve[11], curve[12], curve[30]]).toEqual([0, 0.25, 0.25, 0.5, 0.5]);
    expect([...recoveredByAttempt(failed)]).toEqual([
      [2, 1],
      [9, 1],
    ]);
    expect(recoveryCurve([], 2)).toEqual([]);
  });
});

describe('members', () => {
  const ends = [
    { month: JAN, end: at('2030-02-01T00:00:00Z') },
    { month: FEB, end: at('2030-03-01T00:00:00Z') },
  ];

  it('stand as their newest upcoming period says', () => {
    const changes = [
      change('2030-01-05T08:00:00Z', 'COMPLETED', 'attempt-succeeded'),
      change('2030-01-05T08:00:01Z', 'SCHEDULED', 'attempt-opened', { subscriptionId: 's2' }),
      change('2030-02-10T22:00:00Z', 'SCHEDULED', 'membership-cancelled', {
        subscriptionId: 's2',
        updatedEvent: 'PENDING_CANCELLATION',
      }),
      change('2030-01-10T22:00:00Z', 'PAUSED', 'membership-paused', { userId: 'u2', subscriptionId: 's3' }),
      change('2030-02-11T22:00:00Z', 'CANCELLED', 'account-closed', { userId: 'u2', subscriptionId: 's3' }),
      change('2030-02-12T22:00:00Z', 'SCHEDULED', '', { userId: 'u3', subscriptionId: 's4' }),
    ];
    expect(membersByMonth(changes, ends)).toEqual([
      { month: JAN, active: 1, leaving: 0, paused: 1, gone: 0 },
      { month: FEB, active: 1, leaving: 1, paused: 0, gone: 1 },
    ]);
  });
});

describe('verdicts', () => {
  it('are those of runs that decide about money, by the month of their tick', () => {
    const collected = { collected: { count: 2, amount: 998, reasons: {} } };
    const told = { notified: { count: 5, amount: 0, reasons: {} } };
    const [january, february] = outcomesByMonth(
      [run('scheduled', '2030-01-02T08:00:00Z', collected), run('notify', '2030-01-02T15:00:00Z', told)],
      [JAN, FEB],
    );
    expect(january!.sums).toMatchObject({ collected: { count: 2, amount: 998 }, closed: { count: 0 } });
    expect(february!.sums.collected.count).toBe(0);
  });
});

it('a share of no debits is not known', () => {
  const returns = { unauthorized: 0, administrative: 1, overall: 2 };
  const reading = { date: date('2030-01-06'), counts: { debits: 40, returns } };
  expect(shareOf(reading, 'overall')).toBe(0.05);
  expect(shareOf({ ...reading, counts: { debits: 0, returns } }, 'overall')).toBeNull();
});

describe('shares of returns', () => {
  const reading = (debits: number, unauthorized: number) => ({
    date: date('2030-01-06'),
    counts: { debits, returns: { unauthorized, administrative: 0, overall: unauthorized } },
  });

  it('are over the limit only where there are enough debits to tell', () => {
    expect(judgementOf([reading(999, 20)], 'unauthorized')).toBe('too few debits to tell');
    expect(judgementOf([reading(1_000, 6)], 'unauthorized')).toBe('over the limit');
    expect(judgementOf([reading(1_000, 5)], 'unauthorized')).toBe('within the limit');
  });

  it('are over the limit for the whole year when they were once', () => {
    expect(judgementOf([reading(43, 1), reading(1_000, 6), reading(1_000, 0)], 'unauthorized')).toBe(
      'over the limit',
    );
  });

  it('are not called within the limit when a few debits had them above', () => {
    const readings = [reading(43, 1), reading(1_000, 0)];
    expect(judgementOf(readings, 'unauthorized')).toBe('too few debits to tell');
    expect(judgementOf(readings, 'overall')).toBe('within the limit');
  });

  it('cannot be told of no debits', () => {
    expect(judgementOf([], 'overall')).toBe('too few debits to tell');
    expect(judgementOf([reading(0, 0)], 'overall')).toBe('too few debits to tell');
  });
});

it('jobs are those that came to their end', () => {
  const text = [
    'collections_job_duration_seconds_count{queue="janitor",end="done"} 3',
    'collections_job_duration_seconds_count{queue="janitor",end="put-off"} 90',
    'collections_job_duration_seconds_count{end="done",queue="ach-events"} 4',
    'collections_job_duration_seconds_sum{queue="janitor",end="done"} 12',
  ].join('\n');
  expect(jobsIn(text)).toBe(7);
});

describe('the headlines', () => {
  it('of nothing at all are zero, or not known', () => {
    const nothing = { movements: [], changes: [], runs: [], readings: [] };
    const figures = yearFigures(nothing, date('2030-01-01'), date('2030-03-01'));
    expect(figures.money.map(({ month }) => month)).toEqual([JAN, FEB]);
    expect(headlinesOf(figures)).toMatchObject({ collected: 0, failedFirst: 0, members: 0, churn: null });
  });

  it('say how many left, of those who could have, in a month', () => {
    const leaves = change('2030-02-11T22:00:00Z', 'CANCELLED', 'account-closed');
    const changes = [
      change('2030-01-02T00:00:00Z', 'SCHEDULED', ''),
      change('2030-01-02T00:00:00Z', 'SCHEDULED', '', { userId: 'u2', subscriptionId: 's2' }),
      leaves,
    ];
    const stored = { movements: [], changes, runs: [], readings: [] };
    const headlines = headlinesOf(yearFigures(stored, date('2030-01-01'), date('2030-03-01')));
    expect(headlines).toMatchObject({ members: 1, membersAtFirst: 2, gone: 1 });
    expect(headlines.churn).toBeCloseTo(1 / 3);
  });
});
