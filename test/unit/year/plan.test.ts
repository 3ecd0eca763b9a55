import { describe, expect, it } from 'vitest';
import { userScriptWithId } from '../../../src/sandbox/users/user-script.ts';
import { CHARACTERS } from '../../../year/characters.ts';
import { daysFrom, momentsOf } from '../../../year/days.ts';
import type { Happening } from '../../../year/happenings.ts';
import { planHappenings } from '../../../year/happenings.ts';
import { bankUserOf, yearMember } from '../../../year/members.ts';
import { readOptions } from '../../../year/options.ts';
import { at } from '../../support/records.ts';
import { date } from './sample.ts';

const YEAR = { users: 200, seed: 'a', from: date('2030-01-01'), to: date('2031-01-01') };

describe('a day', () => {
  it('has its runs in the order of their time', () => {
    const monday = momentsOf(date('2030-01-07'));
    expect(monday.map(({ processes }) => processes)).toEqual([
      ['retry'],
      ['scheduled'],
      ['float-retry'],
      ['stale'],
      ['float-tomorrow', 'float-today'],
      ['notify', 'recurring-reminders'],
      ['recurring-payments'],
      ['pause'],
    ]);
    expect(monday[0]!.at).toBe(at('2030-01-07T07:00:00Z'));
  });

  it('has fewer at weekends', () => {
    const names = momentsOf(date('2030-01-06')).flatMap(({ processes }) => processes);
    expect(names.sort()).toEqual(['notify', 'recurring-payments', 'recurring-reminders', 'stale']);
  });
});

describe('what happens in a year', () => {
  const lived = [...planHappenings(YEAR).values()].flat();

  it('is the same for the same seed, and another for another', () => {
    expect([...planHappenings(YEAR).values()].flat()).toEqual(lived);
    expect([...planHappenings({ ...YEAR, seed: 'b' }).values()].flat()).not.toEqual(lived);
  });

  it('happens within it', () => {
    const days = new Set(daysFrom(YEAR.from, YEAR.to));
    expect(lived.filter(({ on }) => !days.has(on))).toEqual([]);
  });

  it('is of every kind', () => {
    const kinds = new Set(lived.map((one) => (one.what === 'event' ? one.type : one.what)));
    expect([...kinds].sort()).toEqual(
      [
        'CANCEL',
        'CLOSEACCOUNT',
        'RETRACT',
        'SUB_PAUSED',
        'UNPAUSE',
        'UNPAUSE_CHARGE',
        'bank',
        'float',
        'joins',
        'upgrade',
      ].sort(),
    );
  });

  it('ends for whoever has left', () => {
    const closed = lived.filter(
      (one): one is Happening & { what: 'event' } => one.what === 'event' && one.type === 'CLOSEACCOUNT',
    );
    for (const { userId, on } of closed)
      expect(lived.filter((one) => one.userId === userId && one.on > on)).toEqual([]);
  });

  it('is told to the bank in words that it knows', () => {
    const scripts = lived.flatMap((one) => (one.what === 'bank' ? [one.script] : []));
    expect(scripts.length).toBeGreaterThan(10);
    for (const script of scripts) expect(userScriptWithId.safeParse(script).error).toBeUndefined();
  });
});

describe('members', () => {
  it('are known to the bank in words that it knows', () => {
    for (let index = 1; index <= 100; index += 1)
      expect(userScriptWithId.safeParse(bankUserOf(index)).error).toBeUndefined();
  });

  it('are of characters that make up a hundred', () => {
    expect(CHARACTERS.reduce((sum, { share }) => sum + share, 0)).toBe(100);
  });

  it('have a first period in the first month, spread over its days', () => {
    const now = at('2030-01-01T00:00:00Z');
    const dates = Array.from(
      { length: 28 },
      (_, n) => yearMember('year', n + 1, now).records[0]!.billingDate,
    );
    expect(new Set(dates).size).toBe(28);
    expect(dates.every((one) => one >= now && one < at('2030-02-01T00:00:00Z'))).toBe(true);
  });
});

describe('the options', () => {
  it('have a year of 12 months by default', () => {
    expect(readOptions([])).toMatchObject({ months: 12, out: 'demo-report.html', data: null, json: false });
    expect(readOptions(['--help'])).toBeNull();
  });

  it.each([
    [['--users', '0'], '--users must be a whole number from 1 to 10000, not 0'],
    [['--users', '1e3'], '--users must be'],
    [['--months', '13'], '--months must be a whole number from 1 to 12'],
    [['--seed', 'a b'], '--seed must be'],
    [['--what'], "Unknown option '--what'"],
  ])('refuse %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});
