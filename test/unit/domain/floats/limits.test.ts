import { describe, expect, it } from 'vitest';
import type { AttemptId } from '../../../../src/domain/attempt.ts';
import type { LogEntry } from '../../../../src/domain/floats/float.ts';
import {
  failedAch,
  failuresInARow,
  isReauthorised,
  attemptsOn,
} from '../../../../src/domain/floats/limits.ts';
import { day, logEntry } from '../../../support/floats.ts';
import { at } from '../../../support/records.ts';

const on = (date: string, fields: Partial<LogEntry> = {}): LogEntry =>
  logEntry({ runTime: at(`${date}T09:00:00.000000001Z`), ...fields });
const named = (attemptId: string) => ({ attemptId: attemptId as AttemptId });
const sent = (id: string, date: string) => on(date, { ...named(id), method: 'ACH', outcome: 'ACHSENT' });
const returned = (id: string, date: string) => on(date, { ...named(id), method: 'ACH', outcome: 'RETURNED' });
const supportsWord = (date: string, outcome: LogEntry['outcome'] = 'RETURNED') =>
  on(date, { process: 'SUPPORT', method: null, attemptId: null, outcome });

describe('failed ACH debits', () => {
  it('are those that came back, each once', () => {
    const log = [sent('a', '2026-11-02'), returned('a', '2026-11-05'), returned('a', '2026-11-06')];
    expect(failedAch([])).toBe(0);
    expect(failedAch(log.slice(0, 1))).toBe(0);
    expect(failedAch(log)).toBe(1);
    expect(failedAch([...log, returned('b', '2026-11-09')])).toBe(2);
  });

  it('stay failed whatever comes after', () => {
    expect(failedAch([returned('a', '2026-11-05'), sent('a', '2026-11-06')])).toBe(1);
  });

  it('are neither declined cards, nor support’s word, nor a default', () => {
    const defaulted = on('2026-11-12', { method: null, attemptId: null, outcome: 'DEFAULTED' });
    expect(failedAch([on('2026-11-10'), supportsWord('2026-11-11'), defaulted])).toBe(0);
  });
});

describe('an attempt that never reached the processor', () => {
  const givenUp = (id: string, date: string) =>
    ({ ...returned(id, date), process: 'WEBHOOK', remark: 'not-presented' }) as const;
  const log = [givenUp('a', '2026-11-09'), givenUp('b', '2026-11-10'), givenUp('c', '2026-11-11')];

  it('uses up no limit', () => {
    expect(failedAch(log)).toBe(0);
    expect(failuresInARow(log)).toBe(0);
    expect(attemptsOn(day('2026-11-11'), 'WEBHOOK', log)).toBe(0);
  });

  it('breaks no row of failures either', () => {
    expect(failuresInARow([on('2026-11-08'), ...log, on('2026-11-12')])).toBe(2);
  });

  it('counts if it was made after all', () => {
    expect(failedAch([...log, sent('a', '2026-11-12'), returned('a', '2026-11-13')])).toBe(1);
  });
});

describe('the signals of a day', () => {
  const webhook = (date: string, fields: Partial<LogEntry> = {}) =>
    on(date, { process: 'WEBHOOK', ...fields });

  it('are attempts, each once, of that UTC day', () => {
    const log = [
      webhook('2026-11-16'),
      webhook('2026-11-16', { ...named('a'), method: 'ACH', outcome: 'ACHSENT' }),
      webhook('2026-11-16', { ...named('a'), method: 'ACH', outcome: 'RETURNED' }),
      webhook('2026-11-15'),
      on('2026-11-16'),
    ];
    expect(attemptsOn(day('2026-11-16'), 'WEBHOOK', log)).toBe(2);
    expect(attemptsOn(day('2026-11-15'), 'WEBHOOK', log)).toBe(1);
    expect(attemptsOn(day('2026-11-17'), 'WEBHOOK', log)).toBe(0);
  });

  it('do not count the bank’s word of today about what was sent on another day', () => {
    const log = [
      webhook('2026-11-16', { ...named('a'), method: 'ACH', outcome: 'RETURNED' }),
      webhook('2026-11-12', { ...named('a'), method: 'ACH', outcome: 'ACHSENT' }),
    ];
    expect(attemptsOn(day('2026-11-16'), 'WEBHOOK', log)).toBe(0);
    expect(attemptsOn(day('2026-11-12'), 'WEBHOOK', log)).toBe(1);
  });

  it('do not count what is no attempt', () => {
    const defaulted = webhook('2026-11-16', { method: null, attemptId: null, outcome: 'DEFAULTED' });
    expect(attemptsOn(day('2026-11-16'), 'WEBHOOK', [defaulted])).toBe(0);
  });
});

