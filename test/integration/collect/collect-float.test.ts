import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ruleRouting } from '../../../src/adapters/ach-routing/rule-routing.ts';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { collectFloat } from '../../../src/app/floats/collect-float.ts';
import type { Float, LogEntry, Stage } from '../../../src/domain/floats/float.ts';
import { floatDeclined } from '../../../src/domain/floats/outcomes.ts';
import { DEFAULT_FLOAT_POLICY } from '../../../src/domain/floats/policy.ts';
import { recordIdOf } from '../../../src/domain/floats/record-id.ts';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import type { Verdict } from '../../../src/domain/verdict.ts';
import { floatLockKey } from '../../../src/ports/lock.ts';
import { writeLogEntry } from '../../../src/adapters/dynamodb/float-items.ts';
import type { FloatDesk } from '../../support/float-desk.ts';
import { floatDesk } from '../../support/float-desk.ts';
import { day, logEntry } from '../../support/floats.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

let here: World;
let desk: FloatDesk;

/** A Monday. */
const MORNING = at('2026-11-16T09:30:00Z');

beforeAll(async () => {
  here = await world({ withFloats: true });
  desk = floatDesk(here);
  await here.bank('PUT', '/clock', { now: '2026-11-16T09:30:00Z', frozen: true });
  here.now = MORNING;
});
afterAll(() => here.close());
afterEach(async () => {
  here.onStep = () => undefined;
  here.now = MORNING;
  await here.faults([]);
});

const noCard = { has_debit_card: false };
const nothing = { account: null, has_debit_card: false };
const broke = { pinless: { mode: 'decline', code: '62' } };
const lostCard = { pinless: { mode: 'decline', code: '14' } };

/** As a float stands after its due date. */
const standing: FloatDesk['standing'] = (...how) => desk.standing(...how);

async function logged(float: Float, ...entries: Partial<LogEntry>[]): Promise<void> {
  for (const [n, fields] of entries.entries()) {
    const runTime = at(`2026-11-1${n}T08:30:00.000000001Z`);
    const entry = logEntry({ floatId: float.floatId, userId: float.userId, runTime, ...fields });
    const Item = writeLogEntry(entry);
    const TableName = here.store.tables.collectionHistory;
    await here.store.client.send(new PutItemCommand({ TableName, Item }));
  }
}

const failedAch = (): Partial<LogEntry> => ({
  method: 'ACH',
  outcome: 'RETURNED',
  attemptId: `attempt-${randomUUID()}` as AttemptId,
});

const outcomes = async (float: Float) =>
  (await desk.log(float)).map(({ process, outcome, method }) => [process, outcome, method]);
const methodsAsked = async (float: Float) =>
  (await desk.ledger(float)).filter(({ type }) => type === 'payment.requested').map(({ method }) => method);

describe('the day before', () => {
  it('an advance without a card is sent by ACH, with what decided so in attempt and log', async () => {
    const float = await desk.float(noCard, { dueDate: day('2026-11-17') });
    const verdict = await desk.collect('TOMORROW', float);
    expect(verdict).toMatchObject({ verdict: 'sent', reason: 'ACH', amount: 6_000 });
    expect(verdict.subscriptionId).toBe(`float.${float.floatId}`);
    expect(await desk.row(float)).toMatchObject({ status: 'ACHSENT', completedAt: null });
    const [entry, ...more] = await desk.log(float);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      process: 'TOMORROW',
      outcome: 'ACHSENT',
      method: 'ACH',
      attemptId: verdict.attemptId,
      runDate: '2026-11-16',
      achModel: { version: 'rule-1', override: false, probability: 0.95 },
    });
    const [attempt] = await here.dependencies.pipeline.attemptsOn(recordIdOf(float.floatId));
    expect(attempt).toMatchObject({
      process: 'TOMORROW',
      achModel: entry!.achModel,
      resolution: { status: 'ACHSENT', confirmationId: entry!.confirmationId },
    });
    expect(await methodsAsked(float)).toEqual(['ACH']);
  });

  it('one with a card waits for its day', async () => {
    const float = await desk.float({}, { dueDate: day('2026-11-17') });
    expect(await desk.collect('TOMORROW', float)).toMatchObject({
      verdict: 'no-op',
      reason: 'has-debit-card',
    });
    expect(await desk.row(float)).toEqual(float);
    expect(await desk.log(float)).toEqual([]);
  });

  it('before a long weekend everything goes that is due until the banks are open again', async () => {
    // Labor Day is Monday, 7 September.
    here.now = at('2026-09-04T09:30:00Z');
    const verdicts = [];
    for (const date of ['2026-09-04', '2026-09-05', '2026-09-07', '2026-09-08', '2026-09-09']) {
      const float = await desk.float(noCard, { dueDate: day(date), lastRunTime: at('2026-09-01T00:00:00Z') });
      verdicts.push((await desk.collect('TOMORROW', float)).verdict);
    }
    expect(verdicts).toEqual(['no-op', 'sent', 'sent', 'sent', 'no-op']);
  });
});

