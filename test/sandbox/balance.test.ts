import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moneyText } from '../../src/sandbox/money.ts';
import { balanceAt, type AnchoredBalance } from '../../src/sandbox/users/balance.ts';
import { bankForFile } from './bank-client.ts';

const START = Date.parse('2026-01-05T12:00:00Z');
const DAY_MS = 86_400_000;

const cents = fc.integer({ min: 0, max: 500_000 });
const script: fc.Arbitrary<AnchoredBalance> = fc.record({
  amount: cents.map(moneyText),
  at: fc.constant(new Date(START).toISOString()),
  paydays: fc.option(
    fc.record({ every_days: fc.integer({ min: 1, max: 31 }), amount: cents.map(moneyText) }),
    {
      nil: undefined,
    },
  ),
  daily_spending: fc.option(cents.map(moneyText), { nil: undefined }),
});
const offset = fc.integer({ min: 0, max: 400 * DAY_MS });
const movements = fc
  .array(fc.record({ at: offset.map((ms) => START + ms), cents: fc.integer({ min: -10_000, max: 10_000 }) }))
  .map((list) => list.sort((a, b) => a.at - b.at));

describe('a scripted balance', () => {
  const bankNow = bankForFile();

  it('is a function of time that never falls below zero', () => {
    fc.assert(
      fc.property(script, movements, offset, (balance, moved, ms) => {
        const value = balanceAt(balance, moved, START + ms);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(Number.isInteger(value)).toBe(true);
        expect(balanceAt(balance, moved, START + ms)).toBe(value);
      }),
    );
  });

  it('only falls between paydays, and stands still within a day', () => {
    fc.assert(
      fc.property(
        script,
        fc.integer({ min: 0, max: 400 }),
        fc.integer({ min: 0, max: DAY_MS - 1 }),
        (balance, day, ms) => {
          const at = START + day * DAY_MS;
          expect(balanceAt(balance, [], at + ms)).toBe(balanceAt(balance, [], at));
          const every = balance.paydays?.every_days;
          const payday = every !== undefined && (day + 1) % every === 0;
          if (!payday)
            expect(balanceAt(balance, [], at + DAY_MS)).toBeLessThanOrEqual(balanceAt(balance, [], at));
        },
      ),
    );
  });

  it('never falls when nothing is spent', () => {
    fc.assert(
      fc.property(script, offset, offset, (balance, a, b) => {
        const thrifty = { ...balance, daily_spending: undefined };
        const [early, late] = a < b ? [a, b] : [b, a];
        expect(balanceAt(thrifty, [], START + late)).toBeGreaterThanOrEqual(
          balanceAt(thrifty, [], START + early),
        );
      }),
    );
  });

  it('pays, spends down to zero and carries debits, over HTTP', async () => {
    const bank = bankNow();
    await bank.setClock('2026-01-05T12:00:00Z');
    const balance = {
      amount: '50.00',
      daily_spending: '20.00',
      paydays: { every_days: 7, amount: '100.00' },
    };
    await bank.setUser('worker', { balance });
    const seen: unknown[] = [await bank.balanceOf('worker')];
    await bank.pay({ user_id: 'worker', amount: '5.00' });
    seen.push(await bank.balanceOf('worker'));
    for (const by of ['1d', '2d', '3d', '1d', '1d']) {
      await bank.advance(by);
      seen.push(await bank.balanceOf('worker'));
    }
    expect(seen).toEqual(['50.00', '45.00', '25.00', '0.00', '0.00', '80.00', '60.00']);
  });

  it('holds older debits in a balance that was set anew, and takes later ones on top', async () => {
    const bank = bankNow();
    await bank.setClock('2027-01-05T12:00:00Z');
    await bank.setUser('anew', { balance: { amount: '50.00' } });
    await bank.pay({ user_id: 'anew', amount: '5.00' });
    await bank.setUser('anew', { balance: { amount: '50.00' } });
    expect(await bank.balanceOf('anew')).toBe('50.00');
    await bank.setUser('anew', { balance: { amount: '50.00', at: '2027-01-01T00:00:00Z' } });
    expect(await bank.balanceOf('anew')).toBe('45.00');
    await bank.pay({ user_id: 'anew', amount: '1.00' });
    expect(await bank.balanceOf('anew')).toBe('44.00');
  });
});
