import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { FreezeTarget } from '../../../src/ports/freezes.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

let here: World;
let freezes: DynamoFreezes;

beforeAll(async () => {
  here = await world();
  freezes = new DynamoFreezes({ client: here.store.client, table: here.store.tables.pipeline });
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
    const { Items = [] } = await here.store.client.send(
      new QueryCommand({
        TableName: here.store.tables.pipeline,
        KeyConditionExpression: 'pk = :log',
        ExpressionAttributeValues: { ':log': { S: 'FREEZE_LOG' } },
      }),
    );
    const ach = Items.filter((item) => item['scope']?.S === 'ACH').map((item) => [
      item['action']?.S,
      item['who']?.S,
    ]);
    expect(ach).toContainEqual(['frozen', 'olga']);
    expect(ach).toContainEqual(['lifted', 'ben']);
  });
});
