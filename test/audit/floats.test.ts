import { randomUUID } from 'node:crypto';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeFloat, writeLogEntry } from '../../src/adapters/dynamodb/float-items.ts';
import { items } from '../../src/adapters/dynamodb/pipeline-items.ts';
import { queryToTheEnd } from '../../src/adapters/dynamodb/query.ts';
import { settleAttempt } from '../../src/app/settle-attempt.ts';
import type { AuditTotals, Violation } from '../../src/audit/violation.ts';
import type { AttemptId } from '../../src/domain/attempt.ts';
import type {
  Float,
  FloatId,
  FloatStatus,
  LogEntry,
  LogOutcome,
  Stage,
} from '../../src/domain/floats/float.ts';
import { isOpenFloat } from '../../src/domain/floats/float.ts';
import type { FloatChange } from '../../src/domain/floats/outcomes.ts';
import { floatCreditReturned } from '../../src/domain/floats/outcomes.ts';
import { DEFAULT_FLOAT_POLICY } from '../../src/domain/floats/policy.ts';
import { recordIdOf } from '../../src/domain/floats/record-id.ts';
import { planFloatSupport } from '../../src/domain/floats/support.ts';
import { plusDays } from '../../src/domain/instant.ts';
import type { Rail } from '../../src/domain/subscription.ts';
import type { CollectionStep, OnStep } from '../../src/ports/steps.ts';
import type { Item } from '../support/billing-store.ts';
import { bankSays, changeFloat } from '../support/float-changes.ts';
import type { FloatDesk } from '../support/float-desk.ts';
import { floatDesk } from '../support/float-desk.ts';
import { day, logEntry } from '../support/floats.ts';
import { at } from '../support/records.ts';
import type { World } from '../support/world.ts';
import type { Bench } from './bench.ts';
import { auditOf, bench, changed, violation } from './bench.ts';

/*
 * As with billing records (`violations.test.ts`): each case plants one thing, and one audit must find each among the
 * others and nothing else. What is planted as honest is made by the production code.
 */

let on: Bench;
let here: World;
let desk: FloatDesk;

/** A Monday. */
const START = at('2026-11-16T09:30:00Z');
const LIMITS = { failedAch: 3, webhooksPerDay: 2, daysPastDue: 90, twoFailures: false };

const noCard = { has_debit_card: false };
const lostCard = { pinless: { mode: 'decline', code: '14' } };

type Expected = [rule: number, detail: RegExp][];
type Plant = () => Promise<{ owner: Float; expected: Expected }>;

const finds = (owner: Float, ...expected: Expected) => ({ owner, expected });

const rowOf = async ({ floatId }: Float): Promise<Item> => {
  const float = await on.source.tables.floatOf(floatId);
  return marshall(
    { ...float, last_run_time: BigInt(float!['last_run_time'] as string) },
    { removeUndefinedValues: true },
  );
};
const logOf = ({ floatId }: Float): Promise<Item[]> =>
  queryToTheEnd(here.store.client, {
    TableName: here.store.tables.collectionHistory,
    KeyConditionExpression: 'loan_id = :id',
    ExpressionAttributeValues: { ':id': { S: floatId } },
  });
const attemptsOf = ({ floatId }: Float): Promise<Item[]> =>
  on.attempts({ subscriptionId: recordIdOf(floatId) } as Parameters<Bench['attempts']>[0]);

async function collected(settings: object = {}, fields: Partial<Float> = {}): Promise<Float> {
  const float = await desk.float(settings, fields);
  await desk.collect('TODAY6AM', float);
  return desk.row(float);
}

/** At which step a member's worker dies: the first, or the second where the account follows the card. */
const deaths = new Map<string, { readonly step: CollectionStep; times: number }>();

const dies: OnStep = (step, { userId }) => {
  const death = deaths.get(userId);
  if (death?.step === step && (death.times -= 1) === 0) throw new Error('died');
};

