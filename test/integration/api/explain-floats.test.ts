import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ruleRouting } from '../../../src/adapters/ach-routing/rule-routing.ts';
import { writeFloat, writeLogEntry } from '../../../src/adapters/dynamodb/float-items.ts';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import type { Float, Stage } from '../../../src/domain/floats/float.ts';
import { floatCreditReturned } from '../../../src/domain/floats/outcomes.ts';
import { recordIdOf } from '../../../src/domain/floats/record-id.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import { floatLockKey } from '../../../src/ports/lock.ts';
import type { ApiClient } from '../../support/api.ts';
import { api } from '../../support/api.ts';
import { cli, figuresOf } from '../../support/cli.ts';
import { bankSays } from '../../support/float-changes.ts';
import type { FloatDesk } from '../../support/float-desk.ts';
import { floatDesk } from '../../support/float-desk.ts';
import { day, logEntry } from '../../support/floats.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';

let system: Pipeline;
let desk: FloatDesk;
let client: ApiClient;

beforeAll(async () => {
  system = await pipeline();
  desk = floatDesk(system.here);
  client = await api(system.environment);
});
afterAll(async () => {
  await client.close();
  await system.close();
});
afterEach(async () => {
  system.here.now = TICK;
  await system.here.faults([]);
});

interface Line {
  readonly kind: string;
  readonly text: string;
  readonly verdict: string | null;
  readonly ach_model: object | null;
}

interface Explained {
  readonly summary: string;
  readonly story: readonly Line[];
  readonly attempts: readonly object[];
  readonly now: { readonly notes: readonly string[] };
  readonly unreadable: readonly string[];
}

async function explained({ userId, floatId }: Float): Promise<Explained> {
  const path = `/v1/${userId}/floats/${floatId}/explain`;
  const { status, body } = await client.call('GET', path, { as: 'viewer' });
  expect(status).toBe(200);
  return body as Explained;
}

const texts = ({ story }: Explained): string[] => story.map(({ text }) => text);
const collect = (stage: Stage, float: Float, trigger = `${stage.toLowerCase()}-1`) =>
  desk.collect(stage, float, trigger);
const put = (table: 'floats' | 'collectionHistory', Item: ReturnType<typeof writeFloat>) =>
  system.here.store.client.send(new PutItemCommand({ TableName: system.here.store.tables[table], Item }));

const noCard = { has_debit_card: false };
const declines = { pinless: { mode: 'decline', code: '14' } };

describe('why a float was collected', () => {
  it('is told from the advance on: decision, attempt, answer', async () => {
    const float = await desk.float();
    await collect('TODAY6AM', float, 'run-1');
    const found = await explained(float);
    expect(found.summary).toBe('paid back on 2026-11-16T08:00:00Z');
    expect(texts(found)).toEqual([
      'an advance of $60.00 was paid out, due on 2026-11-16',
      'run-1 charged it: over the debit card',
      'a charge of $60.00 over the debit card was begun',
      'the charge of $60.00 over the debit card was taken',
    ]);
    expect(found.story.map(({ kind }) => kind)).toEqual(['change', 'decision', 'attempt', 'change']);
    expect(found.attempts).toMatchObject([
      { rail: 'PINLESS', amount: '60.00', trigger_id: 'run-1', process: 'TODAY6AM', ach_model: null },
    ]);
    expect(found.now).toMatchObject({ notes: [], open_attempt: null, lock: null, freezes: [] });
  });

  it('tells of the account after the card, and of what decided for it', async () => {
    const float = await desk.float({ pinless: { mode: 'decline', code: '62' } });
    await collect('TODAY6AM', float, 'run-1');
    await bankSays(system.here, desk, float, 'R01');
    const found = await explained(float);
    expect(texts(found).slice(2)).toEqual([
      'a charge of $60.00 over the debit card was begun',
      'the charge of $60.00 over the debit card was declined: 62: insufficient funds',
      expect.stringMatching(
        /^a charge of \$60.00 from the bank account was begun, because there was no money on the card; rule-1 gave it \d+ in 100 to be paid \(amount_cents 6000, balance_cents 100000, days_past_due 0, failed_ach 0\)$/,
      ),
      'the charge of $60.00 from the bank account was accepted and is on its way through the bank',
      'the charge of $60.00 from the bank account was returned by the bank',
    ]);
    expect(found.summary).toMatch(/^owed since 2026-11-16 \(R01\), and tried again/);
    const model = { version: 'rule-1', override: false, features: { failed_ach: 0, amount_cents: 6000 } };
    expect(found.attempts).toMatchObject([{ ach_model: null }, { ach_model: model }]);
    expect(found.story.at(-1)).toMatchObject({ outcome: 'RETURNED', ach_model: model });
  });

  it('says when an operator’s switch decided', async () => {
    const float = await desk.float(noCard);
    await desk.collect('TODAY6AM', float, 'run-1', { achRouting: ruleRouting('always') });
    const lines = texts(await explained(float));
    expect(lines.find((text) => text.includes('was begun'))).toMatch(
      /; an operator’s switch sent it whatever the rule says; rule-1 gave it \d+ in 100/,
    );
  });
});

