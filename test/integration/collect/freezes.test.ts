import type { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { parseInstant, plusMs } from '../../../src/domain/instant.ts';
import type { FreezeTarget } from '../../../src/ports/freezes.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

let here: World;
let freezes: DynamoFreezes;

beforeAll(async () => {
  here = await world();
  freezes = new DynamoFreezes({
    client: here.store.client,
    table: here.store.tables.pipeline,
    timer: systemTimer,
  });
});
afterAll(() => here.close());
afterEach(async () => {
  for (const { target } of await freezes.list())
    await freezes.unfreeze(target, { who: 'test', at: here.now });
});

const order = (target: FreezeTarget, untilMs: number | null = null) => ({
  target,
  reason: 'returns are high',
  who: 'olga',
  at: here.now,
  until: untilMs === null ? null : plusMs(here.now, untilMs),
});

describe('a freeze', () => {
  it('stops everything, a rail or a member, and nothing else, until it is lifted', async () => {
    const record = await here.member();
    const other = await here.member({ has_debit_card: false });
    const cases: [FreezeTarget, string][] = [
      [{ scope: 'global' }, 'frozen-global'],
      [{ scope: 'PINLESS' }, 'frozen-rail'],
      [{ scope: 'user', userId: record.userId }, 'frozen-user'],
    ];
    for (const [target, reason] of cases) {
      await freezes.freeze(order(target));
      expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'deferred', reason });
      expect(await freezes.unfreeze(target, { who: 'olga', at: here.now })).toBe(true);
    }
    expect(await here.row(record)).toEqual(record);
    await freezes.freeze(order({ scope: 'PINLESS' }));
    await freezes.freeze(order({ scope: 'user', userId: record.userId }));
    expect(await here.collect('INITIAL', other)).toMatchObject({ verdict: 'sent' });
  });

  it('of ACH leaves the card, without the account to turn to', async () => {
    await freezes.freeze(order({ scope: 'ACH' }));
    const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
    expect(await here.collect('INITIAL', record)).toMatchObject({
      verdict: 'declined',
      reason: 'PINLESS-62',
    });
    expect(debits(await here.ledger(record))).toBe(0);
  });

  it.each<FreezeTarget['scope']>(['global', 'ACH', 'user'])(
    '(%s) that is ordered while the card is asked keeps the account from being asked',
    async (scope) => {
      const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
      const target: FreezeTarget = scope === 'user' ? { scope, userId: record.userId } : { scope };
      here.onStep = async (step) => {
        if (step === 'charged') await freezes.freeze(order(target));
      };
      expect(await here.collect('INITIAL', record)).toMatchObject({
        verdict: 'declined',
        reason: 'PINLESS-62',
      });
      here.onStep = () => undefined;
      expect((await here.ledger(record)).filter(({ method }) => method === 'ACH')).toEqual([]);
    },
  );

  it('ends by itself when it has an end', async () => {
    await freezes.freeze(order({ scope: 'global' }, -1));
    expect(await here.collect('INITIAL', await here.member())).toMatchObject({ verdict: 'collected' });
  });

  it('is listed with its reason and author, and every order is in the log', async () => {
    await freezes.freeze(order({ scope: 'ACH' }));
    expect(await freezes.list()).toEqual([order({ scope: 'ACH' })]);
    await freezes.unfreeze({ scope: 'ACH' }, { who: 'ben', at: plusMs(here.now, 1) });
    expect(await freezes.list()).toEqual([]);
    expect(await freezes.unfreeze({ scope: 'ACH' }, { who: 'ben', at: here.now })).toBe(false);
    const ach = (await log()).filter((item) => item['scope'] === 'ACH');
    expect(ach).toContainEqual(expect.objectContaining({ action: 'frozen', who: 'olga' }));
    expect(ach).toContainEqual(expect.objectContaining({ action: 'lifted', who: 'ben' }));
  });
});

describe('an order that hangs on its way', () => {
  const target: FreezeTarget = { scope: 'global' };

  it('to freeze does not take the place of one that was ordered after it', async () => {
    const arrive = await hanging((slow) => slow.freeze(order(target, 60_000)));
    const since = { ...order(target), at: plusMs(here.now, 1_000) };
    await freezes.freeze(since);
    await expect(arrive()).rejects.toThrow('ConditionalCheckFailed');
    expect(await freezes.list()).toEqual([since]);
  });

  it('to lift does not end what was frozen again after it', async () => {
    await freezes.freeze(order(target));
    const arrive = await hanging((slow) => slow.unfreeze(target, { who: 'ben', at: here.now }));
    const again = { ...order(target), at: plusMs(here.now, 1_000) };
    await freezes.freeze(again);
    await expect(arrive()).rejects.toThrow('ConditionalCheckFailed');
    expect(await here.collect('INITIAL', await here.member())).toMatchObject({ reason: 'frozen-global' });
  });

  it('is in the log from when it was ordered, and as acknowledged only to somebody who was told', async () => {
    const lost = { ...order(target), who: 'lost' };
    await (
      await hanging((slow) => slow.freeze(lost))
    )();
    const entries = await log();
    expect(entries.find(({ who }) => who === 'lost')).not.toHaveProperty('acknowledgedAt');
    await freezes.freeze({ ...lost, who: 'told', at: plusMs(here.now, 1) });
    const { at, acknowledgedAt } = (await log()).find(({ who }) => who === 'told')!;
    expect(parseInstant(acknowledgedAt as string)).toBeGreaterThanOrEqual(parseInstant(at as string)!);
  });

  it('is tried again when others change the same at the same time', async () => {
    const orders = Array.from({ length: 3 }, (_, n) => ({ ...order(target), at: plusMs(here.now, n) }));
    await Promise.all(orders.map((each) => freezes.freeze(each)));
    const [standing, ...others] = await freezes.list();
    expect(orders).toContainEqual(standing);
    expect(others).toEqual([]);
  });
});

/** What happens to whoever's transaction gets no answer. The transaction itself arrives when its time has come. */
async function hanging(act: (slow: DynamoFreezes) => Promise<unknown>): Promise<() => Promise<unknown>> {
  const { client, tables } = here.store;
  let arrive: (() => Promise<unknown>) | null = null;
  const send = (command: GetItemCommand | TransactWriteItemsCommand): Promise<unknown> => {
    if (command instanceof GetItemCommand) return client.send(command);
    arrive = () => client.send(command);
    return Promise.reject(new Error('no answer'));
  };
  const slowClient = { send } as unknown as DynamoDBClient;
  const slow = new DynamoFreezes({ client: slowClient, table: tables.pipeline, timer: systemTimer });
  await expect(act(slow)).rejects.toThrow('no answer');
  return arrive!;
}

async function log(): Promise<Record<string, unknown>[]> {
  const { Items = [] } = await here.store.client.send(
    new QueryCommand({
      TableName: here.store.tables.pipeline,
      KeyConditionExpression: 'pk = :log',
      ExpressionAttributeValues: { ':log': { S: 'FREEZE_LOG' } },
    }),
  );
  return Items.map((item) => unmarshall(item));
}