async function killed(float: Float, step: CollectionStep, times = 1): Promise<void> {
  deaths.set(float.userId, { step, times });
  await expect(desk.collect('TODAY6AM', float, 'run-1')).rejects.toThrow('died');
}

const change = (float: Float, made: (now: Float) => FloatChange) => changeFloat(here, desk, float, made);
const settled = (float: Float, how: 'COMPLETED' | 'R01') => bankSays(here, desk, float, how);

interface Tried {
  readonly stage: Stage;
  readonly rail: Rail;
  readonly at: string;
  readonly outcomes: readonly LogOutcome[];
  readonly answeredAt?: string;
  /** The processor did not know of it then; `outcomes` are what was heard later. */
  readonly givenUpAt?: string;
  /** That it changed nothing, since another payment was made. */
  readonly remark?: LogEntry['remark'];
}

/** A float with a past that no application would leave: attempts, their rows, and a status. */
async function lived(status: FloatStatus, past: readonly Tried[], fields: Partial<Float> = {}) {
  const float = await desk.float({}, fields);
  const { floatId, userId, dueDate } = float;
  let { lastRunTime } = float;
  for (const { stage, rail, at: opened, outcomes, answeredAt = opened, givenUpAt, remark } of past) {
    const attemptId = randomUUID() as AttemptId;
    const told = { floatId, userId, dueDate, process: stage, method: rail, attemptId };
    if (givenUpAt !== undefined) {
      lastRunTime = at(givenUpAt);
      const row = { ...told, runTime: lastRunTime, outcome: 'RETURNED', remark: 'not-presented' } as const;
      await on.put('collectionHistory', writeLogEntry(logEntry(row)));
    }
    for (const [n, outcome] of outcomes.entries()) {
      const runTime = (plusDays(at(answeredAt), 2 * n) + 1n) as Float['lastRunTime'];
      if (runTime > lastRunTime) lastRunTime = runTime;
      await on.put('collectionHistory', writeLogEntry(logEntry({ ...told, runTime, outcome, remark })));
    }
    const [first] = outcomes;
    await on.put(
      'pipeline',
      items.attempt.write({
        attemptId,
        subscriptionId: recordIdOf(floatId),
        userId,
        triggerId: 'by the test',
        process: stage,
        rail,
        amount: float.amount,
        accountId: null,
        description: null,
        insteadOf: null,
        refundOf: null,
        upgrades: null,
        openedAt: at(opened),
        resolution: {
          status: first === 'ACHSENT' || first === 'COMPLETED' ? first : 'FAILED',
          at: at(answeredAt),
          confirmationId: 'c',
          errorCode: null,
          errorMessage: null,
        },
      }),
    );
  }
  await on.put('floats', writeFloat({ ...float, status, lastRunTime }, 'by the test'));
  if (!isOpenFloat(status)) await on.remove('floats', marshall({ PK: `USER#${userId}` }));
  return float;
}

const failed = (stage: Stage, rail: Rail, time: string): Tried => ({
  stage,
  rail,
  at: time,
  outcomes: ['RETURNED'],
});
const givenUp = (stage: Stage, date: string, heard: Partial<Tried> = {}): Tried => ({
  stage,
  rail: 'ACH',
  at: `${date}T08:30:00Z`,
  givenUpAt: `${date}T20:30:00Z`,
  outcomes: [],
  ...heard,
});
const returned = (stage: Stage, time: string): Tried => ({
  stage,
  rail: 'ACH',
  at: time,
  outcomes: ['ACHSENT', 'RETURNED'],
});

/** Support's word: a row without method and attempt. */
async function word({ floatId, userId, dueDate }: Float, fields: Partial<LogEntry>): Promise<void> {
  const told = { process: 'SUPPORT', outcome: 'RETURNED', method: null, attemptId: null } as const;
  const entry = logEntry({ floatId, userId, dueDate, ...told, ...fields });
  await on.put('collectionHistory', writeLogEntry(entry));
}