describe('why a float was not collected', () => {
  it('is told day by day: skipped, put off, given up', async () => {
    const float = await desk.float({ account: null, has_debit_card: false });
    await collect('TODAY6AM', float);
    system.here.now = plusDays(TICK, 1);
    await collect('RETRY', float);
    const freezes = new DynamoFreezes({
      client: system.here.store.client,
      table: system.here.store.tables.pipeline,
      timer: systemTimer,
    });
    const target = { scope: 'user', userId: float.userId } as const;
    await freezes.freeze({ target, reason: 'a dispute', who: 'olga', at: TICK, until: null });
    system.here.now = plusDays(TICK, 2);
    await collect('WEBHOOK', float);
    const found = await explained(float);
    expect(texts(found).slice(1)).toEqual([
      'today6am-1 could not charge it on its day: the member has no primary account',
      'retry-1 found nothing that could be charged: the member has no primary account',
      'webhook-1 put it off: this member was frozen',
    ]);
    expect(found.summary).toMatch(/^owed since 2026-11-16, and there is nothing to charge/);
    expect(found.now.notes).toEqual(['this member is frozen by olga since 2026-11-16T08:00:00Z: a dispute']);
    await freezes.unfreeze(target, { who: 'olga', at: TICK });
  });

  it('was given up at a limit, and brought back by support', async () => {
    const float = await desk.float(declines, { dueDate: day('2026-08-17'), status: 'RETRY' });
    expect(await collect('RETRY', float)).toMatchObject({ verdict: 'defaulted' });
    expect((await explained(float)).summary).toBe('given up for good: it is too long past its due date');
    const body = { status: 'RETRY', reason: 'the member called' };
    const path = `/v1/${float.userId}/floats/${float.floatId}`;
    expect((await client.call('PATCH', path, { as: 'operator', body })).status).toBe(200);
    const lines = texts(await explained(float));
    expect(lines).toContain('retry-1 gave it up for good: it is too long past its due date');
    expect(lines.slice(-2)).toEqual([
      'it was given up for good',
      'support has the member’s word that it may be tried again (operator-name: the member called)',
    ]);
  });

  it('was for an advance that came back', async () => {
    const float = await desk.float();
    const change = floatCreditReturned(float, { returnCode: 'R03', message: null }, TICK);
    await system.here.dependencies.floats.save('unlocked', float, change);
    const at = '2026-11-16T08:00:00Z';
    expect((await explained(float)).summary).toBe(`given up for good: the advance itself came back on ${at}`);
    const path = `/v1/${float.userId}/floats/${float.floatId}`;
    expect(await client.call('GET', path, { as: 'viewer' })).toMatchObject({
      body: { status: 'DEFAULTED', credit_returned_at: at },
    });
  });

  it('has a limit of the day, which says when it is worth another look', async () => {
    const float = await desk.float(declines);
    await collect('TODAY6AM', float);
    for (const trigger of ['income.1', 'income.2', 'income.3']) await collect('WEBHOOK', float, trigger);
    expect(texts(await explained(float))).toContain(
      'an income signal (income.3) did not charge it: signals had it tried often enough that day; worth another look from 2026-11-17T00:00:00Z',
    );
  });

  it('has an attempt without an answer, and somebody at work on it', async () => {
    const float = await desk.float();
    const match = { user_id: float.userId };
    await system.here.faults([{ id: 'lost', service: 'payments', fault: 'error-before', times: 3, match }]);
    expect(await collect('TODAY6AM', float)).toMatchObject({ verdict: 'unknown' });
    await system.here.dependencies.locks.acquire(floatLockKey(float.userId));
    const found = await explained(float);
    expect(found.summary).toMatch(/^a charge of \$60.00 over the debit card was begun .* nobody knows/);
    expect(found.now.notes).toEqual([
      expect.stringContaining('the janitor asks the processor at'),
      expect.stringContaining('somebody works on this member'),
    ]);
  });

  it('has a row of its log that cannot be read, which is said, with all the rest', async () => {
    const float = await desk.float();
    await put('collectionHistory', {
      ...writeLogEntry(logEntry({ floatId: float.floatId })),
      outcome: { S: 'ODD' },
    });
    expect(await collect('TODAY6AM', float)).toMatchObject({ verdict: 'malformed' });
    const found = await explained(float);
    expect(texts(found).at(-1)).toContain('could not read it');
    expect(found.now.notes).toEqual([expect.stringContaining('no limit is known')]);
    expect(found.unreadable).toEqual([expect.stringContaining('outcome')]);
    await put('floats', { ...writeFloat(float, 'by the test'), amount: { S: 'much' } });
    expect(await explained(float)).toMatchObject({
      float: null,
      summary: 'its row cannot be read, so nobody touches it',
    });
  });

  it('is somebody else’s, of which nothing is told', async () => {
    const [float, other] = [await desk.float(), await desk.float()];
    const path = `/v1/${other.userId}/floats/${float.floatId}/explain`;
    expect(await client.call('GET', path)).toMatchObject({ status: 404 });
  });
});

describe('explain on the command line', () => {
  const collections = (...args: string[]) => cli(['explain', ...args], system.environment);

  it('explains a float by either of its names, for people and for machines', async () => {
    const float = await desk.float(noCard);
    await collect('TODAY6AM', float);
    const plain = await collections(float.userId, float.floatId);
    expect(plain).toMatchObject({ code: 0, error: '' });
    expect(plain.out).toContain(
      `float ${float.floatId}, 60.00, due on 2026-11-16, ACHSENT\non its way through the bank`,
    );
    const json = await collections(float.userId, recordIdOf(float.floatId), '--json');
    expect(figuresOf(json)).toEqual(await explained(float));
  });

  it('lists the floats of a member who has no billing record, and explains the open one', async () => {
    const float = await desk.float();
    const { out } = await collections(float.userId);
    expect(out).toMatch(new RegExp(`│ float.${float.floatId} .*SCHEDULING`));
    expect(out).toContain('not charged yet: it is due on 2026-11-16');
  });
});
