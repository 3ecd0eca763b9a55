import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { answerRequest } from '../../../src/app/answer-request.ts';
import { verdictOf } from '../../../src/app/verdict-of.ts';
import { formatInstant, plusDays } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { subscriptionLockKey } from '../../../src/ports/lock.ts';
import type { ApiClient } from '../../support/api.ts';
import { api } from '../../support/api.ts';
import { cli, figuresOf } from '../../support/cli.ts';
import { anEvent, inboxDesk } from '../../support/inbox-desk.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { requestDesk } from '../../support/request-desk.ts';

const TODAY = 'scheduled-20261116T080000Z';
const TOMORROW = 'retry-20261117T070000Z';

let system: Pipeline;
let client: ApiClient;

beforeAll(async () => {
  system = await pipeline();
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
  readonly at: string;
  readonly kind: string;
  readonly text: string;
  readonly verdict: string | null;
  readonly is_final: boolean | null;
}

interface Explained {
  readonly summary: string;
  readonly story: readonly Line[];
  readonly attempts: readonly object[];
  readonly now: { readonly notes: readonly string[]; readonly lock: object | null };
  readonly unreadable: readonly string[];
}

async function explained({ userId, subscriptionId }: StoredSubscription): Promise<Explained> {
  const path = `/v1/${userId}/subscriptions/${subscriptionId}/explain`;
  const { status, body } = await client.call('GET', path, { as: 'viewer' });
  expect(status).toBe(200);
  return body as Explained;
}

const texts = ({ story }: Explained): string[] => story.map(({ text }) => text);
const decline = { pinless: { mode: 'decline', code: '14' } };

describe('why a record was charged', () => {
  it('is told from its beginning: decision, charge, answer', async () => {
    const record = await system.here.member();
    await system.here.collect('INITIAL', record, TODAY);
    const found = await explained(record);
    expect(found.summary).toBe('paid on 2026-11-16T08:00:00Z by PINLESS');
    expect(texts(found)).toEqual([
      'the plan was made, the base tier at $4.99 a month, due on 2026-11-16T06:00:00Z, first as SCHEDULED',
      'the scheduled run of 2026-11-16T08:00:00Z charged it: over the debit card',
      'a charge of $4.99 over the debit card was begun',
      'the charge of $4.99 over the debit card was taken, SCHEDULED → COMPLETED',
    ]);
    expect(found.story.map(({ kind }) => kind)).toEqual(['change', 'decision', 'change', 'change']);
    expect(found.attempts).toMatchObject([
      { rail: 'PINLESS', amount: '4.99', trigger_id: TODAY, resolution: { status: 'COMPLETED' } },
    ]);
    expect(found.now).toMatchObject({ notes: [], open_attempt: null, lock: null, freezes: [] });
    expect(found.unreadable).toEqual([]);
  });

  it('names who asked for a payment by hand', async () => {
    const desk = requestDesk(system.here);
    const record = await system.here.member({}, { billingStatus: 'ERROR' });
    const request = await desk.accept(record, { by: 'support-olga' });
    await answerRequest(desk.dependencies, request.requestId);
    expect(texts(await explained(record))).toContain(
      'the payment by hand that support-olga asked for charged it: over the debit card',
    );
  });

  it('tells of the card without money and of the account after it', async () => {
    const record = await system.here.member({ pinless: { mode: 'decline', code: '62' } });
    await system.here.collect('INITIAL', record, TODAY);
    const lines = texts(await explained(record));
    expect(lines.slice(1, 3)).toEqual([
      'the scheduled run of 2026-11-16T08:00:00Z sent it to the bank: from the bank account',
      'a charge of $4.99 over the debit card was begun',
    ]);
    const declined = lines.findIndex((text) => /over the debit card was declined: 62/.test(text));
    const asked = lines.indexOf(
      'a charge of $4.99 from the bank account was begun, because there was no money on the card',
    );
    const accepted = lines.findIndex((text) => /accepted and is on its way.*SCHEDULED → ACHSENT/.test(text));
    expect([declined, asked, accepted].every((index) => index > 2)).toBe(true);
    expect(declined).toBeLessThan(asked);
    expect(asked).toBeLessThan(accepted);
  });
});

describe('why a record was not charged', () => {
  it('was declined twice', async () => {
    const record = await system.here.member(decline);
    await system.here.collect('INITIAL', record, TODAY);
    system.here.now = plusDays(TICK, 1);
    await system.here.collect('RETRY', record, TOMORROW);
    const found = await explained(record);
    expect(found.summary).toMatch(/^owed: the last try failed with “14/);
    expect(texts(found).filter((text) => text.includes('declined: the') || text.includes('code 14'))).toEqual(
      [
        'the scheduled run of 2026-11-16T08:00:00Z tried to charge it and was declined: over the debit card, code 14',
        'the retry run of 2026-11-17T07:00:00Z tried to charge it and was declined: over the debit card, code 14',
      ],
    );
    expect(texts(found).filter((text) => /the charge of \$4.99 .* was declined: 14/.test(text))).toHaveLength(
      2,
    );
  });

  it('was skipped, with the day from which it is worth another look', async () => {
    const record = await system.here.member(decline);
    await system.here.collect('INITIAL', record, TODAY);
    await system.here.collect('RETRY', record, 'retry-20261116T070000Z');
    await system.here.collect('RETRY', record, 'retry-20261116T080000Z');
    expect(texts(await explained(record))).toContain(
      'the retry run of 2026-11-16T08:00:00Z did not charge it: it was retried that day already; worth another look from 2026-11-17T00:00:00Z',
    );
  });

  it('had a balance too low, which was no charge', async () => {
    const record = await system.here.member({ balance: { amount: '3.00' } });
    await system.here.collect('INITIAL', record, TODAY);
    const found = await explained(record);
    expect(found.summary).toContain('balance too low by $1.99');
    expect(texts(found)).toContain('it was not charged for want of money, SCHEDULED → ERROR');
    expect(found.attempts).toEqual([]);
  });

  it('was frozen: who ordered it, when and why', async () => {
    const record = await system.here.member();
    const { client: dynamo, tables } = system.here.store;
    const freezes = new DynamoFreezes({ client: dynamo, table: tables.pipeline, timer: systemTimer });
    const target = { scope: 'user', userId: record.userId } as const;
    const order = { reason: 'a dispute', who: 'olga', at: TICK };
    await freezes.freeze({ ...order, target, until: plusDays(TICK, 2) });
    await freezes.freeze({ ...order, target: { scope: 'user', userId: 'other' as never }, until: null });
    await freezes.freeze({ ...order, target: { scope: 'ACH' }, until: TICK });
    await system.here.collect('INITIAL', record, TODAY);
    const found = await explained(record);
    expect(found.summary).toBe('not charged yet: it was due on 2026-11-16T06:00:00Z');
    expect(texts(found).at(-1)).toBe(
      'the scheduled run of 2026-11-16T08:00:00Z put it off: this member was frozen',
    );
    expect(found.now).toMatchObject({
      notes: [
        'this member is frozen by olga since 2026-11-16T08:00:00Z until 2026-11-18T08:00:00Z: a dispute',
      ],
      freezes: [{ scope: 'user', who: 'olga', reason: 'a dispute', until: '2026-11-18T08:00:00Z' }],
    });
  });

  it('was locked: the run did not get to it, and who holds it now', async () => {
    const record = await system.here.member();
    const { pipeline: store, locks } = system.here.dependencies;
    await store.saveVerdict(verdictOf({ ...record, triggerId: TODAY, at: TICK }, 'locked', 'user-busy'));
    const taken = await locks.acquire(subscriptionLockKey(record.userId));
    if (!('lock' in taken)) throw new Error('somebody else has it');
    const found = await explained(record);
    const owner = taken.lock.fence.ownerName;
    expect(found.story.at(-1)).toMatchObject({
      text: 'the scheduled run of 2026-11-16T08:00:00Z did not get to it: somebody else was working on this member; this was not the last word',
      verdict: 'locked',
      is_final: false,
    });
    expect(found.now.notes).toEqual([`somebody works on this member: ${owner}, since 2026-11-16T08:00:00Z`]);
    expect(found.now.lock).toEqual({ owner, since: '2026-11-16T08:00:00Z' });
    await taken.lock.release();
    expect((await explained(record)).now.lock).toBeNull();
  });

  it('waits for an event, then for somebody who looks after it', async () => {
    const record = await system.here.member();
    const { client: dynamo, tables } = system.here.store;
    const { inbox } = inboxDesk(dynamo, tables);
    const event = anEvent(record.userId, 1);
    await inbox.store([event]);
    expect((await explained(record)).now.notes).toEqual([
      'the event CANCEL of 2026-11-16T08:00:00Z is not applied yet',
    ]);
    await inbox.quarantine(event, 'the tier has no price', TICK);
    await system.here.collect('INITIAL', record, TODAY);
    const found = await explained(record);
    expect(texts(found).at(-1)).toContain('in quarantine and waits for somebody');
    expect(found.now).toMatchObject({
      notes: [expect.stringMatching(/CANCEL is in quarantine since .*the tier has no price.*users\./)],
      unapplied_events: [],
      quarantined_events: [
        { id: `users.${record.userId}.1`, type: 'CANCEL', reason: 'the tier has no price' },
      ],
    });
  });

  it('has a charge without an answer: since when, and when the janitor asks', async () => {
    const record = await system.here.member();
    await system.here.faults([
      { id: 'lost', service: 'payments', fault: 'error-before', match: { user_id: record.userId } },
    ]);
    const { attemptId } = await system.here.collect('INITIAL', record, TODAY);
    const found = await explained(record);
    expect(texts(found)).toContain(
      'the scheduled run of 2026-11-16T08:00:00Z sent a charge to which no answer came: the processor is asked again later',
    );
    expect(found.summary).toBe(
      'a charge of $4.99 over the debit card was begun on 2026-11-16T08:00:00Z and has no answer yet: nobody knows whether the money has moved',
    );
    expect(found.now).toMatchObject({
      notes: [expect.stringContaining('the janitor asks the processor at 2026-11-16T08:05:00Z')],
      open_attempt: { attempt_id: attemptId, asked_next_at: '2026-11-16T08:05:00Z' },
    });
  });

  it('has a row that cannot be read, which is said, with all the rest', async () => {
    const record = await system.here.member();
    const { store } = system.here;
    const row = (await store.billingRow(record.userId, formatInstant(record.billingDate)))!;
    await store.putBillingRow({ ...row, billing_amount: { S: 'much' } });
    await system.here.collect('INITIAL', record, TODAY);
    const broken = { pk: `SUB#${record.subscriptionId}`, sk: 'VERDICT#broken' };
    await store.client.send(new PutItemCommand({ TableName: store.tables.pipeline, Item: marshall(broken) }));
    const found = await explained(record);
    expect(found).toMatchObject({ record: null, summary: 'its row cannot be read, so nobody touches it' });
    expect(texts(found).at(-1)).toContain('could not read it');
    expect(found.now.notes).toEqual([expect.stringContaining('billing_amount')]);
    expect(found.unreadable).toEqual([
      expect.stringContaining('VERDICT#broken'),
      expect.stringContaining('billing_amount'),
    ]);
  });

  it('was written by the other service, which does not say why', async () => {
    const record = await system.here.member();
    const { store } = system.here;
    const [row] = await store.historyRows(record.userId);
    await store.client.send(
      new UpdateItemCommand({
        TableName: store.tables.history,
        Key: { user_id: row!['user_id']!, last_run_date: row!['last_run_date']! },
        UpdateExpression: 'REMOVE data_cause, data_change_id SET #process = :process',
        ExpressionAttributeNames: { '#process': 'process' },
        ExpressionAttributeValues: { ':process': { S: 'RETRY' } },
      }),
    );
    expect(texts(await explained(record))).toEqual(['the Go service wrote it (RETRY), first as SCHEDULED']);
  });
});

describe('explain on the command line', () => {
  const collections = (...args: string[]) => cli(['explain', ...args], system.environment);

  it('explains a record, for people and for machines', async () => {
    const record = await system.here.member(decline);
    await system.here.collect('INITIAL', record, TODAY);
    const plain = await collections(record.userId, record.subscriptionId);
    expect(plain).toMatchObject({ code: 0, error: '' });
    expect(plain.out).toContain(
      `record ${record.subscriptionId} of 11/2026, 4.99, ERROR\nowed: the last try`,
    );
    expect(plain.out).toMatch(/2026-11-16T08:00:00Z {12}the scheduled run of .* was declined/);
    expect(plain.out).toContain('nothing stands in its way now');
    const json = await collections(record.userId, record.subscriptionId, '--json');
    expect(figuresOf(json)).toEqual(await explained(record));
    expect(json.error).toContain('owed: the last try');
  });

  it('lists the records of a member and explains the one in force', async () => {
    const record = await system.here.member();
    await system.here.collect('INITIAL', record, TODAY);
    const { out } = await collections(record.userId);
    expect(out).toMatch(/│ 11\/2026 .*COMPLETED/);
    expect(out).toMatch(/│ 12\/2026 .*SCHEDULED/);
    expect(out).toContain(`record ${record.subscriptionId} of 11/2026`);
  });

  it('says what stands in its way', async () => {
    const record = await system.here.member();
    await system.here.store.takeLock(record.userId);
    expect((await collections(record.userId)).out).toContain('! somebody works on this member');
  });

  it('says when there is no such member or record', async () => {
    const record = await system.here.member();
    expect(await collections('nobody')).toMatchObject({
      code: 1,
      error: expect.stringContaining('there is no record of a member nobody') as string,
    });
    expect(await collections(record.userId, 'nothing')).toMatchObject({
      code: 1,
      error: expect.stringContaining(`member ${record.userId} has no record nothing`) as string,
    });
  });
});
