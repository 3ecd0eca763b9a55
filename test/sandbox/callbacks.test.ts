import { describe, expect, it } from 'vitest';
import { bankForTest, type BankClient, type Json } from './bank-client.ts';
import { eventually } from '../support/processes.ts';
import { PaymentsStream } from './payments-stream.ts';
import { StreamStandIn, type Refusal } from './stream-stand-in.ts';

const MONDAY = '2026-06-01T12:00:00Z';

async function bankOn(stream: PaymentsStream): Promise<BankClient> {
  const bank = await bankForTest(stream.options);
  await bank.setClock(MONDAY);
  return bank;
}

async function ach(bank: BankClient, user: string, script: Json = {}, change: Json = {}): Promise<string> {
  await bank.setUser(user, script);
  const { body } = await bank.pay({ user_id: user, method: 'ACH', ...change });
  return String(body['confirmation_id']);
}

describe('callbacks on the payments stream', () => {
  it('say what became of each debit, once and in order per user', async () => {
    const stream = await PaymentsStream.create();
    const bank = await bankOn(stream);
    const paid = await ach(bank, 'paid', { late_return: { after_days: 3 } });
    const returned = await ach(bank, 'returned', { balance: { amount: '1.00' } });
    const float = await ach(bank, 'float', {}, { kind: 'FLOAT', reference_id: 'float-1' });
    const badFloat = await ach(bank, 'bad-float', { account: { closed: true } }, { kind: 'FLOAT' });
    await ach(bank, 'silent', {}, { provider: 'USIO' });
    await ach(bank, 'recurring', {}, { kind: 'RECURRING' });
    const { body } = await bank.advance('30d');
    expect(body['callbacks']).toEqual({ pending: 0 });

    const records = await stream.records();
    expect(records.map(({ type, id }) => [type, id])).toEqual([
      ['SUBSCRIPTION_COMPLETED', paid],
      ['SUBSCRIPTION_RETURNED', returned],
      ['FLOAT_DEBIT_COMPLETED', float],
      ['FLOAT_DEBIT_RETURNED', badFloat],
      ['SUBSCRIPTION_RETURNED', paid],
    ]);
    expect(records[0]).toEqual({
      id: paid,
      type: 'SUBSCRIPTION_COMPLETED',
      source: 'PaymentsService',
      time: '2026-06-04T12:30:00.000Z',
      data: {
        confirmation_id: paid,
        user_id: 'paid',
        subscription_id: 'sub-paid',
        status: 'COMPLETED',
        amount: '4.99',
      },
      partitionKey: 'paid',
    });
    expect(records[1]?.data).toMatchObject({
      status: 'FAILED',
      return_code: 'R01',
      error_message: 'insufficient funds',
    });
    expect(records[2]?.data).toMatchObject({ float_id: 'float-1', status: 'COMPLETED' });
    expect(records[4]?.data).toMatchObject({ status: 'FAILED', return_code: 'R10' });
    expect(await bank.ledger({ type: 'callback.published' })).toHaveLength(5);
  });

  it('report refunds and charge-backs of subscriptions, and only of those', async () => {
    const stream = await PaymentsStream.create();
    const bank = await bankOn(stream);
    await bank.setUser('card', { charge_back: { after_days: 5, times: 1 } });
    await bank.pay({ user_id: 'card' });
    const refunded = (await bank.pay({ user_id: 'card' })).body['confirmation_id'];
    const float = (await bank.pay({ user_id: 'card', kind: 'FLOAT' })).body['confirmation_id'];
    await bank.refund(float);
    await bank.refund(refunded);
    await eventually('the refund callback', async () => (await stream.types()).length === 1);
    await bank.advance('5d');
    const records = await stream.records();
    expect(records.map(({ type, data }) => [type, data['status']])).toEqual([
      ['SUBSCRIPTION_REFUNDED', 'REFUNDED'],
      ['SUBSCRIPTION_CHARGED_BACK', 'CHARGED_BACK'],
    ]);
  });

  it('say that an advance came back when an operator says so, and nothing moves', async () => {
    const stream = await PaymentsStream.create();
    const bank = await bankOn(stream);
    const advance = { user_id: 'member', float_id: 'float-1', amount: '60.00', code: 'R02' };
    const { status, body } = await bank.call('POST', '/sandbox/credit-returns', advance);
    expect(status).toBe(201);
    await eventually('the callback', async () => (await stream.types()).length === 1);
    const [record] = await stream.records();
    expect(record).toEqual({ ...body, partitionKey: 'member' });
    expect(record).toMatchObject({ type: 'FLOAT_CREDIT_RETURNED', source: 'PaymentsService' });
    expect(record?.data).toEqual({
      confirmation_id: record?.id,
      user_id: 'member',
      float_id: 'float-1',
      status: 'FAILED',
      amount: '60.00',
      return_code: 'R02',
      error_message: 'account closed',
    });
    expect((await bank.ledger()).filter(({ effect }) => effect !== undefined)).toEqual([]);
  });

  it('come twice, late or early when the dial says so', async () => {
    const stream = await PaymentsStream.create();
    const bank = await bankOn(stream);
    const rule = (fault: string, user_id: string, ms?: number) => ({
      ...{ id: fault, service: 'callbacks', fault, match: { user_id } },
      ...(ms !== undefined && { ms }),
    });
    await bank.setFaults(
      rule('duplicate-callback', 'twice'),
      rule('late-callback', 'late', 2 * 86_400_000),
      rule('early-callback', 'early'),
    );

    const early = await ach(bank, 'early');
    // The answer to the charge has only just been read, and the stream has its outcome already.
    expect((await stream.records()).map(({ type, id }) => [type, id])).toEqual([
      ['SUBSCRIPTION_COMPLETED', early],
    ]);
    expect(await bank.statusOf(early)).toBe('COMPLETED');

    const { confirmation_id } = (await bank.pay({ user_id: 'early' })).body;
    await bank.refund(confirmation_id);
    expect((await stream.types()).at(-1)).toBe('SUBSCRIPTION_REFUNDED');

    await ach(bank, 'twice');
    const late = await ach(bank, 'late');
    await bank.setClock('2026-06-06T12:29:00Z');
    expect((await stream.records()).map(({ data }) => data['user_id'])).toEqual([
      'early',
      'early',
      'twice',
      'twice',
    ]);
    expect(await bank.statusOf(late)).toBe('COMPLETED');
    await bank.setClock('2026-06-06T12:30:00Z');
    const last = (await stream.records()).at(-1);
    expect(last).toMatchObject({ id: late, time: '2026-06-04T12:30:00.000Z' });
    expect((await bank.get('/sandbox/faults')).body['hits']).toEqual({
      'duplicate-callback': 1,
      'late-callback': 1,
      'early-callback': 2,
    });
  });

  it('wait for a stream that is not there, and then arrive once each, in order', async () => {
    const stream = PaymentsStream.forTest();
    const bank = await bankOn(stream);
    const users = Array.from({ length: 30 }, (_, i) => `user-${i}`);
    for (const user of users) await ach(bank, user, { late_return: { after_days: 0 } });
    const advanced = bank.advance('4d');
    await eventually(
      'a failed try',
      async () => (await bank.get('/sandbox/callbacks')).body['state'] === 'retrying',
    );
    expect((await bank.get('/sandbox/callbacks')).body['pending']).toBe(60);
    await stream.create();
    await advanced;
    await eventually(
      'the callbacks',
      async () => (await bank.get('/sandbox/callbacks')).body['pending'] === 0,
    );
    const records = await stream.records();
    expect(records).toHaveLength(60);
    for (const user of users) {
      const types = records.filter(({ partitionKey }) => partitionKey === user).map(({ type }) => type);
      expect(types).toEqual(['SUBSCRIPTION_COMPLETED', 'SUBSCRIPTION_RETURNED']);
    }
  });

  const throttled = { ErrorCode: 'ProvisionedThroughputExceededException', ErrorMessage: 'slow down' };
  it.each<[string, Refusal]>([
    ['without a sequence number', throttled],
    ['with null for one', { ...throttled, SequenceNumber: null, ShardId: null }],
    ['with an empty one', { ...throttled, SequenceNumber: '' }],
  ])('stay pending when the stream takes the others and refuses them %s', async (_how, refusal) => {
    const standIn = await StreamStandIn.forTest();
    const bank = await bankForTest({ kinesisEndpoint: standIn.endpoint });
    await bank.setClock(MONDAY);
    await ach(bank, 'taken');
    await ach(bank, 'refused', { late_return: { after_days: 0 } });
    standIn.refusals.set('refused', refusal);
    const advanced = bank.advance('4d');
    await eventually('the retries', async () => standIn.requests >= 3);
    const published = async () =>
      (await bank.ledger({ type: 'callback.published' })).map(({ user_id }) => user_id);
    expect(await published()).toEqual(['taken']);
    expect((await bank.get('/sandbox/callbacks')).body).toEqual({
      state: 'retrying',
      pending: 2,
      last_error: 'the stream refused some records',
    });

    standIn.refusals.clear();
    expect((await advanced).body['callbacks']).toEqual({ pending: 0 });
    expect(await published()).toEqual(['taken', 'refused', 'refused']);
    expect(standIn.taken).toEqual([
      { user: 'taken', type: 'SUBSCRIPTION_COMPLETED' },
      { user: 'refused', type: 'SUBSCRIPTION_COMPLETED' },
      { user: 'refused', type: 'SUBSCRIPTION_RETURNED' },
    ]);
  });
});
