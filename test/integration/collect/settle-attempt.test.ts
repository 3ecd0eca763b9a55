import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { collectSubscription } from '../../../src/app/collect-subscription.ts';
import type { Settlement } from '../../../src/app/settle-attempt.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { Attempt } from '../../../src/ports/pipeline.ts';
import type { Processor } from '../../../src/ports/services.ts';
import type { PageKey, StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { eventually } from '../../support/processes.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';
import { at } from '../../support/records.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = at('2026-11-16T08:00:00Z');

let here: World;

beforeAll(async () => {
  here = await world();
});
afterAll(() => here.close());
afterEach(async () => {
  here.now = START;
  here.onStep = () => undefined;
  await here.faults([]);
});

/** A member whose charge was sent three times and never answered. */
async function unanswered(
  fault: 'timeout-after' | 'timeout-before',
  settings: object = {},
): Promise<StoredSubscription> {
  const record = await here.member(settings);
  await here.faults([
    { id: randomUUID(), service: 'payments', fault, times: 3, match: { user_id: record.userId } },
  ]);
  expect(await here.collect('INITIAL', record, 'run-1')).toMatchObject({ verdict: 'unknown' });
  await here.faults([]);
  return record;
}

async function dueAttempts(): Promise<Attempt[]> {
  const found: Attempt[] = [];
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof here.dependencies.pipeline.openAttempts>> =
      await here.dependencies.pipeline.openAttempts(here.now, key);
    found.push(...page.attempts);
    key = page.nextKey;
  } while (key !== null);
  return found;
}

const attemptOn = async (record: StoredSubscription): Promise<Attempt | undefined> =>
  (await dueAttempts()).find(({ subscriptionId }) => subscriptionId === record.subscriptionId);

/** What the janitor does with what it finds at this time. */
async function settle(
  record: StoredSubscription,
  { processor }: Pick<World['dependencies'], 'processor'> = here.dependencies,
): Promise<Settlement> {
  const attempt = await eventually('the attempt to be due', () => attemptOn(record));
  return settleAttempt({ ...here.dependencies, processor }, { abandonAfterMs: 24 * HOUR }, attempt);
}

describe('an attempt whose answer was lost', () => {
  it('is not asked about before its time', async () => {
    const record = await unanswered('timeout-after');
    here.now = plusMs(START, 5 * MINUTE - 1);
    expect(await attemptOn(record)).toBeUndefined();
    here.now = plusMs(START, 5 * MINUTE);
    expect(await eventually('it is due', () => attemptOn(record))).toMatchObject({
      triggerId: 'run-1',
      rail: 'PINLESS',
    });
  });

  it('and was made is recorded from the processor’s word: one debit', async () => {
    const record = await unanswered('timeout-after');
    here.now = plusMs(START, 5 * MINUTE);
    expect(await settle(record)).toMatchObject({ settled: { verdict: 'collected', triggerId: 'run-1' } });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED', process: 'INITIAL' });
    expect(debits(await here.ledger(record))).toBe(1);
    await eventually('it is off the list', async () => (await attemptOn(record)) === undefined);
    expect(await here.collect('INITIAL', record, 'run-1')).toMatchObject({ verdict: 'collected' });
  });

  it('and was declined is in error', async () => {
    const record = await unanswered('timeout-after', { pinless: { mode: 'decline', code: '14' } });
    here.now = plusMs(START, 5 * MINUTE);
    expect(await settle(record)).toMatchObject({ settled: { verdict: 'declined', reason: 'PINLESS-14' } });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'ERROR' });
  });

  it('and that nobody knows stays open, is asked about again, and given up after a day', async () => {
    const record = await unanswered('timeout-before');
    for (const later of [5 * MINUTE, HOUR]) {
      here.now = plusMs(START, later);
      expect(await settle(record)).toEqual({ left: 'no-word-yet' });
      await eventually('it waits for the next time', async () => (await attemptOn(record)) === undefined);
      expect(await here.collect('MANUAL_REPAYMENT', record)).toMatchObject({ verdict: 'blocked' });
    }
    here.now = plusMs(START, 24 * HOUR);
    expect(await settle(record)).toMatchObject({
      settled: { verdict: 'declined', reason: 'PINLESS-abandoned' },
    });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'ERROR',
      usioError: 'abandoned: the processor never knew of it',
    });

    here.now = plusMs(START, 25 * HOUR);
    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'collected' });
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it('and of which the processor says what makes no sense stays open, and is never given up', async () => {
    const record = await unanswered('timeout-after');
    const { processor } = here.dependencies;
    const findByKey: Processor['findByKey'] = async (key) => {
      const payment = await processor.findByKey(key);
      // Of a card payment.
      return payment && { ...payment, status: 'ACHSENT' };
    };
    const odd = { processor: { ...processor, findByKey } };
    for (const later of [5 * MINUTE, HOUR, 24 * HOUR, 100 * HOUR]) {
      here.now = plusMs(START, later);
      expect(await settle(record, odd)).toEqual({ left: 'no-word-yet' });
      expect(await here.row(record)).toMatchObject({ billingStatus: 'SCHEDULED' });
    }
    here.now = plusMs(START, 200 * HOUR);
    expect(await settle(record)).toMatchObject({ settled: { verdict: 'collected' } });
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it('and that was sent again is given up a day after that: until then it may be under way', async () => {
    const record = await unanswered('timeout-before');
    here.now = plusMs(START, 23 * HOUR);
    await here.faults([
      {
        id: randomUUID(),
        service: 'payments',
        fault: 'timeout-before',
        times: 3,
        match: { user_id: record.userId },
      },
    ]);
    expect(await here.collect('INITIAL', record, 'run-2')).toMatchObject({ verdict: 'unknown' });
    await here.faults([]);

    for (const later of [24 * HOUR, 47 * HOUR - 1]) {
      here.now = plusMs(START, later);
      expect(await settle(record)).toEqual({ left: 'no-word-yet' });
    }
    here.now = plusMs(START, 47 * HOUR);
    expect(await settle(record)).toMatchObject({
      settled: { verdict: 'declined', reason: 'PINLESS-abandoned', triggerId: 'run-1' },
    });
  });

  it('and is given up uses up none of the record’s tries: nobody was asked for money', async () => {
    const record = await unanswered('timeout-before');
    here.now = plusMs(START, 24 * HOUR);
    expect(await settle(record)).toMatchObject({ settled: { verdict: 'declined' } });
    const once = { ...here.dependencies, policy: { ...here.dependencies.policy, retryMaxAttempts: 1 } };
    const request = { ...record, path: 'RETRY', triggerId: 'run-2' } as const;
    expect(await collectSubscription(once, request)).toMatchObject({ verdict: { verdict: 'collected' } });
  });

  it('that somebody resumed meanwhile is left alone', async () => {
    const record = await unanswered('timeout-after');
    here.now = plusMs(START, 5 * MINUTE);
    const attempt = await eventually('it is due', () => attemptOn(record));
    expect(await here.collect('INITIAL', record, 'run-2')).toMatchObject({ verdict: 'collected' });
    const late = await settleAttempt(here.dependencies, { abandonAfterMs: 24 * HOUR }, attempt);
    expect(late).toEqual({ left: 'resolved-meanwhile' });
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it('is not touched while somebody else holds the member’s lock', async () => {
    const record = await unanswered('timeout-after');
    here.now = plusMs(START, 5 * MINUTE);
    await here.store.takeLock(record.userId);
    expect(await settle(record)).toEqual({ left: 'busy' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'SCHEDULED' });
  });
});
