import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { collectSubscription } from '../../../src/app/collect-subscription.ts';
import { findRequest } from '../../../src/app/find-request.ts';
import { startRun, takePage } from '../../../src/app/run-collections.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { inboxItems } from '../../../src/adapters/dynamodb/inbox-items.ts';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import {
  FactsTooOldError,
  LeaseTooShortError,
  ProcessorBusyError,
  RecordChangedError,
} from '../../../src/errors.ts';
import type { Lock } from '../../../src/ports/lock.ts';
import type { InboxEvent } from '../../../src/ports/inbox.ts';
import type { BackgroundQuery } from '../../../src/ports/pipeline.ts';
import type { ChargeAnswer } from '../../../src/ports/services.ts';
import type { CollectionStep } from '../../../src/ports/steps.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { inProcess } from '../../support/in-process-run.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

const NOW = at('2026-11-16T08:00:00Z');

let here: World;
beforeAll(async () => {
  here = await world();
});
afterAll(() => here.close());
afterEach(async () => {
  here.now = NOW;
  here.onStep = () => undefined;
  await here.faults([]);
});

const background = (record: StoredSubscription, triggerId = '') =>
  here.dependencies.pipeline.readBackground({ ...record, triggerId, accountId: null });

const noAnswer = (record: StoredSubscription, fault: string) =>
  here.faults([
    { id: randomUUID(), service: 'payments', fault, times: 3, match: { user_id: record.userId } },
  ]);

const sentCharges = async (record: StoredSubscription): Promise<number> =>
  (await here.ledger(record)).filter(({ type }) => type === 'payment.requested').length;

describe('a worker whose lease is nearly over', () => {
  it('sends no charge; whoever holds the lock next takes its intent up', async () => {
    const record = await here.member();
    const { locks } = here.dependencies;
    const tired = (lock: Lock): Lock => ({
      fence: lock.fence,
      signal: lock.signal,
      remainingMs: () => 1_500,
      release: () => lock.release(),
    });
    const dependencies = {
      ...here.dependencies,
      locks: {
        close: () => locks.close(),
        async acquire(key: string) {
          const acquired = await locks.acquire(key);
          return 'lock' in acquired ? { lock: tired(acquired.lock) } : acquired;
        },
      },
    };
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    await expect(collectSubscription(dependencies, request)).rejects.toThrow(LeaseTooShortError);
    expect(await sentCharges(record)).toBe(0);
    expect((await background(record)).state.open).not.toBeNull();
    expect(await here.collect('INITIAL', record, 'run-1')).toMatchObject({ verdict: 'collected' });
    expect(debits(await here.ledger(record))).toBe(1);
  });
});

describe('a worker that was overtaken', () => {
  it('does not put its verdict in the place of the true one', async () => {
    const record = await here.member();
    await here.collect('INITIAL', record, 'run-1');
    const { verdict } = await background(record, 'run-1');
    await here.dependencies.pipeline.saveVerdict({ ...verdict!, verdict: 'unknown', reason: 'no-answer' });
    expect((await background(record, 'run-1')).verdict).toEqual(verdict);
  });

  it('does not undo what its successor wrote about the attempts, nor open one of the same name again', async () => {
    const record = await here.member();
    const { pipeline, subscriptions } = here.dependencies;
    const { state: old } = await background(record);
    await here.collect('INITIAL', record, 'run-1');
    const { state } = await background(record);
    const attempts = await pipeline.attemptsOn(record.subscriptionId);
    const again = attempts[0]!;
    const fence = await here.store.takeLock(record.userId);
    const row = await here.row(record);
    const write = async (writes: ReturnType<typeof pipeline.open>['writes']) =>
      subscriptions.add(fence, row, {
        ...(await here.store.context(record.userId, { cause: 'attempt-succeeded' })),
        also: writes,
      });
    const another = { ...again, attemptId: 'another' as AttemptId };
    await expect(write(pipeline.open(old, another).writes)).rejects.toThrow(RecordChangedError);
    await expect(write(pipeline.open(state, again).writes)).rejects.toThrow(RecordChangedError);
    await here.store.releaseLock(record.userId);
  });
});

describe('an attempt that is finished by whoever began it', () => {
  it('counts as decided as it was then: a run that lost a worker did what was forecast', async () => {
    const record = await here.member();
    here.onStep = (step) => {
      if (step === 'intent-written') throw new Error('died');
    };
    await expect(here.collect('INITIAL', record, 'run-1')).rejects.toThrow('died');
    here.onStep = () => undefined;
    expect(await here.collect('INITIAL', record, 'run-1')).toMatchObject({
      verdict: 'collected',
      plan: { plan: 'charge', reason: 'PINLESS' },
    });
  });
});