async function openAttemptOf({ userId, floatId }: Float) {
  const query = { userId, subscriptionId: recordIdOf(floatId), triggerId: '', accountId: null };
  const { state } = await here.dependencies.pipeline.readBackground(query);
  return state.open!;
}

const changeAttempt = async (float: Float, attributes: (attempt: Record<string, unknown>) => object) => {
  const [item] = await attemptsOf(float);
  const attempt = unmarshall(item!);
  await on.put('pipeline', marshall({ ...attempt, ...attributes(attempt) }));
};

const honest: Record<string, Plant> = {
  'one that is not due, one that was paid, one that was declined': async () => {
    await desk.float({}, { dueDate: day('2026-12-24') });
    await collected(lostCard);
    return finds(await collected());
  },
  'a card without money and the account after it': async () =>
    finds(await collected({ pinless: { mode: 'decline', code: '62' } })),
  'nothing to charge on the day, and nothing later': async () => {
    const owner = await collected({ account: null, has_debit_card: false });
    expect(await desk.collect('RETRY', owner)).toMatchObject({ verdict: 'uncollectable' });
    return finds(owner);
  },
  'a payback that was declined, and one that was paid': async () => {
    const owner = await desk.float(lostCard, { dueDate: day('2026-12-24') });
    expect(await desk.collect('SUPPORT', owner)).toMatchObject({ verdict: 'declined' });
    await here.bank('PUT', `/sandbox/users/${owner.userId}`, {});
    expect(await desk.collect('SUPPORT', owner)).toMatchObject({ verdict: 'collected' });
    return finds(owner);
  },
  'an entry that was returned and sent again, and one that came back after it was paid': async () => {
    const owner = await collected(noCard);
    await settled(owner, 'R01');
    expect(await desk.row(owner)).toMatchObject({ status: 'RETRY' });
    const late = await collected(noCard);
    await settled(late, 'COMPLETED');
    await settled(late, 'R01');
    return finds(owner);
  },
  'an advance that came back, before and after it was paid': async () => {
    const [early, owner] = [await desk.float(), await collected()];
    for (const float of [early, owner])
      await change(float, (now) => floatCreditReturned(now, { returnCode: 'R03', message: null }, here.now));
    return finds(owner);
  },
  'an advance that came back before the answer to a charge, over either rail': async () => {
    const owners = [await desk.float(noCard), await desk.float()] as const;
    for (const owner of owners) {
      await killed(owner, 'charged');
      await change(owner, (now) => floatCreditReturned(now, { returnCode: 'R03', message: null }, here.now));
      await settleAttempt(here.dependencies, { abandonAfterMs: 1e9 }, await openAttemptOf(owner));
      expect(await desk.row(owner)).toMatchObject({ status: 'DEFAULTED' });
    }
    return finds(owners[0]);
  },
  'support’s word, to give it up and to try again': async () => {
    const owner = await collected(lostCard);
    for (const wish of ['DEFAULTED', 'RETRY', 'COMPLETED'] as const)
      await change(owner, (now) => {
        const plan = planFloatSupport(now, wish, null, here.now);
        if (plan.plan === 'refused') throw new Error(plan.detail);
        return plan.change;
      });
    return finds(owner);
  },
  'a worker that died over the account, and another that went on': async () => {
    const owner = await desk.float({ pinless: { mode: 'decline', code: '62' } });
    await killed(owner, 'charged', 2);
    expect(await desk.collect('TODAY6AM', owner, 'run-1')).toMatchObject({ verdict: 'sent' });
    return finds(owner);
  },
  'an answer that is still awaited': async () => {
    const owner = await desk.float();
    await killed(owner, 'charged');
    return finds(owner);
  },
  'two signals a day, and two the day after': async () => {
    const owner = await collected(lostCard);
    for (const verdict of ['declined', 'declined', 'skipped'])
      expect(await desk.collect('WEBHOOK', owner)).toMatchObject({ verdict });
    return finds(owner);
  },
  'everything up to its limit': async () => {
    const fields = { dueDate: day('2026-08-18') };
    const times = ['2026-08-18', '2026-09-01', '2026-11-16'] as const;
    const past = times.map((date, n) => returned(n === 0 ? 'TODAY6AM' : 'RETRY', `${date}T08:30:00Z`));
    return finds(await lived('RETRY', past, fields));
  },
  'a fourth ACH debit after three that never reached the processor': async () => {
    const days = ['2026-11-10', '2026-11-11', '2026-11-12'];
    const past = days.map((date, n) => givenUp(n === 0 ? 'TODAY6AM' : 'RETRY', date));
    const more = returned('RETRY', '2026-11-13T08:30:00Z');
    return finds(await lived('RETRY', [...past, more], { dueDate: day('2026-11-10') }));
  },
  'an attempt that was given up, another one, and the answer to the first': async () => {
    const heard = { outcomes: ['ACHSENT'], answeredAt: '2026-11-14T09:00:00Z' } as const;
    const past = [
      givenUp('TODAY6AM', '2026-11-10', heard),
      failed('RETRY', 'PINLESS', '2026-11-13T08:30:00Z'),
    ];
    const owner = await lived('ACHSENT', past, { dueDate: day('2026-11-10') });
    return finds(owner);
  },
  'an attempt after one that was paid, as support wishes': async () => {
    const paid: Tried = {
      stage: 'TODAY6AM',
      rail: 'PINLESS',
      at: '2026-11-11T08:30:00Z',
      outcomes: ['COMPLETED'],
    };
    const again = failed('RETRY', 'PINLESS', '2026-11-16T08:30:00Z');
    const owner = await lived('RETRY', [paid, again], { dueDate: day('2026-11-10') });
    await word(owner, { runTime: at('2026-11-12T08:30:00Z') });
    return finds(owner);
  },
  'an attempt that was decided before midnight of the last day and began after it': async () => {
    const past = [failed('RETRY', 'PINLESS', '2026-11-17T00:00:20Z')];
    const owner = await lived('RETRY', past, { dueDate: day('2026-08-18') });
    await word(owner, { runTime: at('2026-11-14T08:30:00Z') });
    return finds(owner);
  },
  'rows of the service before us, which name no attempt': async () => {
    const owner = await desk.float();
    const { floatId, userId } = owner;
    const old = { floatId, userId, method: null, attemptId: null, runTime: at('2026-11-10T08:30:00Z') };
    const Item = writeLogEntry(logEntry({ ...old, process: 'TODAY6AM', outcome: 'RETURNED' }));
    await on.put('collectionHistory', Item);
    const row = { ...owner, status: 'RETRY', lastRunTime: old.runTime } as const;
    await on.put('floats', writeFloat(row, 'by the test'));
    return finds(owner);
  },
};

