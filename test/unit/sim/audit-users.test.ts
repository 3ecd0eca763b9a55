import { describe, expect, it } from 'vitest';
import { BankTallies, auditUsers } from '../../../sim/oracle/audit-users.ts';
import type { AuditTables, PlainItem } from '../../../src/audit/source.ts';

const row = (subscription_id: string, billing_date: string): PlainItem => ({
  user_id: 'u',
  subscription_id,
  billing_date,
  billing_status: 'SCHEDULED',
  last_run_date: '2026-01-01T00:00:00Z',
  billing_amount: '4.99',
});

/** Two periods to come, without history, and money that moved for one of them under no attempt. */
async function rulesBroken(doClocksAgree: boolean): Promise<string[]> {
  const tables = {
    rowsOf: () => Promise.resolve([row('a', '2026-02-01T06:00:00Z'), row('b', '2026-03-01T06:00:00Z')]),
    historyOf: () => Promise.resolve([]),
    attemptsOf: () => Promise.resolve([]),
    async *freezeLog() {},
  } as unknown as AuditTables;
  const tallies = new BankTallies();
  const debit = { effect: 'debit', key: 'k', confirmationId: 'c', refundKey: null } as const;
  tallies.add({ ...debit, userId: 'u', reference: 'a', rail: 'ACH', cents: 499, atMs: 0 });
  const broken = new Set<string>();
  await auditUsers(tables, ['u'], {
    money: tallies.all,
    nowMs: 0,
    abandonAfterMs: 0,
    doClocksAgree,
    report: ({ rule }) => void broken.add(rule),
  });
  return [...broken].sort();
}

describe('the audit in a simulated world', () => {
  it('is asked for all of its rules where clocks agree', async () => {
    expect(await rulesBroken(true)).toEqual(['2 (audit)', '3 (audit)', '7 (audit)']);
  });

  it('is asked for those that compare no clocks where one may be an hour off', async () => {
    expect(await rulesBroken(false)).toEqual(['3 (audit)', '7 (audit)']);
  });
});
