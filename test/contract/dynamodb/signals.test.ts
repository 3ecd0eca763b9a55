import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoSignals } from '../../../src/adapters/dynamodb/signals.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Faults } from '../../support/dynamo-faults.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import { NOW, newUser } from '../../support/inbox-desk.ts';

const WITHIN_MS = 600_000;

let store: BillingStore;
let signals: DynamoSignals;
let faults: Faults;
let userId: UserId;

beforeAll(async () => {
  store = await billingStore();
  signals = new DynamoSignals({ client: store.client, table: store.tables.pipeline });
});
afterAll(() => store.drop());
beforeEach(() => {
  userId = newUser();
  faults = injectFaults(store.client);
});
afterEach(() => faults.remove());

const take = async (signalId: string, minutes: number): Promise<string> =>
  (await signals.take({ signalId, userId, kind: 'income' }, plusMs(NOW, minutes * 60_000), WITHIN_MS))
    .signalId;

describe('a signal that is sent again', () => {
  it('counts as it did before, however late', async () => {
    expect([await take('first', 0), await take('second', 1)]).toEqual(['first', 'first']);
    expect([await take('second', 30), await take('first', 31)]).toEqual(['first', 'first']);
  });

  it('makes nothing else count as it', async () => {
    await take('first', 0);
    await take('first', 30);
    expect(await take('another', 31)).toBe('another');
  });

  it('while it is being taken counts as one, also on either side of the time for which others count as it', async () => {
    await take('first', 0);
    const gate = faults.hold('PutItemCommand', {
      when: (input) => JSON.stringify(input['Item']).includes('countsAs'),
    });
    const before = take('second', 9);
    await gate.reached;
    const after = await take('second', 11);
    gate.open();
    expect([await before, after]).toEqual(['second', 'second']);
  });
});
