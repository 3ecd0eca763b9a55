import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox, type RunningSandbox } from '../support/sandbox.ts';
import { BankClient, chargeOf, typesOf } from './bank-client.ts';

describe('payments, refunds, users and notifications', () => {
  let sandbox: RunningSandbox;
  let bank: BankClient;

  beforeAll(async () => {
    sandbox = await startSandbox();
    bank = new BankClient(sandbox.url);
  });
  afterAll(async () => {
    await sandbox.stop();
  });

  describe('when a key comes again', () => {
    it('gets the same answer for the same body, and nothing is charged twice', async () => {
      await bank.setUser('again', { balance: { amount: '100.00' } });
      const first = await bank.pay({ user_id: 'again' }, 'again-1');
      const second = await bank.pay({ user_id: 'again' }, 'again-1');
      expect(first.status).toBe(201);
      expect(second).toMatchObject({ status: 201, body: first.body });
      expect(await bank.balanceOf('again')).toBe('95.01');
      expect(typesOf(await bank.ledger({ idempotency_key: 'again-1' }))).toEqual([
        'payment.requested',
        'payment.applied',
        'payment.answered',
        'payment.requested',
        'payment.answered',
      ]);
    });

    it('reads the same body out of another order of fields', async () => {
      await bank.setUser('order');
      const first = await bank.pay({ user_id: 'order' }, 'order-1');
      const reversed = Object.fromEntries(Object.entries(chargeOf({ user_id: 'order' })).reverse());
      const second = await bank.call('POST', '/payments', reversed, { key: 'order-1' });
      expect(second).toMatchObject({ status: 201, body: first.body });
    });

    it.each([
      ['amount', { amount: '5.00' }],
      ['method', { method: 'ACH' }],
      ['reference_id', { reference_id: 'other' }],
      ['kind', { kind: 'FLOAT' }],
      ['description', { description: 'RETRY PYMT' }],
      ['provider', { provider: 'USIO' }],
    ])('answers 409 when its %s is another', async (field, change) => {
      await bank.setUser('other-body', { balance: { amount: '100.00' } });
      await bank.pay({ user_id: 'other-body' }, `other-${field}`);
      const before = await bank.balanceOf('other-body');
      const answer = await bank.pay({ user_id: 'other-body', ...change }, `other-${field}`);
      expect(answer).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(await bank.balanceOf('other-body')).toBe(before);
    });

    it('makes one charge of many requests at the same time', async () => {
      await bank.setUser('storm', { balance: { amount: '100.00' }, answer_delay_ms: 30 });
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => bank.pay({ user_id: 'storm' }, 'storm-1')),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
      expect(answers.every((answer) => answer.status === 201)).toBe(true);
      expect(await bank.ledger({ reference_id: 'sub-storm', effect: 'debit' })).toHaveLength(1);
      expect(await bank.balanceOf('storm')).toBe('95.01');
    });
  });

  describe('when a card is charged', () => {
    it.each([
      ['completes', {}, { status: 'COMPLETED', card_mask: '6789' }],
      ['declines without a card', { has_debit_card: false }, { status: 'FAILED', error_code: '14' }],
      ['declines without the money', { balance: { amount: '4.98' } }, { status: 'FAILED', error_code: '62' }],
      ['takes the last cent', { balance: { amount: '4.99' } }, { status: 'COMPLETED' }],
      ['declines as scripted', { pinless: { mode: 'decline' } }, { status: 'FAILED', error_code: '05' }],
      ['declines on a closed account', { account: { closed: true } }, { status: 'FAILED', error_code: '46' }],
    ])('%s', async (name, script, expected) => {
      const user = name.replaceAll(' ', '-');
      await bank.setUser(user, script);
      const answer = await bank.pay({ user_id: user });
      expect(answer).toMatchObject({ status: 201, body: expected });
      expect(answer.body['confirmation_id']).toMatch(/^USIO-/);
    });

    it('declines a stranger', async () => {
      expect(await bank.pay({ user_id: 'stranger' })).toMatchObject({
        status: 201,
        body: { status: 'FAILED' },
      });
    });

    it('declines only the first times when scripted so', async () => {
      await bank.setUser('twice', { pinless: { mode: 'decline', code: '51', times: 2 } });
      const statuses = [];
      for (let i = 0; i < 3; i += 1) statuses.push((await bank.pay({ user_id: 'twice' })).body['status']);
      expect(statuses).toEqual(['FAILED', 'FAILED', 'COMPLETED']);
    });
  });

  describe('when ACH is asked for', () => {
    it.each([
      ['JPM by default', {}, /^JPM-/],
      ['Usio on override', { provider: 'USIO' }, /^USIO-/],
      ['JPM for a float', { kind: 'FLOAT' }, /^JPM-/],
    ])('sends through %s', async (name, change, prefix) => {
      const user = name.replaceAll(' ', '-');
      await bank.setUser(user);
      const { body } = await bank.pay({ user_id: user, method: 'ACH', ...change });
      expect(body).toMatchObject({ status: 'ACHSENT', account_mask: '6789' });
      expect(body['confirmation_id']).toMatch(prefix);
    });

    it('fails at once without an account', async () => {
      await bank.setUser('no-account', { account: null });
      expect((await bank.get('/users/no-account/accounts/primary')).status).toBe(404);
      const { body } = await bank.pay({ user_id: 'no-account', method: 'ACH' });
      expect(body).toMatchObject({ status: 'FAILED', error_code: 'R03' });
    });
  });

  it('finds a payment by its key and by its confirmation id', async () => {
    await bank.setUser('find');
    const { body } = await bank.pay({ user_id: 'find', description: 'RETRY PYMT' }, 'find/1');
    const expected = {
      ...body,
      user_id: 'find',
      idempotency_key: 'find/1',
      amount: '4.99',
      provider: 'USIO',
    };
    expect(await bank.get('/payments/by-key/find%2F1')).toMatchObject({ status: 200, body: expected });
    expect((await bank.get(`/payments/${String(body['confirmation_id'])}`)).body).toMatchObject(expected);
    expect((await bank.get('/payments/by-key/unknown')).status).toBe(404);
    expect((await bank.get('/payments/JPM-unknown')).status).toBe(404);
  });

  describe('when a payment is refunded', () => {
    it('gives the money back once, with the same answer for the same key', async () => {
      await bank.setUser('refund', { balance: { amount: '100.00' } });
      const { confirmation_id } = (await bank.pay({ user_id: 'refund' })).body;
      const first = await bank.refund(confirmation_id, 'refund-key');
      expect(first).toMatchObject({ status: 201, body: { confirmation_id, status: 'COMPLETED' } });
      expect(await bank.refund(confirmation_id, 'refund-key')).toMatchObject({
        status: 201,
        body: first.body,
      });
      expect(await bank.balanceOf('refund')).toBe('100.00');
      expect(await bank.statusOf(confirmation_id)).toBe('REFUNDED');
      expect(await bank.refund(confirmation_id, 'another')).toMatchObject({
        status: 409,
        body: { code: 'already_refunded' },
      });
    });

    it('is found by the key of the refund, as the refund was answered', async () => {
      await bank.setUser('by-refund-key');
      const { confirmation_id } = (await bank.pay({ user_id: 'by-refund-key' }, 'charge-key')).body;
      expect((await bank.get('/payments/by-key/given-back')).status).toBe(404);
      await bank.setFaults({ id: 'lost', service: 'refunds', fault: 'error-after', times: 1 });
      expect((await bank.refund(confirmation_id, 'given-back')).status).toBe(500);
      const found = await bank.get('/payments/by-key/given-back');
      expect(found).toMatchObject({ status: 200, body: { confirmation_id, status: 'COMPLETED' } });
      expect((await bank.refund(confirmation_id, 'given-back')).body).toEqual(found.body);
      expect((await bank.get('/payments/by-key/charge-key')).body['status']).toBe('REFUNDED');

      expect((await bank.refund(confirmation_id, 'refused')).status).toBe(409);
      expect((await bank.get('/payments/by-key/refused')).status).toBe(404);
      const reads = await bank.ledger({ type: 'payment.read', user_id: 'by-refund-key' });
      expect(reads.map(({ lookup }) => lookup)).toEqual(['given-back', 'charge-key']);
    });

    it('declines what is not refundable, for ever under that key', async () => {
      await bank.setUser('unrefundable');
      const { confirmation_id } = (await bank.pay({ user_id: 'unrefundable', method: 'ACH' })).body;
      const answer = await bank.refund(confirmation_id, 'too-soon');
      expect(answer).toMatchObject({ status: 201, body: { status: 'FAILED', error_code: 'not_refundable' } });
      expect(await bank.refund(confirmation_id, 'too-soon')).toMatchObject({
        status: 201,
        body: answer.body,
      });
      expect(await bank.statusOf(confirmation_id)).toBe('ACHSENT');
      const found = await bank.get('/payments/by-key/too-soon');
      expect({ status: found.status, body: found.body }).toEqual({ status: 200, body: answer.body });
    });

    it('refuses a key that was used for something else, and a payment that is not there', async () => {
      await bank.setUser('mixed');
      const { confirmation_id } = (await bank.pay({ user_id: 'mixed' }, 'mixed-1')).body;
      expect((await bank.refund(confirmation_id, 'mixed-1')).status).toBe(409);
      expect((await bank.refund('JPM-unknown')).status).toBe(404);
      expect(await bank.statusOf(confirmation_id)).toBe('COMPLETED');
    });
  });

  describe('the user and transactions services', () => {
    it('answer what was scripted', async () => {
      const script = { is_employee: true, email: 'e@example.com', tier: 'Plus', tier_version: 'v1' };
      await bank.setUser('employee', { ...script, balance: { amount: '12.30' }, has_debit_card: false });
      expect((await bank.get('/users/employee')).body).toEqual({
        user_id: 'employee',
        status: 'ACTIVE',
        ...script,
      });
      expect((await bank.get('/users/employee/accounts/primary')).body).toEqual({
        account_id: 'acc_employee',
        mask: '6789',
        available_balance: '12.30',
        institution_id: 'ins_sandbox',
        has_debit_card: false,
      });
      expect((await bank.get('/users/nobody')).status).toBe(404);
      expect((await bank.get('/users/nobody/accounts/primary')).status).toBe(404);
    });

    it('bans as often as asked', async () => {
      await bank.setUser('banned');
      for (let i = 0; i < 3; i += 1) {
        expect((await bank.call('POST', '/users/banned/ban', { reason: 'R10' })).status).toBe(204);
      }
      expect((await bank.get('/users/banned')).body['status']).toBe('BANNED');
      expect((await bank.call('POST', '/users/nobody/ban', { reason: 'R10' })).status).toBe(404);
    });

    it('seeds many users at once', async () => {
      const users = Array.from({ length: 1000 }, (_, i) => ({ user_id: `seed-${i}`, tier: 'Base' }));
      expect(await bank.call('POST', '/sandbox/users', users)).toMatchObject({
        status: 200,
        body: { users: 1000 },
      });
      expect((await bank.get('/sandbox/users/seed-999')).body).toMatchObject({
        user_id: 'seed-999',
        tier: 'Base',
      });
      const tooMany = [...users, { user_id: 'one-more' }];
      expect((await bank.call('POST', '/sandbox/users', tooMany)).status).toBe(400);
    });
  });

  it('accepts a notification and marks its repetition', async () => {
    const message = { user_id: 'n', template: 'three_day_notification', data: { a: [1] }, dedupe_key: 'n-1' };
    expect((await bank.call('POST', '/notifications', message)).status).toBe(202);
    expect((await bank.call('POST', '/notifications', message)).status).toBe(202);
    const accepted = await bank.ledger({ user_id: 'n', type: 'notification.accepted' });
    expect(accepted.map((entry) => entry['duplicate'])).toEqual([false, true]);
  });

  it('says that it lives and is ready', async () => {
    expect((await bank.get('/health/live')).body).toEqual({ status: 'live' });
    const { body } = await bank.get('/health/ready');
    expect(body).toMatchObject({ status: 'ready', callbacks: { state: 'no stream configured' } });
  });
});
