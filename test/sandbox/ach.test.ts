import { describe, expect, it } from 'vitest';
import { bankForFile, typesOf, type BankClient, type Json } from './bank-client.ts';

/** Each test has a Monday of its own, later than those before it, in summer: the window opens at 12:30 UTC. */
function weekOf(monday: string): { start: string; day: (days: number) => string } {
  const day = (days: number) => new Date(Date.parse(monday) + days * 86_400_000).toISOString().slice(0, 10);
  return { start: `${monday}T12:00:00Z`, day };
}

async function achAt(bank: BankClient, now: string, script: Json = {}, change: Json = {}): Promise<string> {
  await bank.setClock(now);
  await bank.setUser('payer', { balance: { amount: '100.00' }, ...script });
  const { body } = await bank.pay({ user_id: 'payer', method: 'ACH', ...change });
  expect(body['status']).toBe('ACHSENT');
  return String(body['confirmation_id']);
}

/** Type and time of what happened to the payment after it was taken. */
async function afterwards(bank: BankClient, confirmationId: string): Promise<string[]> {
  const entries = await bank.ledger({ confirmation_id: confirmationId });
  const later = entries.filter((entry) => /^(ach|charge_back)\./.test(entry.type));
  return later.map((entry) => `${entry.type} ${entry.at.slice(0, 16)}`);
}