const planted: Record<string, Plant> = {
  'rule 1: a second debit under another key': async () => {
    const owner = await collected();
    const key = randomUUID();
    await chargeAtBank(owner, key);
    return finds(
      owner,
      [1, new RegExp(`^2 debits stand.*${key}`)],
      [2, /has no attempt/],
      [5, /12000 cents were kept, 6000 were due/],
    );
  },
  'rule 2: a debit for a float that nobody has': async () => {
    const owner = { ...(await desk.float()), floatId: randomUUID() as FloatId };
    await chargeAtBank(owner, randomUUID());
    return finds(owner, [2, /a float that this user does not have/]);
  },
  'rule 2: an attempt that is gone': async () => {
    const owner = await collected();
    const [attempt] = await attemptsOf(owner);
    await on.remove('pipeline', attempt!);
    return finds(owner, [2, /the debit under .* has no attempt/], [2, /the log names attempt .* not there/]);
  },
  'rule 2: a debit whose attempt is said to have failed': async () => {
    const owner = await collected();
    const [row] = await logOf(owner);
    await on.put('collectionHistory', changed(row!, { run_time: runTimeOf(row!), outcome: 'RETURNED' }));
    await on.put('floats', changed(await rowOf(owner), { last_run_time: runTimeOf(row!), status: 'RETRY' }));
    await on.put('floats', marshall({ PK: `USER#${owner.userId}`, open_floats: new Set([owner.floatId]) }));
    await changeAttempt(owner, ({ resolution }) => ({
      resolution: { ...(resolution as object), status: 'FAILED' },
    }));
    return finds(owner, [2, /stands, but its attempt was resolved as FAILED/]);
  },
  'rule 2: an attempt that is open for more than a day': async () => {
    const owner = await desk.float();
    await killed(owner, 'intent-written');
    await changeAttempt(owner, () => ({ openedAt: '2026-11-14T09:30:00Z' }));
    return finds(owner, [2, /is open since 2026-11-14/]);
  },
  'rule 3: an attempt of which the log is silent': async () => {
    const owner = await collected(lostCard);
    const [row] = await logOf(owner);
    await on.remove('collectionHistory', row!);
    return finds(owner, [3, /no log row tells that attempt .* ended as FAILED/]);
  },
  'rule 3: a row that tells another story than its attempt': async () => {
    const owner = await collected();
    await changeAttempt(owner, () => ({ rail: 'ACH', process: 'TOMORROW' }));
    return finds(owner, [3, /tells of PINLESS, .* by ACH/], [3, /is of TODAY6AM, .* begun by TOMORROW/]);
  },
  'rule 3: an attempt that is open although the log knows its end': async () => {
    const owner = await collected();
    await changeAttempt(owner, () => ({ resolution: null }));
    return finds(owner, [3, /is open, but the log tells of its outcome/]);
  },
  'rule 3: a row that is counted for another day, and is another user’s': async () => {
    const owner = await collected();
    const [row] = await logOf(owner);
    const other = { run_time: runTimeOf(row!), run_date: '2026-11-15', user_id: 'somebody' };
    await on.put('collectionHistory', changed(row!, other));
    return finds(owner, [3, /is of another user/], [3, /is counted for 2026-11-15/]);
  },
  'rule 3: a float older than its log': async () => {
    const owner = await collected();
    await on.put('floats', changed(await rowOf(owner), { last_run_time: BigInt(START) - 1_000n }));
    return finds(owner, [3, /the float is of .*, its newest log row of/], [4, /is COMPLETED, which/]);
  },
  'rule 3: an amount that is none, and a row without an outcome': async () => {
    const owner = await collected();
    await on.put('floats', changed(await rowOf(owner), { last_run_time: BigInt(START), amount: 'lots' }));
    const [row] = await logOf(owner);
    await on.put('collectionHistory', changed(row!, { run_time: runTimeOf(row!) + 1n, outcome: undefined }));
    return finds(
      owner,
      [3, /cannot be read: amount is no amount/],
      [3, /cannot be read: outcome is missing/],
    );
  },
  'rule 4: a float that was paid by a hand in the table': async () => {
    const owner = await desk.float();
    await on.put('floats', writeFloat({ ...owner, status: 'COMPLETED' }, 'by hand'));
    await on.remove('floats', marshall({ PK: `USER#${owner.userId}` }));
    return finds(owner, [4, /is COMPLETED, which by its log it cannot be/]);
  },
  'rule 4: one that was paid, and is owed again without a word': async () => {
    const owner = await collected();
    await on.put('floats', writeFloat({ ...owner, status: 'RETRY' }, 'by hand'));
    await on.put('floats', marshall({ PK: `USER#${owner.userId}`, open_floats: new Set([owner.floatId]) }));
    return finds(owner, [4, /is RETRY, which by its log it cannot be/]);
  },
  'rule 4: one that was paid, and that support then calls paid': async () => {
    const owner = await collected();
    const { runTime } = (await desk.log(owner))[0]!;
    const again = { outcome: 'COMPLETED', runTime: (runTime + 1n) as typeof runTime } as const;
    await word(owner, again);
    await on.put('floats', writeFloat({ ...owner, lastRunTime: again.runTime }, 'by hand'));
    return finds(owner, [4, /tells of COMPLETED at .*, when the float was COMPLETED or DEFAULTED/]);
  },
  'rule 6: an attempt on what was paid': async () => {
    const paid = { stage: 'TODAY6AM', rail: 'PINLESS', outcomes: ['COMPLETED'] } as const;
    const past = ['09:00', '09:10'].map((time) => ({ ...paid, at: `2026-11-16T${time}:00Z` }));
    const owner = await lived('COMPLETED', past);
    return finds(owner, [6, /of TODAY6AM was opened on a float that was COMPLETED or DEFAULTED/]);
  },
  'rule 6: an attempt beside one that was paid, although the float is owed': async () => {
    const answeredAt = '2026-11-11T09:00:00Z';
    const paid = { outcomes: ['ACHSENT', 'COMPLETED'], answeredAt, remark: 'aside' } as const;
    const first = givenUp('TODAY6AM', '2026-11-10', paid);
    const second = returned('RETRY', '2026-11-11T08:30:00Z');
    const third = failed('RETRY', 'PINLESS', '2026-11-16T08:30:00Z');
    const owner = await lived('RETRY', [first, second, third], { dueDate: day('2026-11-10') });
    return finds(owner, [6, /of RETRY was opened although attempt .* was COMPLETED/]);
  },
  'rule 5: more than the advance': async () => {
    const owner = await collected();
    await on.put(
      'floats',
      changed(await rowOf(owner), { last_run_time: await stampOf(owner), amount: '59.99' }),
    );
    return finds(owner, [5, /6000 cents were kept, 5999 were due/]);
  },
  'rule 6: an attempt while money was under way': async () => {
    const sent: Tried = { stage: 'TODAY6AM', rail: 'ACH', at: '2026-11-16T09:00:00Z', outcomes: ['ACHSENT'] };
    const owner = await lived('RETRY', [sent, failed('RETRY', 'PINLESS', '2026-11-16T09:10:00Z')]);
    return finds(owner, [6, /of RETRY was opened on a float that was ACHSENT or DEFAULTED/]);
  },
  'rule 6: two attempts open at once': async () => {
    const first = failed('TODAY6AM', 'PINLESS', '2026-11-16T09:00:00Z');
    const slow = { ...first, answeredAt: '2026-11-16T09:05:00Z' };
    const owner = await lived('RETRY', [slow, failed('RETRY', 'PINLESS', '2026-11-16T09:04:00Z')]);
    return finds(owner, [6, /was opened at 2026-11-16T09:04:00.000Z while attempt .* was open/]);
  },
  'rule 6: an attempt during a freeze': async () => {
    const owner = await lived('RETRY', [failed('TODAY6AM', 'PINLESS', '2026-11-13T09:30:00Z')]);
    const scope = { scope: 'user', userId: owner.userId, action: 'frozen', until: null };
    const entry = {
      pk: 'FREEZE_LOG',
      sk: `2026-11-13#${owner.userId}`,
      at: '2026-11-13T09:00:00Z',
      acknowledgedAt: '2026-11-13T09:00:00Z',
      ...scope,
    };
    await on.put('pipeline', marshall(entry));
    return finds(owner, [6, /was opened at 2026-11-13T09:30:00.000Z during a freeze \(user\)/]);
  },
  'rule 8: a fourth ACH debit after three that failed': async () => {
    const dates = ['2026-10-01', '2026-10-08', '2026-10-15', '2026-10-22'];
    const past = dates.map((date, n) => returned(n === 0 ? 'TODAY6AM' : 'RETRY', `${date}T08:30:00Z`));
    const owner = await lived('RETRY', past, { dueDate: day('2026-10-01') });
    return finds(owner, [8, /of RETRY was opened after 3 failed ACH debits, 3 are allowed/]);
  },
  'rule 8: a card that is retried after three failed ACH debits': async () => {
    const dates = ['2026-10-01', '2026-10-08', '2026-10-15'];
    const past = dates.map((date, n) => returned(n === 0 ? 'TODAY6AM' : 'RETRY', `${date}T08:30:00Z`));
    const more = failed('WEBHOOK', 'PINLESS', '2026-10-22T08:30:00Z');
    const owner = await lived('RETRY', [...past, more], { dueDate: day('2026-10-01') });
    return finds(owner, [8, /of WEBHOOK was opened after 3 failed ACH debits/]);
  },
  'rule 8: a third signal of one day': async () => {
    const owner = await collected(lostCard);
    const other = { floatPolicy: { ...DEFAULT_FLOAT_POLICY, webhookPerDay: 3 } };
    for (let n = 0; n < 3; n += 1) await desk.collect('WEBHOOK', owner, undefined, other);
    return finds(owner, [8, /of WEBHOOK was opened after 2 attempts of signals that day, 2 are allowed/]);
  },
  'rule 8: a retry on day 91': async () => {
    const owner = await desk.float(lostCard, { dueDate: day('2026-08-17') });
    const other = { floatPolicy: { ...DEFAULT_FLOAT_POLICY, maxDaysPastDue: 91 } };
    for (const stage of ['TODAY6AM', 'RETRY'] as const) await desk.collect(stage, owner, undefined, other);
    return finds(owner, [8, /of RETRY was opened 91 days past due, 90 are allowed/]);
  },
  'rule 9: an open float that its user’s set does not know': async () => {
    const owner = await desk.float();
    await on.remove('floats', marshall({ PK: `USER#${owner.userId}` }));
    return finds(owner, [9, /is SCHEDULING, but not among the user's open floats/]);
  },
  'rule 9: a paid float that its user’s set still has': async () => {
    const owner = await collected();
    await on.put('floats', marshall({ PK: `USER#${owner.userId}`, open_floats: new Set([owner.floatId]) }));
    return finds(owner, [9, /is COMPLETED, but still among the user's open floats/]);
  },
  'rule 9: a set with somebody else’s float': async () => {
    const [owner, other] = [await collected(), await desk.float()];
    await on.put('floats', marshall({ PK: `USER#${owner.userId}`, open_floats: new Set([other.floatId]) }));
    const seen = { ...other, userId: owner.userId };
    return finds(seen, [9, /is among the open floats of a user who does not have it/]);
  },
};

/** Found only where the rule that stops after two failures is switched on. */
const gated: Record<string, Plant> = {
  'a third attempt after two failures in a row': async () => {
    const past = ['2026-11-09', '2026-11-10', '2026-11-11'].map((date, n) =>
      failed(n === 0 ? 'TODAY6AM' : 'RETRY', 'PINLESS', `${date}T08:30:00Z`),
    );
    const owner = await lived('RETRY', past, { dueDate: day('2026-11-09') });
    return finds(owner, [8, /of RETRY was opened after 2 failures in a row without the member's new word/]);
  },
  'not one by hand': async () => {
    const past = (['TODAY6AM', 'RETRY', 'SUPPORT'] as const).map((stage, n) =>
      failed(stage, 'PINLESS', `2026-11-1${n}T08:30:00Z`),
    );
    return finds(await lived('RETRY', past, { dueDate: day('2026-11-10') }));
  },
  'not one after support’s word': async () => {
    const past = (['TODAY6AM', 'RETRY', 'RETRY'] as const).map((stage, n) =>
      failed(stage, 'PINLESS', `2026-11-1${n}T08:30:00Z`),
    );
    const owner = await lived('RETRY', past, { dueDate: day('2026-11-10') });
    await word(owner, { runTime: at('2026-11-11T18:00:00Z') });
    return finds(owner);
  },
  'not one after an entry that is still on its way': async () => {
    const past: Tried[] = [
      failed('TODAY6AM', 'PINLESS', '2026-11-10T08:30:00Z'),
      { stage: 'RETRY', rail: 'ACH', at: '2026-11-11T08:30:00Z', outcomes: ['ACHSENT'] },
    ];
    return finds(await lived('ACHSENT', past, { dueDate: day('2026-11-10') }));
  },
};

const runTimeOf = (row: Item): bigint => BigInt(row['run_time']!.N!);
const stampOf = async (float: Float): Promise<bigint> => (await desk.row(float)).lastRunTime;

async function chargeAtBank({ userId, floatId, amount }: Float, key: string): Promise<void> {
  const request = { userId, kind: 'FLOAT', referenceId: floatId, rail: 'PINLESS', amount } as const;
  const answer = await here.dependencies.processor.charge(key, { ...request, description: null });
  if (answer.kind !== 'answered' || answer.payment.status !== 'COMPLETED') throw new Error('not charged');
}

const cases = new Map<string, { owner: Float; expected: Expected }>();
let violations: Violation[];
let totals: AuditTotals;

beforeAll(async () => {
  on = await bench();
  here = on.here;
  desk = floatDesk(here);
  await on.at(START);
  here.onStep = dies;
  await Promise.all(
    Object.entries({ ...honest, ...planted, ...gated }).map(async ([name, plant]) => {
      cases.set(name, await plant());
    }),
  );
  // A member with a billing record as well, whose debits must not be mixed up.
  await here.collect('INITIAL', await here.member());
  ({ violations, totals } = await on.audit({ floatLimits: LIMITS }));
});
afterAll(() => on.close());

const of = (owner: Float, found: readonly Violation[] = violations): Violation[] =>
  found.filter(({ user_id }) => user_id === owner.userId);
const expectedOf = ({ owner, expected }: { owner: Float; expected: Expected }) =>
  expected.map(([rule, detail]) =>
    violation(rule, { userId: owner.userId, subscriptionId: recordIdOf(owner.floatId) }, detail),
  );

describe('the audit finds nothing wrong with', () => {
  it.each(Object.keys(honest))('%s', (name) => {
    expect(of(cases.get(name)!.owner)).toEqual([]);
  });
});

describe('the audit finds', () => {
  it.each(Object.keys(planted))('%s', (name) => {
    const found = cases.get(name)!;
    expect(of(found.owner)).toEqual(expectedOf(found));
  });
});

it('and it finds nothing else', () => {
  const owners = new Set(Object.keys(planted).map((name) => cases.get(name)!.owner.userId as string));
  expect(violations.filter(({ user_id }) => !owners.has(user_id))).toEqual([]);
  expect(totals.floats).toBeGreaterThan(cases.size);
});

describe('where two failures in a row stop everything, it finds', () => {
  let again: Violation[];
  beforeAll(async () => {
    ({ violations: again } = await on.audit({ floatLimits: { ...LIMITS, twoFailures: true } }));
  });

  it.each(Object.keys(gated))('%s', (name) => {
    const found = cases.get(name)!;
    expect(of(found.owner, again)).toEqual(expectedOf(found));
  });
});

it('finds the same when memory holds a few references only', async () => {
  const again = await on.audit({ floatLimits: LIMITS, mostReferences: 3 });
  expect(byText(again.violations)).toEqual(byText(violations));
  expect(again.totals).toEqual(totals);
});

it('without a ledger finds what the tables alone tell', async () => {
  const alone = await auditOf(
    { tables: on.source.tables, ledger: null },
    { now: here.now, floatLimits: LIMITS },
  );
  const fromTables = violations.filter(
    ({ rule, detail }) => ![1, 5].includes(rule) && !/debit under|money moved/.test(detail),
  );
  expect(byText(alone.violations)).toEqual(byText(fromTables));
});

const byText = (some: readonly Violation[]): string[] => some.map((one) => JSON.stringify(one)).sort();