describe('on the due date', () => {
  it('the card is charged, and the advance is paid back', async () => {
    const float = await desk.float();
    expect(await desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'collected', reason: 'PINLESS' });
    expect(await desk.row(float)).toMatchObject({ status: 'COMPLETED', completedAt: MORNING, error: '' });
    expect(await outcomes(float)).toEqual([['TODAY6AM', 'COMPLETED', 'PINLESS']]);
    expect(await desk.floats.openOf(float.userId)).toEqual([]);
    const entries = await desk.ledger(float);
    expect(debits(entries)).toBe(1);
    expect(entries.find(({ type }) => type === 'payment.requested')).toMatchObject({ kind: 'FLOAT' });
  });

  it.each(['62', '05'])(
    'a card that says %s is followed by the account: two attempts, two rows',
    async (code) => {
      const float = await desk.float({ pinless: { mode: 'decline', code } });
      expect(await desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'sent', reason: 'ACH' });
      expect(await outcomes(float)).toEqual([
        ['TODAY6AM', 'RETURNED', 'PINLESS'],
        ['TODAY6AM', 'ACHSENT', 'ACH'],
      ]);
      expect(await desk.row(float)).toMatchObject({ status: 'ACHSENT', error: '' });
    },
  );

  it('another decline leaves it to be retried', async () => {
    const float = await desk.float(lostCard);
    expect(await desk.collect('TODAY6AM', float)).toMatchObject({
      verdict: 'declined',
      reason: 'PINLESS-14',
    });
    expect(await desk.row(float)).toMatchObject({ status: 'RETRY' });
    expect((await desk.row(float)).error).toMatch(/^14/);
    expect(await methodsAsked(float)).toEqual(['PINLESS']);
  });

  it('without anything to charge it is one of those that are retried, and nothing is logged', async () => {
    const float = await desk.float(nothing);
    expect(await desk.collect('TODAY6AM', float)).toMatchObject({
      verdict: 'given-up',
      reason: 'no-account',
    });
    expect(await desk.row(float)).toMatchObject({ status: 'RETRY', error: 'no-account' });
    expect(await desk.log(float)).toEqual([]);
  });
});

describe('a retry', () => {
  it.each([
    ['70.00', 'collected'],
    ['69.99', 'skipped'],
  ])('needs the amount and ten dollars: with %s it is %s', async (amount, verdict) => {
    const float = await standing('RETRY', { balance: { amount } });
    expect(await desk.collect('RETRY', float)).toMatchObject({ verdict });
    expect(await desk.log(float)).toHaveLength(verdict === 'collected' ? 1 : 0);
  });

  it('without an account makes it uncollectable, which is looked at again every day', async () => {
    const float = await standing('RETRY', nothing);
    expect(await desk.collect('RETRY', float)).toMatchObject({ verdict: 'uncollectable' });
    expect(await desk.row(float)).toMatchObject({ status: 'UNCOLLECTABLE' });
    expect(await desk.collect('RETRY', float)).toMatchObject({ verdict: 'skipped', reason: 'no-account' });
    await here.bank('PUT', `/sandbox/users/${float.userId}`, {});
    expect(await desk.collect('RETRY', float)).toMatchObject({ verdict: 'collected' });
    expect(await desk.row(float)).toMatchObject({ status: 'COMPLETED' });
  });

  it('is still made after two failed ACH debits, and the third ends it', async () => {
    const float = await standing('RETRY', noCard);
    await logged(float, failedAch(), failedAch());
    expect(await desk.collect('RETRY', float)).toMatchObject({ verdict: 'sent' });
    const other = await standing('RETRY', {});
    await logged(other, failedAch(), failedAch(), failedAch());
    expect(await desk.collect('RETRY', other)).toMatchObject({
      verdict: 'defaulted',
      reason: 'ach-attempts-used-up',
    });
    expect(await desk.row(other)).toMatchObject({ status: 'DEFAULTED' });
    expect((await outcomes(other)).at(-1)).toEqual(['RETRY', 'DEFAULTED', null]);
    expect(await desk.floats.openOf(other.userId)).toEqual([]);
    expect(debits(await desk.ledger(other))).toBe(0);
  });

  it.each([
    ['2026-08-18', 'collected'],
    ['2026-08-17', 'defaulted'],
  ])('of what was due on %s, 90 or 91 days ago: %s', async (dueDate, verdict) => {
    const float = await standing('RETRY', {}, { dueDate: day(dueDate) });
    expect(await desk.collect('RETRY', float)).toMatchObject({ verdict });
  });

  it('stops after two failures in a row where that rule applies, until support has the member’s word', async () => {
    const other = { floatPolicy: { ...DEFAULT_FLOAT_POLICY, twoFailuresGate: true } };
    const float = await standing('RETRY');
    await logged(float, failedAch(), { ...failedAch(), method: 'PINLESS' });
    const retry = () => desk.collect('RETRY', float, undefined, other);
    expect(await retry()).toMatchObject({ verdict: 'skipped', reason: 'two-failures' });
    const word = { process: 'SUPPORT', outcome: 'RETURNED', method: null, attemptId: null } as const;
    await logged(float, { ...word, runTime: at('2026-11-15T08:30:00.000000001Z') });
    expect(await retry()).toMatchObject({ verdict: 'collected' });
  });

  it('over the account is not made where the route is against it, and says so', async () => {
    const float = await standing('RETRY', noCard);
    const never = { achRouting: ruleRouting('never') };
    expect(await desk.collect('RETRY', float, undefined, never)).toMatchObject({
      verdict: 'skipped',
      reason: 'route-against-ach',
    });
    const always = { achRouting: ruleRouting('always') };
    expect(await desk.collect('RETRY', float, undefined, always)).toMatchObject({ verdict: 'sent' });
    expect((await desk.log(float))[0]!.achModel).toMatchObject({ override: true });
  });
});