describe('an ACH debit', () => {
  const bankNow = bankForFile();

  it.each([
    ['Friday to Monday', '2026-02-06T15:00:00Z', '2026-02-09T13:30', '2026-02-11T13:30'],
    ['over Presidents Day', '2026-02-13T15:00:00Z', '2026-02-17T13:30', '2026-02-19T13:30'],
    ['over the change to summer time', '2026-03-06T20:00:00Z', '2026-03-09T12:30', '2026-03-11T12:30'],
    ['over an open 3 July', '2026-07-02T20:00:00Z', '2026-07-03T12:30', '2026-07-07T12:30'],
    ['over the change to winter time', '2026-10-30T20:00:00Z', '2026-11-02T13:30', '2026-11-04T13:30'],
    ['over Thanksgiving', '2026-11-25T20:00:00Z', '2026-11-27T13:30', '2026-12-01T13:30'],
    ['over Christmas', '2026-12-24T20:00:00Z', '2026-12-28T13:30', '2026-12-30T13:30'],
    ['over a closed 5 July', '2027-07-02T20:00:00Z', '2027-07-06T12:30', '2027-07-08T12:30'],
    ['before the window of a banking day', '2027-07-13T11:00:00Z', '2027-07-14T12:30', '2027-07-16T12:30'],
  ])('settles %s and completes two banking days later', async (_name, now, settles, completes) => {
    const bank = bankNow();
    const id = await achAt(bank, now);
    await bank.advance('6d');
    expect(await afterwards(bank, id)).toEqual([`ach.settled ${settles}`, `ach.completed ${completes}`]);
    expect(await bank.statusOf(id)).toBe('COMPLETED');
  });

  it('debits the balance at settlement, not before', async () => {
    const bank = bankNow();
    const { start, day } = weekOf('2029-06-04');
    const id = await achAt(bank, start);
    await bank.setClock(`${day(1)}T12:29:59Z`);
    expect(await bank.balanceOf('payer')).toBe('100.00');
    await bank.setClock(`${day(1)}T12:30:00Z`);
    expect(await bank.balanceOf('payer')).toBe('95.01');
    expect(await bank.statusOf(id)).toBe('ACHSENT');
  });

  it('happens by itself when the running clock reaches it', async () => {
    const bank = bankNow();
    const { start, day } = weekOf('2030-06-03');
    const id = await achAt(bank, start);
    await bank.setClock(`${day(1)}T12:29:59.700Z`, false);
    await expect.poll(() => afterwards(bank, id)).toEqual([`ach.settled ${day(1)}T12:30`]);
  });

  it('is returned R01 by itself when the money is missing at settlement, and the balance stays', async () => {
    const bank = bankNow();
    const { start, day } = weekOf('2031-06-02');
    const id = await achAt(bank, start, { balance: { amount: '4.98' } });
    await bank.advance('4d');
    expect(await afterwards(bank, id)).toEqual([
      `ach.settled ${day(1)}T12:30`,
      `ach.returned ${day(3)}T12:30`,
    ]);
    const { body } = await bank.get(`/payments/${id}`);
    expect(body).toMatchObject({ status: 'FAILED', return_code: 'R01', error_code: 'R01' });
    expect(await bank.balanceOf('payer')).toBe('4.98');
  });

  it('looks at the balance of the settlement day, with its paydays', async () => {
    const bank = bankNow();
    const payday = { amount: '0.00', paydays: { every_days: 1, amount: '50.00' } };
    const id = await achAt(bank, weekOf('2032-06-07').start, { balance: payday });
    await bank.advance('4d');
    expect(await bank.statusOf(id)).toBe('COMPLETED');
  });

  it('is returned as scripted: code, day, and only the first times', async () => {
    const bank = bankNow();
    const { start, day } = weekOf('2033-06-06');
    const ach = { mode: 'return', code: 'R09', after_banking_days: 1, times: 1 };
    const first = await achAt(bank, start, { ach });
    const second = String((await bank.pay({ user_id: 'payer', method: 'ACH' })).body['confirmation_id']);
    await bank.advance('4d');
    expect(await afterwards(bank, first)).toEqual([
      `ach.settled ${day(1)}T12:30`,
      `ach.returned ${day(2)}T12:30`,
    ]);
    expect((await bank.get(`/payments/${first}`)).body).toMatchObject({
      status: 'FAILED',
      return_code: 'R09',
    });
    expect(await bank.statusOf(second)).toBe('COMPLETED');
    expect(await bank.balanceOf('payer')).toBe('95.01');
  });

  it('counts as paid at the end of the window when its return is slower than that', async () => {
    const bank = bankNow();
    const { start, day } = weekOf('2033-07-11');
    const id = await achAt(bank, start, { ach: { mode: 'return', code: 'R10', after_banking_days: 4 } });
    await bank.advance('8d');
    expect(await afterwards(bank, id)).toEqual([
      `ach.settled ${day(1)}T12:30`,
      `ach.completed ${day(3)}T12:30`,
      `ach.returned ${day(7)}T12:30`,
    ]);
  });

  it('is returned R02 when the account was closed', async () => {
    const bank = bankNow();
    const id = await achAt(bank, weekOf('2034-06-05').start, { account: { closed: true } });
    await bank.advance('4d');
    expect((await bank.get(`/payments/${id}`)).body).toMatchObject({ status: 'FAILED', return_code: 'R02' });
  });

  it('can be returned late, after it completed, and the money goes back', async () => {
    const bank = bankNow();
    const { start, day } = weekOf('2035-06-04');
    const id = await achAt(bank, start, { late_return: { after_days: 30 } });
    await bank.advance('4d');
    expect(await bank.statusOf(id)).toBe('COMPLETED');
    await bank.advance('40d');
    expect((await afterwards(bank, id)).at(-1)).toBe(`ach.returned ${day(33)}T12:30`);
    expect((await bank.get(`/payments/${id}`)).body).toMatchObject({ status: 'FAILED', return_code: 'R10' });
    expect(await bank.balanceOf('payer')).toBe('100.00');
  });

  it('can be charged back, as a card charge can, as often as scripted', async () => {
    const bank = bankNow();
    const { start, day } = weekOf('2036-06-02');
    const id = await achAt(bank, start, { charge_back: { after_days: 10, times: 2 } });
    const card = String((await bank.pay({ user_id: 'payer' })).body['confirmation_id']);
    await bank.advance('30d');
    const spared = String((await bank.pay({ user_id: 'payer' })).body['confirmation_id']);
    await bank.advance('30d');
    expect(await afterwards(bank, card)).toEqual([`charge_back.applied ${day(10)}T12:00`]);
    expect((await afterwards(bank, id)).at(-1)).toBe(`charge_back.applied ${day(13)}T12:30`);
    expect(await bank.statusOf(card)).toBe('CHARGED_BACK');
    expect(await bank.statusOf(spared)).toBe('COMPLETED');
  });

  it('through Usio changes its status after three banking days, without a callback', async () => {
    const bank = bankNow();
    const { start, day } = weekOf('2037-06-01');
    const id = await achAt(bank, start, {}, { provider: 'USIO' });
    await bank.setClock(`${day(3)}T12:29:00Z`);
    expect(await bank.statusOf(id)).toBe('ACHSENT');
    await bank.setClock(`${day(3)}T12:30:00Z`);
    expect(await bank.statusOf(id)).toBe('COMPLETED');
    const queued = await bank.ledger({ type: 'callback.queued' });
    expect(queued.filter(({ callback_id }) => String(callback_id).startsWith(id))).toEqual([]);
  });

  it('has its callback kept, and reported as pending, when no stream is configured', async () => {
    const bank = bankNow();
    await achAt(bank, weekOf('2038-06-07').start);
    const { callbacks } = (await bank.advance('4d')).body as { callbacks: Json };
    expect(callbacks).toMatchObject({ state: 'no stream configured' });
    expect(callbacks['pending']).toBe((await bank.ledger({ type: 'callback.queued' })).length);
  });

  it('keeps the ledger in order of time however far the clock jumps', async () => {
    const bank = bankNow();
    await bank.setClock(weekOf('2039-06-06').start);
    for (const user of ['a', 'b', 'c']) {
      await bank.setUser(user, { late_return: { after_days: 5 } });
      await bank.pay({ user_id: user, method: 'ACH', reference_id: 'jump' });
      await bank.advance('1d');
    }
    await bank.advance('60d');
    // Without the first one, which took the clock back from the time of the system.
    const times = (await bank.ledger()).slice(1).map((entry) => entry.at);
    expect(times).toEqual([...times].sort());
    const returned = typesOf(await bank.ledger({ reference_id: 'jump', type: 'ach.returned' }));
    expect(returned).toHaveLength(3);
  });
});
