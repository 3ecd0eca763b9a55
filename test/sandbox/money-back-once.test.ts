import { describe, expect, it } from 'vitest';
import { bankForTest, type BankClient, type Json } from './bank-client.ts';

interface Case {
  readonly what: string;
  readonly script: Json;
  readonly method?: string;
  /** After how many days a refund is asked for. ACH completes on the third. */
  readonly refundAfter?: string;
  readonly ends: string;
  readonly credit: string;
}

const late_return = { after_days: 5 };
const soon = { after_days: 5 };
const later = { after_days: 10 };
const slowReturn = { mode: 'return', code: 'R10', after_banking_days: 6 };
const poor = { amount: '1.00' };

const cases: readonly Case[] = [
  { what: 'a refund before a late return', script: { late_return }, refundAfter: '4d', ...refunded() },
  { what: 'a refund before a slow return', script: { ach: slowReturn }, refundAfter: '4d', ...refunded() },
  { what: 'a refund before a charge-back', script: { charge_back: soon }, refundAfter: '4d', ...refunded() },
  {
    what: 'a refund of a card charge before its charge-back',
    script: { charge_back: soon },
    method: 'PINLESS',
    refundAfter: '4d',
    ...refunded(),
  },
  {
    what: 'a refund of what was never booked, before its slow return',
    script: { ach: slowReturn, balance: poor },
    refundAfter: '4d',
    ...refunded(),
  },
  {
    what: 'a charge-back of what was never booked, before its slow return',
    script: { ach: slowReturn, balance: poor, charge_back: { after_days: 1 } },
    ...chargedBack(),
  },
  { what: 'a late return before a refund', script: { late_return }, refundAfter: '20d', ...returned() },
  { what: 'a late return before a charge-back', script: { late_return, charge_back: later }, ...returned() },
  {
    what: 'a charge-back before a late return',
    script: { late_return: later, charge_back: soon },
    ...chargedBack(),
  },
  {
    what: 'a charge-back before a refund',
    script: { charge_back: soon },
    refundAfter: '20d',
    ...chargedBack(),
  },
  {
    what: 'a late return and a charge-back at the same moment',
    script: { late_return, charge_back: soon },
    ...returned(),
  },
];

function refunded(): Pick<Case, 'ends' | 'credit'> {
  return { ends: 'REFUNDED', credit: 'refund.applied' };
}
function returned(): Pick<Case, 'ends' | 'credit'> {
  return { ends: 'FAILED', credit: 'ach.returned' };
}
function chargedBack(): Pick<Case, 'ends' | 'credit'> {
  return { ends: 'CHARGED_BACK', credit: 'charge_back.applied' };
}

async function live(bank: BankClient, { script, method = 'ACH', refundAfter }: Case): Promise<string> {
  await bank.setClock('2026-06-01T12:00:00Z');
  await bank.setUser('payer', { balance: { amount: '100.00' }, ...script });
  const { confirmation_id } = (await bank.pay({ user_id: 'payer', method })).body;
  if (refundAfter !== undefined) {
    await bank.advance(refundAfter);
    expect((await bank.refund(confirmation_id)).status).toBe(201);
  }
  await bank.advance('60d');
  return String(confirmation_id);
}

describe('the money of a payment goes back once', () => {
  it.each(cases.map((given) => [given.what, given] as const))('with %s', async (_what, given) => {
    const bank = await bankForTest();
    const id = await live(bank, given);
    const entries = await bank.ledger({ confirmation_id: id });
    const [debit, credit, ...more] = entries.filter((entry) => entry['effect'] !== undefined);
    expect(debit?.['effect']).toBe('debit');
    expect(credit).toMatchObject({ effect: 'credit', type: given.credit, posted: debit?.['posted'] });
    expect(more).toEqual([]);
    expect(await bank.statusOf(id)).toBe(given.ends);
    const { amount } = (given.script['balance'] ?? { amount: '100.00' }) as { amount: string };
    expect(await bank.balanceOf('payer')).toBe(amount);
  });
});