describe('a signal of income', () => {
  const webhook = (float: Float): Promise<Verdict> => desk.collect('WEBHOOK', float);

  it('asks twice a day, by the day of the attempt, and not a third time', async () => {
    const float = await standing('RETRY', lostCard);
    const verdicts = [await webhook(float), await webhook(float), await webhook(float)];
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['declined', 'declined', 'skipped']);
    expect(verdicts[2]).toMatchObject({
      reason: 'webhooks-of-the-day-used',
      until: at('2026-11-17T00:00:00Z'),
    });
    here.now = plusDays(MORNING, 1);
    expect(await webhook(float)).toMatchObject({ verdict: 'declined' });
  });

  it.each([
    ['50.00', 'collected'],
    ['49.99', 'skipped'],
  ])('needs fifty dollars: with %s it is %s', async (amount, verdict) => {
    const float = await standing('RETRY', { balance: { amount } }, { amount: 2_000 as Float['amount'] });
    expect(await webhook(float)).toMatchObject({ verdict });
  });
});

describe('a payback', () => {
  it.each(['SCHEDULING', 'RETRY', 'UNCOLLECTABLE'] as const)(
    'charges the card of one that is %s',
    async (status) => {
      const float = await standing(status, {}, { dueDate: day('2026-12-24') });
      expect(await desk.collect('SUPPORT', float)).toMatchObject({ verdict: 'collected' });
      expect(await outcomes(float)).toEqual([['SUPPORT', 'COMPLETED', 'PINLESS']]);
    },
  );

  it.each(['ACHSENT', 'COMPLETED', 'DEFAULTED'] as const)(
    'does not charge one that is %s',
    async (status) => {
      const float = await standing(status);
      expect(await desk.collect('SUPPORT', float)).toMatchObject({ verdict: 'no-op' });
      expect(debits(await desk.ledger(float))).toBe(0);
    },
  );

  it('that is declined leaves it as it was, without turning to the account', async () => {
    const float = await desk.float(broke);
    expect(await desk.collect('SUPPORT', float)).toMatchObject({ verdict: 'declined' });
    expect(await desk.row(float)).toMatchObject({ status: 'SCHEDULING' });
    expect(await methodsAsked(float)).toEqual(['PINLESS']);
  });
});

