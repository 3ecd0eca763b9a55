import { describe, expect, it } from 'vitest';
import { candidateAnchors, nthFriday } from '../../src/audit/calendar.ts';
import { parseInstant } from '../../src/audit/instant.ts';
import { oneDebitPerPeriod } from '../../src/audit/rules/1-one-debit-per-period.ts';
import { neverMoreThanDue } from '../../src/audit/rules/5-never-more-than-due.ts';
import { everyChainGoesOn } from '../../src/audit/rules/7-every-chain-goes-on.ts';
import { readState } from '../../src/audit/record.ts';
import type { KeyTally } from '../../src/audit/tally.ts';
import type { Circumstances, RecordCase, Rule } from '../../src/audit/user-case.ts';

/* What the sandbox bank cannot be brought to do, and calendars that would take years to play. */

const row = (billing_date: string, fields: Record<string, unknown> = {}) =>
  readState({
    user_id: 'u',
    subscription_id: billing_date.slice(0, 10),
    billing_date,
    billing_status: 'COMPLETED',
    billing_amount: '4.99',
    last_run_date: billing_date,
    initial_run_date: billing_date,
    ...fields,
  });

const record = (state: ReturnType<typeof row>, more: Partial<RecordCase> = {}): RecordCase => ({
  subscriptionId: state.subscriptionId,
  row: state,
  changes: [],
  attempts: [],
  tally: null,
  ...more,
});

const findings = (rule: Rule, records: readonly RecordCase[]): string[] =>
  [...rule({ userId: 'u', records, unreadable: [] }, {} as Circumstances)].map(
    ({ subscriptionId, detail }) => `${subscriptionId}: ${detail}`,
  );

const tally = (debitedCents: number, creditedCents: number, ...keys: Partial<KeyTally>[]) => ({
  userId: 'u',
  debitedCents,
  creditedCents,
  keys: keys.map((key) => ({ key: 'k', debits: 0, credits: 0, firstDebitAt: null, ...key })),
});

const withMoney = (money: ReturnType<typeof tally>) => [
  record(row('2026-11-16T06:00:00Z'), { tally: money }),
];

describe('rule 5', () => {
  it('is broken by a payment that was given back twice', () => {
    const twice = withMoney(tally(499, 998, { debits: 1, credits: 2 }));
    expect(findings(neverMoreThanDue, twice)).toEqual([
      '2026-11-16: 998 cents were given back of 499 collected',
    ]);
    expect(findings(oneDebitPerPeriod, twice)).toEqual([]);
  });

  it('is kept by a payment that was returned and taken again', () => {
    const again = withMoney(tally(998, 499, { debits: 1, credits: 1 }, { key: 'l', debits: 1 }));
    expect(findings(neverMoreThanDue, again)).toEqual([]);
    expect(findings(oneDebitPerPeriod, again)).toEqual([]);
  });
});