describe('an attempt that somebody else finishes', () => {
  it('answers whoever asked for it as well', async () => {
    const record = await here.member({}, { billingStatus: 'ERROR' });
    await noAnswer(record, 'timeout-after');
    expect(await here.collect('MANUAL_REPAYMENT', record, 'request-1')).toMatchObject({ verdict: 'unknown' });
    await here.faults([]);
    expect(await here.collect('RETRY', record, 'run-2')).toMatchObject({
      verdict: 'collected',
      plan: { plan: 'resume' },
    });
    const request = {
      ...record,
      requestId: 'request-1',
      path: 'MANUAL_REPAYMENT',
      by: 'a test',
      acceptedAt: NOW,
      generation: 0,
      status: 'done',
      outcome: { verdict: 'unknown', reason: 'no-answer' },
    } as const;
    const requests = { get: () => Promise.resolve(request) };
    const found = await findRequest({ requests, pipeline: here.dependencies.pipeline }, 'request-1');
    expect(found).toMatchObject({ outcome: { verdict: 'collected' } });
  });

  it('and was declined is not tried again by a job that died with it', async () => {
    const record = await here.member(
      { pinless: { mode: 'decline', code: '14' } },
      { billingStatus: 'ERROR' },
    );
    here.onStep = (step) => {
      if (step === 'intent-written') throw new Error('died');
    };
    await expect(here.collect('WEBHOOK', record, 'signal-1')).rejects.toThrow('died');
    here.onStep = () => undefined;
    expect(await here.collect('RETRY', record, 'run-1')).toMatchObject({ verdict: 'declined' });
    expect(await here.collect('WEBHOOK', record, 'signal-1')).toMatchObject({ verdict: 'declined' });
    expect(await sentCharges(record)).toBe(1);
  });

  it('is not settled with the word about an older one', async () => {
    const record = await here.member();
    await noAnswer(record, 'timeout-before');
    await here.collect('INITIAL', record, 'run-1');
    await here.faults([]);
    const old = { ...(await background(record)).state.open!, attemptId: 'older' as AttemptId };
    expect(await settleAttempt(here.dependencies, { abandonAfterMs: 0 }, old)).toEqual({
      left: 'resolved-meanwhile',
    });
    expect((await background(record)).state.open).not.toBeNull();
  });
});

describe('a freeze that is ordered while a charge waits for its turn', () => {
  it('holds for the account that would be asked after the card', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
    const { freezes, order } = freezing('ACH');
    const gate = { ...here.dependencies.gate, goOn: () => freezes.freeze(order) };
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    const result = await collectSubscription({ ...here.dependencies, gate }, request);
    expect(result).toMatchObject({ verdict: { verdict: 'declined', reason: 'PINLESS-62' } });
    await freezes.unfreeze(order.target, { who: 'a test', at: NOW });
  });

  it('holds for the account also when the worker stood still over what it had read', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
    const { freezes, order } = freezing('ACH');
    const dependencies = { ...here.dependencies, ...standingOverRead(2, () => freezes.freeze(order)) };
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    const result = await collectSubscription(dependencies, request);
    expect(result).toMatchObject({ verdict: { verdict: 'declined', reason: 'PINLESS-62' } });
    await freezes.unfreeze(order.target, { who: 'a test', at: NOW });
    expect(await sentCharges(record)).toBe(1);
  });
});

