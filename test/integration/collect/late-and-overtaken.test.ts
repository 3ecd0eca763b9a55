import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { collectSubscription } from '../../../src/app/collect-subscription.ts';
import { findRequest } from '../../../src/app/find-request.ts';
import { startRun, takePage } from '../../../src/app/run-collections.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import { FactsTooOldError, LeaseTooShortError, RecordChangedError } from '../../../src/errors.ts';
import type { Lock } from '../../../src/ports/lock.ts';
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
    const { client, tables } = here.store;
    const freezes = new DynamoFreezes({ client, table: tables.pipeline, timer: systemTimer });
    const order = {
      target: { scope: 'ACH' },
      reason: 'a test',
      who: 'a test',
      at: NOW,
      until: null,
    } as const;
    const gate = { ...here.dependencies.gate, goOn: () => freezes.freeze(order) };
    const request = { ...record, path: 'INITIAL', triggerId: 'run-1' } as const;
    const result = await collectSubscription({ ...here.dependencies, gate }, request);
    expect(result).toMatchObject({ verdict: { verdict: 'declined', reason: 'PINLESS-62' } });
    await freezes.unfreeze(order.target, { who: 'a test', at: NOW });
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
});

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
        dependencies.enqueue(...args).catch(() => undefined),
    };
    await takePage(dying, run.runId, run);
    here.onStep = () => undefined;
    await takePage(dying, run.runId, { pass: 2, page: 0 });
    expect((await background(record, run.runId)).verdict).toMatchObject({ verdict: 'collected' });
    expect(debits(await here.ledger(record))).toBe(1);
  });
});