describe('rule 7', () => {
  const chain = (dates: readonly string[], fields: Record<string, unknown> = {}): string[] =>
    findings(
      everyChainGoesOn,
      dates.map((date, i) => {
        const isLast = i === dates.length - 1;
        const open = isLast ? { billing_status: 'SCHEDULED', initial_run_date: '0001-01-01T00:00:00Z' } : {};
        return record(row(`${date}T06:00:00Z`, { ...fields, ...open }));
      }),
    );

  it.each([
    [
      'the 31st clamps and comes back',
      ['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31'],
    ],
    ['the 30th clamps in February only', ['2027-01-30', '2027-02-28', '2027-03-30']],
    ['a chain that begins at a month’s end may mean any later day', ['2027-02-28', '2027-03-31']],
    ['or that day', ['2027-02-28', '2027-03-28', '2027-04-28']],
  ])('%s', (_, dates) => {
    expect(chain(dates)).toEqual([]);
  });

  it('a day that did not come back is wrong', () => {
    expect(chain(['2027-01-31', '2027-02-28', '2027-03-28'])).toEqual([
      '2027-03-28: the day is wrong from 2027-02-28T06:00:00Z to 2027-03-28T06:00:00Z',
    ]);
  });

  it('29 February comes round every fourth year', () => {
    expect(chain(['2028-02-29', '2029-02-28', '2030-02-28'], { term: 'YEARLY' })).toEqual([]);
    expect(chain(['2028-02-29', '2030-02-28'], { term: 'YEARLY' })[0]).toMatch(/a period is skipped/);
  });

  it('the fifth Friday is the last where there are four', () => {
    expect(chain(['2026-10-30', '2026-11-27', '2026-12-25', '2027-01-29'], { billing_week: 5 })).toEqual([]);
    expect(chain(['2026-10-30', '2026-11-20'], { billing_week: 5 })[0]).toMatch(/the day is wrong/);
  });

  describe('of who came back', () => {
    const returned = (instant: string) => record(row(instant, { process: 'REACTIVATION' }));
    const paid = (date: string) => record(row(`${date}T06:00:00Z`));
    const notTried = { initial_run_date: '0001-01-01T00:00:00Z' };
    const givenUp = (date: string) =>
      record(row(`${date}T06:00:00Z`, { ...notTried, billing_status: 'CANCELLED' }));
    const toCome = (date: string) =>
      record(row(`${date}T06:00:00Z`, { ...notTried, billing_status: 'SCHEDULED' }));

    it('begins anew on that day', () => {
      const before = [paid('2027-01-15'), returned('2027-01-31T15:00:00Z'), paid('2027-02-28')];
      expect(findings(everyChainGoesOn, [...before, toCome('2027-03-31')])).toEqual([]);
      expect(findings(everyChainGoesOn, [...before, toCome('2027-03-28')])).toEqual([
        '2027-03-28: the day is wrong from 2027-02-28T06:00:00Z to 2027-03-28T06:00:00Z',
      ]);
    });

    it('begins anew on that day, also where that payment was charged back and tried again since', () => {
      const back = returned('2027-01-31T15:00:00Z');
      const again = record(row('2027-01-31T15:00:00Z', { process: 'RETRY' }));
      const untold = { cause: null, attemptId: null, triggerId: null, openedAttemptId: null };
      const remembered = { ...again, changes: [{ ...back.row!, ...untold }] };
      const around = (between: RecordCase) => [paid('2027-01-15'), between, toCome('2027-02-28')];
      expect(findings(everyChainGoesOn, around(remembered))).toEqual([]);
      expect(findings(everyChainGoesOn, around(again))).toHaveLength(1);
    });

    it('does not go back to the day from before', () => {
      const before = [givenUp('2027-01-31'), returned('2027-01-28T15:00:00Z'), paid('2027-02-28')];
      expect(findings(everyChainGoesOn, [...before, toCome('2027-03-28')])).toEqual([]);
      expect(findings(everyChainGoesOn, [...before, toCome('2027-03-31')])).toHaveLength(1);
    });

    it('passes what was given up, on its way or beside it', () => {
      const [back, beside] = [returned('2027-04-30T15:00:00Z'), givenUp('2027-05-31')];
      expect(findings(everyChainGoesOn, [back, paid('2027-05-30'), beside, toCome('2027-06-30')])).toEqual(
        [],
      );
      const onTheWay = [returned('2026-11-16T08:00:00Z'), givenUp('2026-12-16'), toCome('2027-01-16')];
      expect(findings(everyChainGoesOn, onTheWay)).toEqual([]);
      const skipped = [back, givenUp('2027-05-10'), toCome('2027-06-30')];
      expect(findings(everyChainGoesOn, skipped)[0]).toMatch(/a period is skipped/);
    });

    it.each(['COMPLETED', 'REFUNDED', 'ERROR'])('in vain is no link of the chain: %s', (billing_status) => {
      const inVain = record(row('2026-11-16T06:30:00Z', { ...notTried, billing_status }));
      expect(findings(everyChainGoesOn, [givenUp('2026-11-16'), inVain])).toEqual([]);
      expect(findings(everyChainGoesOn, [paid('2026-11-15'), inVain])).toHaveLength(1);
    });

    it('passes what was paid ahead and given back before, and only that', () => {
      const ahead = (billing_status: string) => record(row('2026-12-04T06:00:00Z', { billing_status }));
      const around = (between: RecordCase) => [
        paid('2026-11-04'),
        returned('2026-11-14T09:30:08Z'),
        between,
        toCome('2026-12-14'),
      ];
      expect(findings(everyChainGoesOn, around(ahead('REFUNDED')))).toEqual([]);
      expect(findings(everyChainGoesOn, around(ahead('COMPLETED')))).not.toEqual([]);
    });
  });

  it('a pause goes by months, also in a membership that is billed by the year', () => {
    const paused = { term: 'YEARLY', billing_status: 'PAUSED_SKIPPED', pause_duration_months: 2 };
    const notTried = { ...paused, initial_run_date: '0001-01-01T00:00:00Z' };
    const resumed = (date: string) =>
      record(
        row(`${date}T06:00:00Z`, { ...notTried, billing_status: 'SCHEDULED', pause_duration_months: 0 }),
      );
    const skipped = record(row('2026-11-16T06:00:00Z', notTried));
    expect(findings(everyChainGoesOn, [skipped, resumed('2026-12-16')])).toEqual([]);
    expect(findings(everyChainGoesOn, [skipped, resumed('2027-11-16')])[0]).toMatch(/a period is skipped/);
    // Its successor was opened when it was first tried.
    const tried = record(row('2026-11-16T06:00:00Z', paused));
    expect(findings(everyChainGoesOn, [tried, resumed('2027-11-16')])).toEqual([]);
  });

  it('a chain that ended needs no next period', () => {
    expect(
      findings(everyChainGoesOn, [record(row('2026-11-16T06:00:00Z', { billing_status: 'CANCELLED' }))]),
    ).toEqual([]);
  });
});

describe('the calendar', () => {
  it('knows Fridays', () => {
    expect([1, 2, 3, 4, 5].map((n) => nthFriday(2026, 11, n))).toEqual([6, 13, 20, 27, 27]);
    expect(nthFriday(2027, 1, 5)).toBe(29);
  });

  it('knows which days a last of the month may stand for', () => {
    expect([...candidateAnchors(null, parseInstant('2027-02-28T06:00:00Z'))]).toEqual([28, 29, 30, 31]);
    expect([...candidateAnchors(null, parseInstant('2027-03-28T06:00:00Z'))]).toEqual([28]);
  });
});
