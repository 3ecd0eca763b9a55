import { describe, expect, it } from 'vitest';
import { bankForFile, type Entry, type Json } from './bank-client.ts';

describe('the ledger', () => {
  const bankNow = bankForFile();

  it('is read page by page, in order and without gaps', async () => {
    const bank = bankNow();
    const users = Array.from({ length: 1000 }, (_, i) => ({ user_id: `u-${i}` }));
    for (let i = 0; i < 3; i += 1) await bank.call('POST', '/sandbox/users', users);
    const first = (await bank.get('/ledger')).body;
    expect(first).toMatchObject({ next: 1000, last: 3000 });
    expect(first['entries']).toHaveLength(1000);

    const seqs: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page: Json = (await bank.get(`/ledger?after=${after}&limit=701`)).body;
      seqs.push(...(page['entries'] as Entry[]).map((entry) => entry.seq));
      after = page['next'] as number | null;
    }
    expect(seqs).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
    expect((await bank.get('/ledger?after=3000')).body).toEqual({ entries: [], next: null, last: 3000 });
    expect((await bank.get('/ledger?after=99999')).body).toEqual({ entries: [], next: null, last: 3000 });
    expect(await bank.ledger({ user_id: 'u-500' })).toHaveLength(3);
    expect((await bank.get('/ledger?user_id=u-500&limit=2')).body).toMatchObject({ next: 1501 });
  });

  it('answers what stands per reference: debits less credits', async () => {
    const bank = bankNow();
    await bank.setClock('2026-06-01T12:00:00Z');
    await bank.setUser('audited', { ach: { mode: 'return', code: 'R01', times: 1 } });
    await bank.pay({ user_id: 'audited', reference_id: 'returned-then-paid', method: 'ACH' });
    await bank.advance('5d');
    await bank.pay({ user_id: 'audited', reference_id: 'returned-then-paid' });
    await bank.pay({ user_id: 'audited', reference_id: 'double' });
    await bank.pay({ user_id: 'audited', reference_id: 'double' });
    const { confirmation_id } = (await bank.pay({ user_id: 'audited', reference_id: 'refunded' })).body;
    await bank.refund(confirmation_id);
    await bank.setUser('poor', { balance: { amount: '0.00' } });
    await bank.pay({ user_id: 'poor', reference_id: 'declined' });

    const standing = new Map<unknown, number>();
    const moves = [...(await bank.ledger({ effect: 'debit' })), ...(await bank.ledger({ effect: 'credit' }))];
    for (const { reference_id, effect } of moves) {
      standing.set(reference_id, (standing.get(reference_id) ?? 0) + (effect === 'debit' ? 1 : -1));
    }
    expect(Object.fromEntries(standing)).toEqual({ 'returned-then-paid': 1, double: 2, refunded: 0 });
  });

  it('carries on every payment entry what an audit needs', async () => {
    const bank = bankNow();
    await bank.setUser('facts');
    const { confirmation_id } = (await bank.pay({ user_id: 'facts' }, 'key')).body;
    const applied = (await bank.ledger({ user_id: 'facts', type: 'payment.applied' }))[0];
    expect(applied).toMatchObject({
      idempotency_key: 'key',
      user_id: 'facts',
      kind: 'SUBSCRIPTION',
      reference_id: 'sub-facts',
      method: 'PINLESS',
      provider: 'USIO',
      amount: '4.99',
      confirmation_id,
      status: 'COMPLETED',
      effect: 'debit',
    });
  });

  it('keeps reads to one short line and says nothing of who the user is', async () => {
    const bank = bankNow();
    await bank.setUser('u', { email: 'someone@example.com' });
    await bank.get('/users/u');
    await bank.get('/users/u/accounts/primary');
    const reads = (await bank.ledger({ user_id: 'u' })).slice(1);
    expect(reads.map(({ type, http_status }) => [type, http_status])).toEqual([
      ['user.read', 200],
      ['account.read', 200],
    ]);
    for (const read of reads) expect(JSON.stringify(read).length).toBeLessThan(150);
    expect(JSON.stringify(reads)).not.toContain('example.com');
  });
});