describe('when a worker dies', () => {
  it.each(['locked', 'intent-written', 'charged', 'outcome-written'] as const)(
    'after %s, the next one finishes: one debit, one row',
    async (deadly) => {
      const float = await desk.float();
      here.onStep = (step) => {
        if (step === deadly) throw new Error('died');
      };
      await expect(desk.collect('TODAY6AM', float, 'run-1')).rejects.toThrow('died');
      here.onStep = () => undefined;
      expect(await desk.collect('TODAY6AM', float, 'run-1')).toMatchObject({ verdict: 'collected' });
      expect(debits(await desk.ledger(float))).toBe(1);
      expect(await outcomes(float)).toEqual([['TODAY6AM', 'COMPLETED', 'PINLESS']]);
      expect(await desk.row(float)).toMatchObject({ status: 'COMPLETED' });
    },
  );

  it.each(['intent-written', 'charged', 'outcome-written'] as const)(
    'after %s of the account that followed the card, there is one entry',
    async (deadly) => {
      const float = await desk.float(broke);
      let times = 0;
      here.onStep = (step) => {
        // The card's intent and answer come first; its outcome is the account's intent.
        if (step === deadly && (times += 1) === (deadly === 'outcome-written' ? 1 : 2))
          throw new Error('died');
      };
      await expect(desk.collect('TODAY6AM', float, 'run-1')).rejects.toThrow('died');
      here.onStep = () => undefined;
      expect(await desk.collect('TODAY6AM', float, 'run-1')).toMatchObject({ verdict: 'sent' });
      expect(await outcomes(float)).toEqual([
        ['TODAY6AM', 'RETURNED', 'PINLESS'],
        ['TODAY6AM', 'ACHSENT', 'ACH'],
      ]);
      const accepted = (await desk.ledger(float)).filter(({ type }) => type === 'payment.requested');
      expect(new Set(accepted.map(({ idempotency_key: key }) => key)).size).toBe(2);
    },
  );

  it('the log names the stage that opened the attempt, whoever finishes it', async () => {
    const float = await desk.float();
    here.onStep = (step) => {
      if (step === 'charged') throw new Error('died');
    };
    await expect(desk.collect('TODAY6AM', float, 'run-1')).rejects.toThrow('died');
    here.onStep = () => undefined;
    here.now = plusDays(MORNING, 1);
    expect(await desk.collect('TODAY6AM', float, 'run-2')).toMatchObject({ verdict: 'collected' });
    expect(await outcomes(float)).toEqual([['TODAY6AM', 'COMPLETED', 'PINLESS']]);
    expect(debits(await desk.ledger(float))).toBe(1);
  });
});

describe('two at once', () => {
  it('on one member: one works, the other finds the lock', async () => {
    const float = await desk.float();
    const ask = (stage: Stage) =>
      collectFloat(desk.dependencies, { stage, ...float, triggerId: `trigger-${randomUUID()}` });
    const results = await Promise.all([ask('TODAY6AM'), ask('SUPPORT'), ask('TODAY6AM'), ask('SUPPORT')]);
    expect(
      results.filter((result) => 'verdict' in result && result.verdict.verdict === 'collected'),
    ).toHaveLength(1);
    expect(debits(await desk.ledger(float))).toBe(1);
  });

  it('whoever slept past its lease writes nothing over what the next one did', async () => {
    const float = await desk.float();
    const acquired = await here.dependencies.locks.acquire(floatLockKey(float.userId));
    if ('busy' in acquired) throw new Error('nobody else knows this member');
    await acquired.lock.release();
    const late = floatDeclined(
      float,
      {
        attemptId: 'late' as AttemptId,
        process: 'TODAY6AM',
        rail: 'ACH',
        confirmationId: '',
        achModel: null,
      },
      'late',
      MORNING,
    );
    await expect(desk.floats.save(acquired.lock.fence, float, late)).rejects.toThrow('lock');
    expect(await desk.row(float)).toEqual(float);
  });
});

describe('what stands against it', () => {
  it('a freeze of everything, of the member or of the rail puts it off', async () => {
    const freezes = new DynamoFreezes({
      client: here.store.client,
      table: here.store.tables.pipeline,
      timer: systemTimer,
    });
    const float = await desk.float(noCard);
    const targets = [{ scope: 'global' }, { scope: 'ACH' }, { scope: 'user', userId: float.userId }] as const;
    for (const target of targets) {
      await freezes.freeze({ target, reason: 'test', who: 'tester', at: MORNING, until: null });
      expect(await desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'deferred' });
      await freezes.unfreeze(target, { who: 'tester', at: MORNING });
    }
    expect(await desk.log(float)).toEqual([]);
    expect(await desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'sent' });
  });

  it.each([
    ['BANNED', 'deferred'],
    ['INVESTIGATE', 'deferred'],
    ['PAUSED', 'collected'],
  ])('a member who is %s is %s: an advance is owed whatever the membership', async (status, verdict) => {
    expect(await desk.collect('TODAY6AM', await desk.float({ status }))).toMatchObject({ verdict });
  });

  it('a log that cannot be read: nothing is done, and the verdict says which row', async () => {
    const float = await desk.float();
    const Item = { ...writeLogEntry(logEntry({ floatId: float.floatId })), outcome: { S: 'ODD' } };
    await here.store.client.send(
      new PutItemCommand({ TableName: here.store.tables.collectionHistory, Item }),
    );
    const verdict = await desk.collect('TODAY6AM', float);
    expect(verdict).toMatchObject({ verdict: 'malformed' });
    expect(verdict.detail).toContain('outcome');
    expect(debits(await desk.ledger(float))).toBe(0);
  });

  it('somebody else’s float is nobody’s', async () => {
    const [float, other] = [await desk.float(), await desk.float()];
    const verdict = await desk.collect('TODAY6AM', { ...float, userId: other.userId });
    expect(verdict).toMatchObject({ verdict: 'no-op', reason: 'record-gone' });
  });
});