describe('a worker that stands still between reading and charging', () => {
  /** As a process that is stopped in the middle: so long at each of its turns. */
  const standing = (stillMs: readonly number[], meanwhile: () => Promise<void> = async () => undefined) => {
    const { gate, timer } = here.dependencies;
    let [turn, stoodMs] = [0, 0];
    const enter = async (): Promise<void> => {
      stoodMs = stillMs[turn] ?? 0;
      turn += 1;
      if (stoodMs > 0) await meanwhile();
    };
    return {
      ...here.dependencies,
      gate: { ...gate, enter },
      timer: { ...timer, elapsedMs: () => timer.elapsedMs() + stoodMs },
    };
  };

  it('sees the freeze that was ordered meanwhile', async () => {
    const record = await here.member();
    const { client, tables } = here.store;
    const freezes = new DynamoFreezes({ client, table: tables.pipeline, timer: systemTimer });
    const target = { scope: 'PINLESS' } as const;
    const order = { target, reason: 'a test', who: 'a test', at: NOW, until: null };
    const dependencies = standing([10_000], () => freezes.freeze(order));
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    expect(await collectSubscription(dependencies, request)).toMatchObject({
      verdict: { verdict: 'deferred', reason: 'frozen-rail' },
    });
    await freezes.unfreeze(target, { who: 'a test', at: NOW });
    expect(await sentCharges(record)).toBe(0);
  });

  it('charges once where nothing has changed', async () => {
    const record = await here.member();
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    expect(await collectSubscription(standing([10_000]), request)).toMatchObject({
      verdict: { verdict: 'collected' },
    });
    expect(await sentCharges(record)).toBe(1);
  });

  it('begins nothing where it stands still again and again', async () => {
    const record = await here.member();
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    const dependencies = standing([10_000, 10_000, 10_000, 10_000]);
    await expect(collectSubscription(dependencies, request)).rejects.toThrow(FactsTooOldError);
    expect((await background(record)).state.open).toBeNull();
    expect(await sentCharges(record)).toBe(0);
  });

  it('after its intent sees the freeze that was ordered meanwhile', async () => {
    const record = await here.member();
    const { freezes, order } = freezing('PINLESS');
    const { dependencies, meanwhile } = standingAt('intent-written', () => freezes.freeze(order));
    here.onStep = meanwhile;
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    expect(await collectSubscription(dependencies, request)).toMatchObject({
      verdict: { verdict: 'unknown' },
    });
    expect(await sentCharges(record)).toBe(0);
    await freezes.unfreeze(order.target, { who: 'a test', at: NOW });
    here.onStep = () => undefined;
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
    expect(await sentCharges(record)).toBe(1);
  });

  it('after its intent sends it where nothing has changed', async () => {
    const record = await here.member();
    const { dependencies, meanwhile } = standingAt('intent-written', () => Promise.resolve());
    here.onStep = meanwhile;
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    expect(await collectSubscription(dependencies, request)).toMatchObject({
      verdict: { verdict: 'collected' },
    });
    expect(await sentCharges(record)).toBe(1);
  });

  describe('before it sends again what somebody else had opened', () => {
    /** Its worker died before it was sent: sent again, it is sent for the first time. */
    async function neverSent(settings: object = {}): Promise<StoredSubscription> {
      const record = await here.member(settings);
      here.onStep = (step) => {
        if (step === 'intent-written') throw new Error('died');
      };
      await expect(here.collect('INITIAL', record, 'run-0')).rejects.toThrow('died');
      here.onStep = () => undefined;
      return record;
    }
    const request = (record: StoredSubscription) =>
      ({ ...record, path: 'INITIAL', triggerId: 'run-1' }) as const;

    it('sees the freeze that was ordered meanwhile', async () => {
      const record = await neverSent();
      const { freezes, order } = freezing('PINLESS');
      const dependencies = standing([10_000], () => freezes.freeze(order));
      expect(await collectSubscription(dependencies, request(record))).toMatchObject({
        verdict: { verdict: 'blocked', reason: 'frozen-rail' },
      });
      await freezes.unfreeze(order.target, { who: 'a test', at: NOW });
      expect(await sentCharges(record)).toBe(0);
      expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
    });

    it('sees that the account was closed meanwhile, which takes no lock', async () => {
      const record = await neverSent();
      const dependencies = standing([1], () => closeAccount(record));
      await expect(collectSubscription(dependencies, request(record))).rejects.toThrow(RecordChangedError);
      expect(await sentCharges(record)).toBe(0);
      expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'no-op' });
      expect(await sentCharges(record)).toBe(0);
    });

    it('sees that the bank has closed the account to us', async () => {
      const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
      let intents = 0;
      here.onStep = (step) => {
        if (step === 'intent-written' && (intents += 1) === 2) throw new Error('died');
      };
      await expect(here.collect('INITIAL', record, 'run-0')).rejects.toThrow('died');
      here.onStep = () => undefined;
      const { pipeline, accounts } = here.dependencies;
      await pipeline.saveBlock((await accounts.primary(record.userId))!.accountId, 'R10');
      expect(await here.collect('INITIAL', record)).toMatchObject({
        verdict: 'blocked',
        reason: 'ach-account-blocked',
      });
      expect(await sentCharges(record)).toBe(1);
    });
  });
});

