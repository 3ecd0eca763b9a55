import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox, type RunningSandbox } from '../support/sandbox.ts';
import { BankClient, chargeOf, typesOf } from './bank-client.ts';
import { eventually } from '../support/processes.ts';

describe('the fault dial', () => {
  let sandbox: RunningSandbox;
  let bank: BankClient;

  beforeAll(async () => {
    sandbox = await startSandbox();
    bank = new BankClient(sandbox.url);
  });
  afterAll(async () => {
    await sandbox.stop();
  });
  afterEach(async () => {
    await bank.call('DELETE', '/sandbox/faults');
  });

  /** Gives up as a client with a time-out does, once the ledger shows that the request arrived. */
  async function giveUpOn(user: string, key: string): Promise<unknown> {
    const patience = new AbortController();
    const request = bank.call('POST', '/payments', chargeOf({ user_id: user }), {
      key,
      signal: patience.signal,
    });
    const outcome = request.then(
      (answer) => answer.status,
      (error: unknown) => (error as Error).name,
    );
    const held = { user_id: user, type: 'payment.answered' };
    await eventually('the held request', async () => (await bank.ledger(held)).length > 0);
    patience.abort();
    return outcome;
  }

  it('times out after the charge: it shows in the ledger and the retry gets the stored answer', async () => {
    await bank.setUser('after', { balance: { amount: '100.00' } });
    await bank.setFaults({ id: 't', service: 'payments', fault: 'timeout-after', times: 1 });
    expect(await giveUpOn('after', 'after-1')).toBe('AbortError');
    const entries = await bank.ledger({ user_id: 'after', idempotency_key: 'after-1' });
    expect(typesOf(entries)).toEqual(['payment.requested', 'payment.applied', 'payment.answered']);
    expect(entries[1]).toMatchObject({ effect: 'debit', status: 'COMPLETED' });
    expect(entries[2]).toMatchObject({ answer: 'timeout', fault: 'timeout-after' });
    const retry = await bank.pay({ user_id: 'after' }, 'after-1');
    expect(retry).toMatchObject({ status: 201, body: { confirmation_id: entries[1]?.['confirmation_id'] } });
    expect(await bank.balanceOf('after')).toBe('95.01');
  });

  it('times out before the charge: nothing is applied until the retry', async () => {
    await bank.setUser('before', { balance: { amount: '100.00' } });
    await bank.setFaults({ id: 't', service: 'payments', fault: 'timeout-before', times: 1 });
    expect(await giveUpOn('before', 'before-1')).toBe('AbortError');
    const entries = await bank.ledger({ user_id: 'before', idempotency_key: 'before-1' });
    expect(typesOf(entries)).toEqual(['payment.requested', 'payment.answered']);
    expect((await bank.get('/payments/by-key/before-1')).status).toBe(404);
    expect(await bank.balanceOf('before')).toBe('100.00');
    expect((await bank.pay({ user_id: 'before' }, 'before-1')).status).toBe(201);
  });

  it('drops a held connection by itself at the end of its time', async () => {
    await bank.setUser('dropped');
    await bank.setFaults({ id: 't', service: 'payments', fault: 'timeout-before', ms: 50 });
    await expect(bank.pay({ user_id: 'dropped' })).rejects.toThrow('fetch failed');
  });

  it('errs before the charge: nothing is applied', async () => {
    await bank.setUser('err-before', { balance: { amount: '100.00' } });
    await bank.setFaults({ id: 'e', service: 'payments', fault: 'error-before', times: 1 });
    const answer = await bank.pay({ user_id: 'err-before' }, 'eb-1');
    expect(answer).toMatchObject({ status: 500, body: { code: 'injected_error' } });
    expect(await bank.balanceOf('err-before')).toBe('100.00');
    expect((await bank.get('/payments/by-key/eb-1')).status).toBe(404);
  });

  it('errs after the charge: it is applied and the retry gets the stored answer', async () => {
    await bank.setUser('err-after', { balance: { amount: '100.00' } });
    await bank.setFaults({ id: 'e', service: 'payments', fault: 'error-after', times: 1 });
    expect((await bank.pay({ user_id: 'err-after' }, 'ea-1')).status).toBe(500);
    const found = await bank.get('/payments/by-key/ea-1');
    expect(found).toMatchObject({ status: 200, body: { status: 'COMPLETED' } });
    const retry = await bank.pay({ user_id: 'err-after' }, 'ea-1');
    expect(retry.body['confirmation_id']).toBe(found.body['confirmation_id']);
    expect(await bank.balanceOf('err-after')).toBe('95.01');
  });

  it('answers 429 with Retry-After and takes nothing', async () => {
    await bank.setUser('busy', { balance: { amount: '100.00' } });
    await bank.setFaults({ id: 'b', service: 'payments', fault: 'too-many', ms: 2500 });
    const answer = await bank.pay({ user_id: 'busy' }, 'busy-1');
    expect(answer).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
    expect(answer.headers.get('retry-after')).toBe('3');
    expect((await bank.get('/payments/by-key/busy-1')).status).toBe(404);
    expect(await bank.balanceOf('busy')).toBe('100.00');
  });

  it('answers slowly, and notes a caller who did not wait', async () => {
    await bank.setUser('slow');
    await bank.setFaults({ id: 's', service: 'payments', fault: 'slow', ms: 60 });
    expect((await bank.pay({ user_id: 'slow' })).status).toBe(201);
    await bank.setFaults({ id: 's', service: 'payments', fault: 'slow', ms: 60_000 });
    const patience = new AbortController();
    const left = bank.call('POST', '/payments', chargeOf({ user_id: 'slow' }), {
      key: 's-2',
      signal: patience.signal,
    });
    const leaving = expect(left).rejects.toThrow('aborted');
    const applied = { idempotency_key: 's-2', type: 'payment.applied' };
    await eventually('the charge', async () => (await bank.ledger(applied)).length === 1);
    patience.abort();
    await leaving;
    const hungUp = { idempotency_key: 's-2', type: 'payment.answered', answer: 'hung-up' };
    await eventually('the note', async () => (await bank.ledger(hungUp)).length === 1);
  });

  it('makes a slow user’s charges and refunds at once and answers them after the scripted delay', async () => {
    const balance = { amount: '10.00' };
    await bank.setUser('sleepy', { balance });
    const { confirmation_id } = (await bank.pay({ user_id: 'sleepy' })).body;
    await bank.setUser('sleepy', { balance, answer_delay_ms: 60_000 });
    const leaveUnanswered = async (key: string, path: string, body: object, made: Record<string, string>) => {
      const known = async (entry: Record<string, string>) =>
        (await bank.ledger({ user_id: 'sleepy', ...entry })).length === 1;
      const patience = new AbortController();
      const left = bank.call('POST', path, body, { key, signal: patience.signal });
      const leaving = expect(left).rejects.toThrow('aborted');
      await eventually('what was asked for', () => known(made));
      patience.abort();
      await leaving;
      const type = made['type']!.replace('applied', 'answered');
      await eventually('the note', () => known({ type, answer: 'hung-up' }));
    };
    const charge = { type: 'payment.applied', idempotency_key: 'sleepy-charge' };
    await leaveUnanswered('sleepy-charge', '/payments', chargeOf({ user_id: 'sleepy' }), charge);
    const refund = { type: 'refund.applied' };
    await leaveUnanswered('sleepy-refund', `/payments/${String(confirmation_id)}/refund`, {}, refund);
  });

  it.each([
    ['users', 'GET', '/users/svc', undefined, 200],
    ['transactions', 'GET', '/users/svc/accounts/primary', undefined, 200],
    ['users', 'POST', '/users/svc/ban', { reason: 'x' }, 204],
    ['lookups', 'GET', '/payments/by-key/svc-1', undefined, 200],
    [
      'notifications',
      'POST',
      '/notifications',
      { user_id: 'svc', template: 't', data: {}, dedupe_key: 'd' },
      202,
    ],
  ])('spoils %s (%s %s) and nothing else', async (service, method, path, body, usual) => {
    await bank.setUser('svc');
    await bank.pay({ user_id: 'svc' }, 'svc-1');
    await bank.setFaults({ id: 'e', service, fault: 'error-before', times: 1 });
    expect((await bank.pay({ user_id: 'svc' }, `svc-${path}`)).status).toBe(201);
    expect((await bank.call(method, path, body)).status).toBe(500);
    expect((await bank.call(method, path, body)).status).toBe(usual);
  });

  it('spoils a refund after it was made', async () => {
    await bank.setUser('refund', { balance: { amount: '10.00' } });
    const { confirmation_id } = (await bank.pay({ user_id: 'refund' })).body;
    await bank.setFaults({ id: 'e', service: 'refunds', fault: 'error-after', times: 1 });
    expect((await bank.refund(confirmation_id, 'r-1')).status).toBe(500);
    expect(await bank.statusOf(confirmation_id)).toBe('REFUNDED');
    expect(await bank.refund(confirmation_id, 'r-1')).toMatchObject({
      status: 201,
      body: { status: 'COMPLETED' },
    });
    expect(await bank.balanceOf('refund')).toBe('10.00');
  });

  it('matches by user, method and reference', async () => {
    await bank.setUser('m');
    const match = { user_id: 'm', method: 'ACH', reference_id: 'sub-m' };
    await bank.setFaults({ id: 'e', service: 'payments', fault: 'error-before', match });
    expect((await bank.pay({ user_id: 'm' })).status).toBe(201);
    expect((await bank.pay({ user_id: 'm', method: 'ACH', reference_id: 'other' })).status).toBe(201);
    expect((await bank.pay({ user_id: 'x', method: 'ACH', reference_id: 'sub-m' })).status).toBe(201);
    expect((await bank.pay({ user_id: 'm', method: 'ACH' })).status).toBe(500);
  });

  it('falls the same way for the same seed and keys, and another way on a retry', async () => {
    await bank.setUser('dice', { balance: { amount: '9999.00' } });
    const rules = [{ id: 'p', service: 'payments', fault: 'error-before', probability: 0.5 }];
    const run = async (seed: string) => {
      await bank.call('PUT', '/sandbox/faults', { seed, rules });
      const statuses: number[] = [];
      for (let i = 0; i < 60; i += 1)
        statuses.push((await bank.pay({ user_id: 'dice' }, `dice-${i % 20}`)).status);
      return statuses;
    };
    const first = await run('a');
    expect(await run('a')).toEqual(first);
    expect(await run('b')).not.toEqual(first);
    const failures = first.filter((status) => status === 500).length;
    expect(failures).toBeGreaterThan(15);
    expect(failures).toBeLessThan(45);
    expect(first.slice(0, 20)).not.toEqual(first.slice(20, 40));
  });

  it('shows its rules and how often each struck, takes a bare list, and forgets them', async () => {
    const rule = { id: 'r', service: 'users', fault: 'error-before', times: 5 };
    await bank.call('PUT', '/sandbox/faults', [rule]);
    await bank.get('/users/nobody');
    expect((await bank.get('/sandbox/faults')).body).toMatchObject({ rules: [rule], hits: { r: 1 } });
    expect((await bank.call('DELETE', '/sandbox/faults')).status).toBe(204);
    expect((await bank.get('/sandbox/faults')).body).toMatchObject({ rules: [], hits: {} });
  });
});
