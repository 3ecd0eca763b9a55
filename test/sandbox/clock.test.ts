import { describe, expect, it } from 'vitest';
import { bankForFile } from './bank-client.ts';
import { eventually } from '../support/processes.ts';

describe('the sandbox clock', () => {
  const bankNow = bankForFile();

  it('is the time of the system until it is set', async () => {
    const before = Date.now();
    const { now, frozen, version } = (await bankNow().get('/clock')).body;
    expect(Date.parse(String(now))).toBeGreaterThanOrEqual(before);
    expect(Date.parse(String(now))).toBeLessThanOrEqual(Date.now());
    expect({ frozen, version }).toEqual({ frozen: false, version: 0 });
  });

  it('stands still when frozen, runs on otherwise, and goes back to the system', async () => {
    const bank = bankNow();
    const { version } = (await bank.setClock('2027-01-01T00:00:00Z')).body;
    expect((await bank.get('/clock')).body).toEqual({
      now: '2027-01-01T00:00:00.000Z',
      frozen: true,
      version,
    });
    const set = await bank.call('PUT', '/clock', { now: '2028-01-01T00:00:00Z' });
    expect(set.body).toMatchObject({ frozen: false, version: Number(version) + 1 });
    const now = async () => Date.parse(String((await bank.get('/clock')).body['now']));
    const first = await now();
    expect(first).toBeGreaterThanOrEqual(Date.parse('2028-01-01T00:00:00Z'));
    await eventually('a later time', async () => (await now()) > first);
    await bank.setClock(null, false);
    expect(Math.abs((await now()) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['1d', '2027-01-02T00:00:00.000Z'],
    ['2h', '2027-01-01T02:00:00.000Z'],
    ['90m', '2027-01-01T01:30:00.000Z'],
    ['1d12h30m5s', '2027-01-02T12:30:05.000Z'],
  ])('advances by %s', async (by, expected) => {
    const bank = bankNow();
    const { version } = (await bank.setClock('2027-01-01T00:00:00Z')).body;
    const advanced = (await bank.advance(by)).body;
    expect(advanced).toMatchObject({ now: expected, frozen: true, version: Number(version) + 1 });
  });

  it('tells a waiting caller of a change at once, and one who is behind without waiting', async () => {
    const bank = bankNow();
    const seen = Number((await bank.get('/clock')).body['version']);
    const waiting = bank.get(`/clock?after=${seen}&wait_ms=60000`);
    await bank.setClock('2027-02-01T00:00:00Z');
    expect((await waiting).body).toMatchObject({ now: '2027-02-01T00:00:00.000Z', version: seen + 1 });
    expect((await bank.get(`/clock?after=${seen}&wait_ms=60000`)).body).toMatchObject({ version: seen + 1 });
    expect((await bank.get(`/clock?after=${seen + 1}&wait_ms=1`)).body).toMatchObject({ version: seen + 1 });
  });

  it('goes back only while nothing was paid', async () => {
    const bank = bankNow();
    await bank.setClock('2027-06-01T12:00:00Z');
    await bank.setUser('u');
    await bank.setClock('2026-06-01T12:00:00Z');
    await bank.pay({ user_id: 'u', method: 'ACH' });
    await bank.advance('10d');
    const back = await bank.call('PUT', '/clock', { now: '2026-06-02T12:00:00Z', frozen: true });
    expect(back).toMatchObject({ status: 409, body: { code: 'clock_cannot_go_back' } });
    expect(back.body['detail']).toContain('2026-06-04T12:30:00.000Z');
    expect((await bank.get('/clock')).body).toMatchObject({ now: '2026-06-11T12:00:00.000Z' });
    await bank.setClock('2026-06-12T12:00:00Z');
  });
});