describe('failures in a row', () => {
  it.each<[string, LogEntry[], number]>([
    ['none at first', [], 0],
    ['over any rail', [on('2026-11-09'), returned('a', '2026-11-10')], 2],
    ['by what was last heard of each', [sent('a', '2026-11-09'), returned('a', '2026-11-12')], 1],
    ['ended by one that is under way', [on('2026-11-09'), on('2026-11-10'), sent('a', '2026-11-11')], 0],
    [
      'begun anew after one that was paid',
      [on('2026-11-09'), on('2026-11-10', { outcome: 'COMPLETED' }), on('2026-11-11')],
      1,
    ],
    ['not broken by support’s word', [on('2026-11-09'), supportsWord('2026-11-10'), on('2026-11-11')], 2],
  ])('are %s', (_, log, count) => {
    expect(failuresInARow(log)).toBe(count);
    expect(failuresInARow([...log].reverse())).toBe(count);
  });
});

describe('a new authorisation', () => {
  const failures = [on('2026-11-09'), on('2026-11-10')];

  it('is support’s word after the newest attempt', () => {
    expect(isReauthorised([...failures, supportsWord('2026-11-11')])).toBe(true);
    expect(isReauthorised([supportsWord('2026-11-11'), ...failures])).toBe(true);
  });

  it('is not a word from before or between', () => {
    expect(isReauthorised([...failures, supportsWord('2026-11-08')])).toBe(false);
    expect(
      isReauthorised([...failures, { ...supportsWord('2026-11-10'), runTime: at('2026-11-10T08:00:00Z') }]),
    ).toBe(false);
  });

  it('is neither a payback nor a default', () => {
    const payback = on('2026-11-11', { process: 'SUPPORT' });
    const defaulted = on('2026-11-12', { method: null, attemptId: null, outcome: 'DEFAULTED' });
    const nameless = on('2026-11-13', { process: 'SUPPORT', attemptId: null });
    expect(isReauthorised([...failures, payback, defaulted, nameless])).toBe(false);
  });
});

describe('rows of the service before us, which name neither attempt nor method', () => {
  const before = (date: string, outcome: LogEntry['outcome'], confirmationId: string | null) =>
    on(date, { process: 'WEBHOOK', method: null, attemptId: null, outcome, confirmationId });
  const one = [before('2026-11-10', 'ACHSENT', 'c-1'), before('2026-11-13', 'RETURNED', 'c-1')];
  const other = before('2026-11-13', 'RETURNED', null);

  it('count as attempts, told apart by their confirmation', () => {
    expect(failedAch(one)).toBe(1);
    expect(failedAch([...one, other])).toBe(2);
    expect(attemptsOn(day('2026-11-10'), 'WEBHOOK', one)).toBe(1);
    expect(attemptsOn(day('2026-11-13'), 'WEBHOOK', [...one, other])).toBe(1);
    expect(failuresInARow([...one, other])).toBe(2);
  });

  it('go on counting beside ours', () => {
    expect(failedAch([...one, other, returned('a', '2026-11-16')])).toBe(3);
  });
});
