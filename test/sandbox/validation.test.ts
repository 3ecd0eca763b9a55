import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox, type RunningSandbox } from '../support/sandbox.ts';
import { BankClient, chargeOf, type Answer } from './bank-client.ts';

const charge = chargeOf({ user_id: 'u' });
const rule = { id: 'r', service: 'payments', fault: 'slow' };
const script = { status: 'ACTIVE', account: {}, balance: { amount: '1.00' }, ach: { mode: 'by-balance' } };
const message = { user_id: 'u', template: 't', data: {}, dedupe_key: 'd' };

describe('bad input', () => {
  let sandbox: RunningSandbox;
  let bank: BankClient;

  beforeAll(async () => {
    sandbox = await startSandbox();
    bank = new BankClient(sandbox.url);
    await bank.setUser('u');
  });
  afterAll(async () => {
    await sandbox.stop();
  });

  function expectRefusal(answer: Answer, field: string): void {
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    const errors = answer.body['errors'] as { field: string }[];
    expect(errors.map((error) => error.field)).toContain(field);
    expect(answer.body['detail']).toContain(field);
  }

  it.each([
    ['user_id', ''],
    ['user_id', 'a/b'],
    ['user_id', 7],
    ['kind', 'GIFT'],
    ['reference_id', ''],
    ['reference_id', null],
    ['method', 'CASH'],
    ['amount', '0.00'],
    ['amount', '-1.00'],
    ['amount', '4.9'],
    ['amount', '4.999'],
    ['amount', '04.99'],
    ['amount', '1e3'],
    ['amount', '1234567890.00'],
    ['amount', 4.99],
    ['amount', undefined],
    ['provider', 'CHASE'],
    ['description', 'x'.repeat(201)],
    ['surprise', 1],
  ])('in a payment names %s (%j)', async (field, value) => {
    expectRefusal(await bank.call('POST', '/payments', { ...charge, [field]: value }, { key: 'k' }), field);
    expect((await bank.get('/payments/by-key/k')).status).toBe(404);
  });

  it.each([
    ['user_id', 'a/b'],
    ['float_id', ''],
    ['amount', '0.00'],
    ['code', 'odd'],
    ['surprise', 1],
  ])('in an advance that came back names %s (%j)', async (field, value) => {
    const advance = { user_id: 'u', float_id: 'f', amount: '60.00', [field]: value };
    expectRefusal(await bank.call('POST', '/sandbox/credit-returns', advance), field);
  });

  it('names the header when the key is missing or unreadable', async () => {
    expectRefusal(await bank.call('POST', '/payments', charge), 'Idempotency-Key');
    expectRefusal(await bank.call('POST', '/payments', charge, { key: 'x'.repeat(256) }), 'Idempotency-Key');
    expectRefusal(await bank.call('POST', '/payments/JPM-1/refund', {}), 'Idempotency-Key');
  });

  it.each([
    ['status', { status: 'HAPPY' }],
    ['is_employee', { is_employee: 'yes' }],
    ['email', { email: 'nobody' }],
    ['tier', { tier: '' }],
    ['tier_version', { tier_version: 1 }],
    ['account.mask', { account: { mask: '12' } }],
    ['account.closed', { account: { closed: 1 } }],
    ['has_debit_card', { has_debit_card: null }],
    ['balance.amount', { balance: { amount: '1' } }],
    ['balance.at', { balance: { amount: '1.00', at: 'yesterday' } }],
    ['balance.at', { balance: { amount: '1.00', at: '9999-01-01T00:00:00Z' } }],
    [
      'balance.paydays.every_days',
      { balance: { amount: '1.00', paydays: { every_days: 0, amount: '1.00' } } },
    ],
    [
      'balance.paydays.first_after_days',
      {
        balance: { amount: '1.00', paydays: { every_days: 1, amount: '1.00', first_after_days: 0 } },
      },
    ],
    ['balance.daily_spending', { balance: { amount: '1.00', daily_spending: '-1.00' } }],
    ['pinless.mode', { pinless: { mode: 'maybe' } }],
    ['pinless.code', { pinless: { mode: 'decline', code: 'no' } }],
    ['ach.code', { ach: { mode: 'return', code: 'X1' } }],
    ['ach.after_banking_days', { ach: { mode: 'return', code: 'R01', after_banking_days: 61 } }],
    ['ach.times', { ach: { mode: 'return', code: 'R01', times: 0 } }],
    ['late_return.after_days', { late_return: {} }],
    ['charge_back.after_days', { charge_back: { after_days: 1.5 } }],
    ['answer_delay_ms', { answer_delay_ms: -1 }],
    ['surprise', { surprise: 1 }],
  ])('in a user script names %s', async (field, script) => {
    expectRefusal(await bank.call('PUT', '/sandbox/users/u2', script), field);
    expectRefusal(await bank.call('POST', '/sandbox/users', [{ user_id: 'u2', ...script }]), `0.${field}`);
    expect((await bank.get('/sandbox/users/u2')).status).toBe(404);
  });

  it.each([
    ['rules.0.id', { ...rule, id: '' }],
    ['rules.0.service', { ...rule, service: 'weather' }],
    ['rules.0.fault', { ...rule, fault: 'late-callback' }],
    ['rules.0.fault', { ...rule, service: 'callbacks' }],
    ['rules.0.match.method', { ...rule, match: { method: 'CASH' } }],
    ['rules.0.match.user_id', { ...rule, match: { user_id: '' } }],
    ['rules.0.match.colour', { ...rule, match: { colour: 'red' } }],
    ['rules.0.probability', { ...rule, probability: 1.1 }],
    ['rules.0.times', { ...rule, times: 0 }],
    ['rules.0.ms', { ...rule, ms: -1 }],
  ])('in a fault names %s', async (field, bad) => {
    expectRefusal(await bank.call('PUT', '/sandbox/faults', { rules: [bad] }), field);
  });

  it('refuses two faults with one id', async () => {
    expectRefusal(await bank.call('PUT', '/sandbox/faults', [rule, rule]), 'rules');
  });

  it.each([
    ['PUT', '/clock', { now: 'noon' }, 'now'],
    ['PUT', '/clock', {}, 'now'],
    ['PUT', '/clock', { now: null, frozen: 1 }, 'frozen'],
    ['POST', '/clock/advance', { by: '1w' }, 'by'],
    ['POST', '/clock/advance', { by: '-1d' }, 'by'],
    ['POST', '/clock/advance', { by: '9999999d' }, 'by'],
    ['GET', '/clock?after=x', undefined, 'after'],
    ['GET', '/clock?wait_ms=99999999', undefined, 'wait_ms'],
    ['GET', '/ledger?after=-1', undefined, 'after'],
    ['GET', '/ledger?limit=0', undefined, 'limit'],
    ['GET', '/ledger?limit=5001', undefined, 'limit'],
    ['GET', '/ledger?effect=none', undefined, 'effect'],
    ['GET', '/ledger?after=1&after=2', undefined, 'after'],
    ['GET', '/ledger?colour=red', undefined, 'colour'],
    ['POST', '/users/u/ban', {}, 'reason'],
    ['POST', '/notifications', { ...message, user_id: 1 }, 'user_id'],
    ['POST', '/notifications', { ...message, template: '' }, 'template'],
    ['POST', '/notifications', { ...message, data: [] }, 'data'],
    ['POST', '/notifications', { ...message, dedupe_key: '' }, 'dedupe_key'],
    ['PUT', `/sandbox/users/${'x'.repeat(129)}`, {}, 'user_id'],
  ])('%s %s with %j names %s', async (method, path, body, field) => {
    expectRefusal(await bank.call(method, path, body), field);
  });

  it.each([
    ['POST', '/payments', '{"half":', 400, 'malformed_request'],
    ['PUT', '/clock', 'null', 400, 'malformed_request'],
    ['GET', '/users/%E0%A4%A', undefined, 400, 'malformed_request'],
    ['GET', '/nowhere', undefined, 404, 'no_such_route'],
    ['POST', '/sandbox/users', `"${'x'.repeat(6_000_000)}"`, 413, 'body_too_large'],
  ])('%s %s that cannot be read is a problem, not a stack trace', async (method, path, raw, status, code) => {
    const answer = await bank.call(method, path, undefined, raw === undefined ? {} : { raw });
    expect(answer).toMatchObject({ status, body: { code } });
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|at \w+ \(/);
  });

  it('leaves a line in the ledger', async () => {
    await bank.call('POST', '/payments', {}, { key: 'k' });
    const rejected = (await bank.ledger({ type: 'request.rejected' })).at(-1);
    expect(rejected).toMatchObject({ request: 'POST /payments', http_status: 400, code: 'invalid_request' });
  });

  const routes = [
    ['POST', '/payments'],
    ['POST', '/payments/JPM-1/refund'],
    ['PUT', '/sandbox/users/garbage'],
    ['POST', '/sandbox/users'],
    ['PUT', '/sandbox/faults'],
    ['PUT', '/clock'],
    ['POST', '/clock/advance'],
    ['POST', '/users/u/ban'],
    ['POST', '/notifications'],
  ] as const;

  it('of any shape never gets a 5xx', async () => {
    const garbage = fc.oneof(
      fc.jsonValue(),
      mutated(charge),
      mutated({ rules: [rule] }),
      mutated(message),
      mutated(script),
      mutated({ now: null, frozen: false }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...routes), garbage, async ([method, path], body) => {
        const answer = await bank.call(method, path, body, { key: 'garbage' });
        // A mutation may leave the body valid; then the answer is a good one.
        expect(answer.status).toBeLessThan(500);
        if (answer.status >= 400) expect(answer.body['code']).toBeTypeOf('string');
        if (path === '/sandbox/faults') await bank.call('DELETE', path);
      }),
      { numRuns: 300 },
    );
  });

  it('in the path never gets a 5xx', async () => {
    const paths = fc.constantFrom(
      '/users/',
      '/payments/',
      '/payments/by-key/',
      '/sandbox/users/',
      '/ledger?user_id=',
    );
    await fc.assert(
      fc.asyncProperty(paths, fc.string({ unit: 'grapheme', maxLength: 300 }), async (prefix, text) => {
        const answer = await bank.get(prefix + encodeURIComponent(text));
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
  });
});

/** A good body with one field replaced by anything. */
function mutated(good: object): fc.Arbitrary<unknown> {
  return fc
    .tuple(fc.constantFrom(...Object.keys(good)), fc.jsonValue())
    .map(([field, value]) => ({ ...good, [field]: value }));
}