/** As a process that is stopped for ten seconds when it has come so far. What it reads after that is new. */
function standingAt(where: CollectionStep, meanwhile: () => Promise<void>) {
  const { pipeline, timer } = here.dependencies;
  let stoodMs = 0;
  const readBackground = (query: BackgroundQuery) => {
    stoodMs = 0;
    return pipeline.readBackground(query);
  };
  return {
    dependencies: {
      ...here.dependencies,
      pipeline: Object.assign(Object.create(pipeline) as typeof pipeline, { readBackground }),
      timer: { ...timer, elapsedMs: () => timer.elapsedMs() + stoodMs },
    },
    meanwhile: async (step: CollectionStep) => {
      if (step !== where) return;
      await meanwhile();
      stoodMs = 10_000;
    },
  };
}

/** As a process that is stopped for ten seconds just when the answer to a reading of what stands against it has come. */
function standingOverRead(which: number, meanwhile: () => Promise<void>) {
  const { pipeline, timer } = here.dependencies;
  let [reads, stoodMs] = [0, 0];
  const readBackground = async (query: BackgroundQuery) => {
    const read = await pipeline.readBackground(query);
    if ((reads += 1) !== which) return read;
    await meanwhile();
    stoodMs = 10_000;
    return read;
  };
  return {
    pipeline: Object.assign(Object.create(pipeline) as typeof pipeline, { readBackground }),
    timer: { ...timer, elapsedMs: () => timer.elapsedMs() + stoodMs },
  };
}

const freezing = (scope: 'PINLESS' | 'ACH') => {
  const { client, tables } = here.store;
  const freezes = new DynamoFreezes({ client, table: tables.pipeline, timer: systemTimer });
  return {
    freezes,
    order: { target: { scope }, reason: 'a test', who: 'a test', at: NOW, until: null },
  } as const;
};

async function closeAccount({ userId }: StoredSubscription): Promise<void> {
  const open = (await here.partition(userId)).filter((row) => row.billingStatus === 'SCHEDULED');
  const context = await here.store.context(userId, { cause: 'account-closed', now: here.now });
  const cancelled = open.map((row) => ({ ...row, billingStatus: 'CANCELLED' as const }));
  await here.store.subscriptions.addAll('unlocked', cancelled, context);
}

describe('a charge that has to be sent once more', () => {
  /** A processor that does not take the first one; and what happens while it is waited for. */
  const reluctant = (answer: ChargeAnswer, meanwhile: () => Promise<void>) => {
    const { processor, gate } = here.dependencies;
    let charges = 0;
    return {
      ...here.dependencies,
      processor: {
        charge: (...args: Parameters<typeof processor.charge>) =>
          (charges += 1) === 1 ? Promise.resolve(answer) : processor.charge(...args),
        refund: processor.refund.bind(processor),
        findByKey: processor.findByKey.bind(processor),
        findByConfirmation: processor.findByConfirmation.bind(processor),
      },
      gate: { ...gate, goOn: meanwhile },
    };
  };
  const request = (record: StoredSubscription) =>
    ({ ...record, path: 'INITIAL', triggerId: 'run-1' }) as const;

  it('is sent', async () => {
    const record = await here.member();
    const dependencies = reluctant({ kind: 'not-taken', retryAfterMs: 10 }, () => Promise.resolve());
    expect(await collectSubscription(dependencies, request(record))).toMatchObject({
      verdict: { verdict: 'collected' },
    });
  });

  it('is not, when a freeze was ordered while it waited: nothing was taken, and nothing is', async () => {
    const record = await here.member();
    const { freezes, order } = freezing('PINLESS');
    const dependencies = reluctant({ kind: 'not-taken', retryAfterMs: 10 }, () => freezes.freeze(order));
    await expect(collectSubscription(dependencies, request(record))).rejects.toThrow(ProcessorBusyError);
    expect(await sentCharges(record)).toBe(0);
    expect(await here.collect('INITIAL', record)).toMatchObject({
      verdict: 'blocked',
      reason: 'frozen-rail',
    });
    await freezes.unfreeze(order.target, { who: 'a test', at: NOW });
  });

  it.each<[string, (record: StoredSubscription) => Promise<void>]>([
    ['an event of the membership came', flag],
    ['the account was closed, with nothing left of the event', closeAccount],
  ])('is not, when %s while it waited: nobody knows whether it was made', async (_, come) => {
    const record = await here.member();
    const dependencies = reluctant({ kind: 'unknown', error: new Error('no answer') }, () => come(record));
    expect(await collectSubscription(dependencies, request(record))).toMatchObject({
      verdict: { verdict: 'unknown' },
    });
    expect(await sentCharges(record)).toBe(0);
  });

  it('is not, when its worker stood still over what may stand against it', async () => {
    const record = await here.member();
    const { freezes, order } = freezing('PINLESS');
    const reads = standingOverRead(2, () => freezes.freeze(order));
    const dependencies = {
      ...reluctant({ kind: 'unknown', error: new Error('no answer') }, () => Promise.resolve()),
      ...reads,
    };
    expect(await collectSubscription(dependencies, request(record))).toMatchObject({
      verdict: { verdict: 'unknown' },
    });
    await freezes.unfreeze(order.target, { who: 'a test', at: NOW });
    expect(await sentCharges(record)).toBe(0);
  });

  it('says so before it is sent: it is given up only when nothing of it can be under way', async () => {
    const record = await here.member();
    const later = () => Promise.resolve(void (here.now = plusMs(NOW, 60_000)));
    const dependencies = reluctant({ kind: 'unknown', error: new Error('no answer') }, later);
    expect(await collectSubscription(dependencies, request(record))).toMatchObject({
      verdict: { verdict: 'collected' },
    });
    const [attempt] = await here.dependencies.pipeline.attemptsOn(record.subscriptionId);
    expect(attempt).toMatchObject({ openedAt: NOW, sentAgainAt: plusMs(NOW, 60_000) });
  });

  it('does not turn to an account that the bank has closed to us meanwhile', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
    const { pipeline, accounts } = here.dependencies;
    const { accountId } = (await accounts.primary(record.userId))!;
    here.onStep = async (step) => {
      if (step === 'charged') await pipeline.saveBlock(accountId, 'R10');
    };
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'declined' });
    expect(await sentCharges(record)).toBe(1);
  });
});

