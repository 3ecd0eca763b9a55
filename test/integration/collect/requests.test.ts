import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeAccepted } from '../../../src/adapters/dynamodb/request-items.ts';
import { acceptRequests } from '../../../src/app/accept-requests.ts';
import { answerRequest, failRequest } from '../../../src/app/answer-request.ts';
import { findRequest } from '../../../src/app/find-request.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import type { SweepCounts } from '../../../src/app/sweep-requests.ts';
import { sweepRequests } from '../../../src/app/sweep-requests.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import { RequestConflictError } from '../../../src/errors.ts';
import type { RequestPage } from '../../../src/ports/requests.ts';
import { at } from '../../support/records.ts';
import type { RequestDesk } from '../../support/request-desk.ts';
import { requestDesk } from '../../support/request-desk.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

const START = at('2026-11-16T08:00:00Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let here: World;
let desk: RequestDesk;

beforeAll(async () => {
  here = await world();
});
afterAll(() => here.close());
beforeEach(() => {
  desk = requestDesk(here);
});
afterEach(async () => {
  here.now = START;
  here.onStep = () => undefined;
  await here.faults([]);
});

const sweep = (afterMs: number): Promise<SweepCounts> => {
  here.now = plusMs(START, afterMs);
  return sweepRequests(desk.dependencies);
};
const answer = (request: { requestId: string }) => answerRequest(desk.dependencies, request.requestId);
const outcomeOf = async (request: { requestId: string }) => (await desk.stored(request)).outcome;

/** Whether it stands among what is to be carried out. */
async function listed({ requestId }: { requestId: string }): Promise<boolean> {
  let key: RequestPage['nextKey'] = null;
  do {
    const page: RequestPage = await desk.requests.due(plusMs(START, 24 * HOUR), key);
    if (page.requests.some((request) => request.requestId === requestId)) return true;
    key = page.nextKey;
  } while (key !== null);
  return false;
}

describe('a request', () => {
  it('is stored and then handed over, and carried out with itself as the trigger', async () => {
    const record = await here.member();
    const request = await desk.accept(record);
    expect(request).toMatchObject({ status: 'accepted', generation: 0, acceptedAt: START, by: 'member' });
    expect(desk.jobsOf(request)).toEqual([0]);
    expect(await listed(request)).toBe(true);

    const outcome = { verdict: 'collected', reason: 'PINLESS' };
    expect(await answer(request)).toEqual({ outcome });
    expect(await desk.stored(request)).toEqual({ ...request, status: 'done', outcome });
    expect(await listed(request)).toBe(false);
    expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED', process: 'MANUAL_REPAYMENT' });
    const { entries } = await here.store.history.getByID(record.subscriptionId);
    expect(entries.at(-1)!.data).toMatchObject({ trigger_id: request.requestId });
  });

  it('is accepted although the queue cannot be reached, and swept after a minute', async () => {
    const record = await here.member();
    desk.queueIsDown = true;
    const request = await desk.accept(record);
    expect(await desk.stored(request)).toMatchObject({ status: 'accepted' });
    expect(desk.complaints).toEqual(['a request was not handed over; the sweep will do it']);
    desk.queueIsDown = false;

    await sweep(MINUTE - 1);
    expect(desk.jobsOf(request)).toEqual([]);
    await sweep(MINUTE);
    expect(desk.jobsOf(request)).toEqual([1]);
    expect(await answer(request)).toMatchObject({ outcome: { verdict: 'collected' } });

    await sweep(24 * HOUR);
    expect(desk.jobsOf(request)).toEqual([1]);
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it('that is not answered is swept again, each time after a longer while', async () => {
    const request = await desk.accept(await here.member());
    await sweep(MINUTE);
    await sweep(MINUTE);
    await sweep(3 * MINUTE - 1);
    expect(desk.jobsOf(request)).toEqual([0, 1]);
    expect(await sweep(3 * MINUTE)).toEqual({ handedOver: 1, failed: 0 });
    expect(desk.jobsOf(request)).toEqual([0, 1, 2]);
    await answer(request);
  });

  it('whose sweep finds the queue down is swept again', async () => {
    desk.queueIsDown = true;
    const request = await desk.accept(await here.member());
    expect(await sweep(MINUTE)).toEqual({ handedOver: 0, failed: 1 });
    desk.queueIsDown = false;
    expect(await sweep(3 * MINUTE)).toEqual({ handedOver: 1, failed: 0 });
    expect(desk.jobsOf(request)).toEqual([2]);
    await answer(request);
  });

  it('is handed over by one of two sweepers that find it at the same time', async () => {
    const request = await desk.accept(await here.member());
    const { requests } = desk;
    let found = 0;
    let goOn: () => void;
    const bothHaveFound = new Promise<void>((resolve) => (goOn = resolve));
    const together = {
      ...desk.dependencies,
      requests: Object.assign(Object.create(requests) as typeof requests, {
        due: async (...query: Parameters<typeof requests.due>): Promise<RequestPage> => {
          const page = await requests.due(...query);
          const isThere = page.requests.some(({ requestId }) => requestId === request.requestId);
          if (isThere && (found += 1) === 2) goOn();
          if (isThere) await bothHaveFound;
          return page;
        },
      }),
    };
    here.now = plusMs(START, MINUTE);
    await Promise.all([sweepRequests(together), sweepRequests(together)]);
    expect(found).toBe(2);
    expect(desk.jobsOf(request)).toEqual([0, 1]);
    await answer(request);
  });

  it('that ended while a sweeper was on its way to it is not handed over', async () => {
    const request = await desk.accept(await here.member());
    await answer(request);
    expect(await desk.requests.handOverAgain(request, here.now)).toBeNull();
    expect(await desk.stored(request)).toMatchObject({ status: 'done', generation: 0 });
  });

  it('that cannot be read is reported and keeps no other waiting', async () => {
    const request = await desk.accept(await here.member());
    const item = writeAccepted({ ...request, requestId: 'broken' }, START);
    const { client, tables } = here.store;
    await client.send(
      new PutItemCommand({ TableName: tables.pipeline, Item: { ...item, path: { S: 'BY_MAGIC' } } }),
    );
    expect(await sweep(MINUTE)).toEqual({ handedOver: 1, failed: 1 });
    expect(desk.complaints).toEqual(['an accepted request cannot be read']);
    await client.send(
      new PutItemCommand({
        TableName: tables.pipeline,
        Item: marshall({ pk: 'REQUEST#broken', sk: 'REQUEST' }),
      }),
    );
    await answer(request);
  });
});

describe('a request that is asked for again', () => {
  it('is the same one, under its id', async () => {
    const record = await here.member();
    const request = await desk.accept(record);
    here.now = plusMs(START, SECOND);
    expect(await desk.accept(record, { requestId: request.requestId, by: 'somebody-else' })).toEqual(request);
    expect(desk.jobsOf(request)).toEqual([0, 0]);
    await answer(request);
    expect(await desk.accept(record, request)).toMatchObject({
      status: 'done',
      outcome: { verdict: 'collected' },
    });
    expect(desk.jobsOf(request)).toEqual([0, 0]);
  });

  it('for something else is refused, and the first one stands', async () => {
    const [record, other] = [await here.member(), await here.member()];
    const request = await desk.accept(record);
    const { requestId } = request;
    for (const field of ['userId', 'subscriptionId'] as const) {
      const mixed = { ...record, [field]: other[field] };
      await expect(desk.accept(mixed, { requestId })).rejects.toThrow(RequestConflictError);
    }
    await expect(desk.accept(record, { requestId, path: 'BATCH' })).rejects.toMatchObject({
      code: 'request-conflict',
    });
    expect(await desk.stored(request)).toEqual(request);
    await answer(request);
  });

  it('in a batch with others gives all of them, in their order', async () => {
    const records = await Promise.all(Array.from({ length: 11 }, () => here.member()));
    const orders = records.map(({ userId, subscriptionId }) => ({
      requestId: `request-${randomUUID()}`,
      path: 'BATCH' as const,
      userId,
      subscriptionId,
      by: 'olga',
    }));
    const accepted = await acceptRequests(desk.dependencies, [...orders, orders[3]!]);
    expect(accepted.map(({ requestId }) => requestId)).toEqual(
      [...orders, orders[3]!].map(({ requestId }) => requestId),
    );
    for (const request of orders)
      expect(await answer(request)).toMatchObject({ outcome: { reason: 'PINLESS' } });
  });

  it('after it was answered gives the same answer and no second charge', async () => {
    const record = await here.member();
    const request = await desk.accept(record);
    const first = await answer(request);
    const row = await here.row(record);
    expect(await answer(request)).toEqual(first);
    expect(await here.row(record)).toEqual(row);
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it.each(['intent-written', 'charged', 'outcome-written'] as const)(
    'because its process died after %s is finished, with one charge',
    async (deadly) => {
      const record = await here.member();
      const request = await desk.accept(record);
      here.onStep = (step) => {
        if (step === deadly) throw new Error('died');
      };
      await expect(answer(request)).rejects.toThrow('died');
      expect(await desk.stored(request)).toMatchObject({ status: 'accepted', outcome: null });
      here.onStep = () => undefined;

      await sweep(MINUTE);
      expect(desk.jobsOf(request)).toEqual([0, 1]);
      const outcome = { verdict: 'collected', reason: 'PINLESS' };
      expect(await answer(request)).toEqual({ outcome });
      expect(await outcomeOf(request)).toEqual(outcome);
      expect(debits(await here.ledger(record))).toBe(1);
    },
  );

  it('while somebody works on the user is left as it is', async () => {
    const record = await here.member();
    const request = await desk.accept(record);
    await here.store.takeLock(record.userId);
    expect(await answer(request)).toHaveProperty('busy.leaseMs');
    expect(await desk.stored(request)).toEqual(request);
    await here.store.releaseLock(record.userId);
    expect(await answer(request)).toMatchObject({ outcome: { verdict: 'collected' } });
  });
});

describe('a request whose job gave up', () => {
  it('has failed for that reason, and is not carried out any more', async () => {
    const record = await here.member();
    const request = await desk.accept(record);
    await failRequest(desk.dependencies, request.requestId, 'the user service is down');
    const outcome = { verdict: 'failed', reason: 'the user service is down' };
    expect(await desk.stored(request)).toEqual({ ...request, status: 'failed', outcome });
    expect(await answer(request)).toEqual({ outcome });
    expect(debits(await here.ledger(record))).toBe(0);
    await failRequest(desk.dependencies, request.requestId, 'another reason');
    await sweep(HOUR);
    expect(desk.jobsOf(request)).toEqual([0]);
    const { verdict } = await here.dependencies.pipeline.readBackground({
      ...record,
      triggerId: request.requestId,
      accountId: null,
    });
    expect(verdict).toMatchObject(outcome);
  });

  it('after it was answered keeps the answer', async () => {
    const request = await desk.accept(await here.member());
    await answer(request);
    await failRequest(desk.dependencies, request.requestId, 'too late');
    expect(await desk.stored(request)).toMatchObject({ status: 'done', outcome: { verdict: 'collected' } });
  });

  it('has the answer of its charge all the same, once that is known', async () => {
    const record = await here.member();
    const request = await desk.accept(record);
    here.onStep = (step) => {
      if (step === 'charged') throw new Error('died');
    };
    await expect(answer(request)).rejects.toThrow('died');
    here.onStep = () => undefined;
    await failRequest(desk.dependencies, request.requestId, 'died');
    expect(await findRequest(desk.dependencies, request.requestId)).toMatchObject({ status: 'failed' });
    await settleOpenAttempt(record);
    expect(await findRequest(desk.dependencies, request.requestId)).toMatchObject({
      status: 'done',
      outcome: { verdict: 'collected', reason: 'PINLESS' },
    });
  });
});

it('a charge that stayed unknown is told as it turned out', async () => {
  const record = await here.member();
  const request = await desk.accept(record);
  await here.faults([
    { id: 'lost', service: 'payments', fault: 'error-after', times: 3, match: { user_id: record.userId } },
  ]);
  expect(await answer(request)).toEqual({ outcome: { verdict: 'unknown', reason: 'no-answer' } });
  await settleOpenAttempt(record);
  expect(await answer(request)).toEqual({ outcome: { verdict: 'collected', reason: 'PINLESS' } });
  expect(await findRequest(desk.dependencies, 'nobody')).toBeNull();
});

async function settleOpenAttempt(record: Awaited<ReturnType<World['member']>>): Promise<void> {
  const { pipeline } = here.dependencies;
  const { state } = await pipeline.readBackground({ ...record, triggerId: '', accountId: null });
  const settled = await settleAttempt(here.dependencies, { abandonAfterMs: 24 * HOUR }, state.open!);
  expect(settled).toMatchObject({ settled: { verdict: 'collected' } });
}