/** An event of the membership waits. */
async function flag({ userId }: StoredSubscription): Promise<void> {
  const { client, tables } = here.store;
  const Item = inboxItems.flag.write({
    stream: 'users',
    userId,
    identity: randomUUID(),
    sequence: '1',
    type: 'CLOSEACCOUNT',
    receivedAt: NOW,
  } as InboxEvent);
  await client.send(new PutItemCommand({ TableName: tables.pipeline, Item }));
}

describe('a retry run', () => {
  it('leaves what turned into an error while it was under way to the next day', async () => {
    const declines = { pinless: { mode: 'decline', code: '14' } };
    const [first, second] = [
      await here.member(declines, { billingStatus: 'ERROR' }),
      await here.member(declines),
    ];
    const dependencies = inProcess(here);
    const run = await startRun(dependencies, 'retry', NOW);
    expect(await takePage(dependencies, run.runId, run)).toMatchObject({ then: 'next-pass' });
    here.now = plusMs(NOW, 60_000);
    expect(await here.collect('INITIAL', second, 'scheduled-run')).toMatchObject({ verdict: 'declined' });
    expect(await takePage(dependencies, run.runId, { pass: 2, page: 0 })).toEqual({ then: 'over' });
    expect((await background(first, run.runId)).verdict).toMatchObject({ verdict: 'declined' });
    expect((await background(second, run.runId)).verdict).toBeNull();
    expect(await sentCharges(first)).toBe(1);
    expect(await sentCharges(second)).toBe(1);
  });

  it('takes up what it has itself begun on', async () => {
    const record = await here.member({}, { billingStatus: 'ERROR' });
    const dependencies = inProcess(here);
    const run = await startRun(dependencies, 'retry', plusMs(NOW, 1_000));
    here.now = plusMs(NOW, 60_000);
    let died = false;
    here.onStep = (step, { subscriptionId }) => {
      if (step !== 'intent-written' || died || subscriptionId !== record.subscriptionId) return;
      died = true;
      throw new Error('died');
    };
    const dying = {
      ...dependencies,
      enqueue: (...args: Parameters<typeof dependencies.enqueue>) =>
        dependencies.enqueue(...args).catch((error: unknown) => expect(error).toEqual(new Error('died'))),
    };
    await takePage(dying, run.runId, run);
    expect(died).toBe(true);
    here.onStep = () => undefined;
    await takePage(dying, run.runId, { pass: 2, page: 0 });
    expect((await background(record, run.runId)).verdict).toMatchObject({ verdict: 'collected' });
    expect(debits(await here.ledger(record))).toBe(1);
  });
});
