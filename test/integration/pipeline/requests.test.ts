import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptRequests } from '../../../src/app/accept-requests.ts';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { DynamoRequests } from '../../../src/adapters/dynamodb/requests.ts';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import type { CollectionOrder, CollectionRequest, RequestPath } from '../../../src/ports/requests.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';

let system: Pipeline;
let requests: DynamoRequests;

beforeAll(async () => {
  system = await pipeline();
  const { client, tables } = system.here.store;
  requests = new DynamoRequests({ client, table: tables.pipeline });
});
afterAll(() => system.close());

const order = (path: RequestPath, { userId, subscriptionId }: StoredSubscription): CollectionOrder => ({
  requestId: randomUUID(),
  path,
  userId,
  subscriptionId,
  by: 'a test',
});

const accept = (
  orders: readonly CollectionOrder[],
  enqueue: (request: CollectionRequest) => Promise<void>,
): Promise<CollectionRequest[]> =>
  acceptRequests({ requests, clock: { now: () => system.here.now }, log: NO_LOG, enqueue }, orders);

const answered = ({ requestId }: CollectionOrder): Promise<CollectionRequest> =>
  eventually('the request is answered', async () => {
    const request = await requests.get(requestId);
    return request?.status === 'done' && request;
  });

describe('a request that was accepted', () => {
  it('is carried out by the path that it asks for', async () => {
    await system.worker();
    const [batch] = await system.members(1);
    const [webhook, balance, manual] = await system.members(3, {}, { billingStatus: 'ERROR' });
    const orders = [
      order('BATCH', batch!),
      order('WEBHOOK', webhook!),
      order('WEBHOOK_BALANCE', balance!),
      order('MANUAL_REPAYMENT', manual!),
    ];
    await accept(orders, (request) => system.queues.addRequest(request));
    for (const each of orders) {
      expect(await answered(each)).toMatchObject({ outcome: { verdict: 'collected' } });
      const row = await system.here.row(each as unknown as StoredSubscription);
      expect(row).toMatchObject({ billingStatus: 'COMPLETED', process: each.path });
    }
  });

  it('while Redis could not be reached is handed over by the sweep, and charged once', async () => {
    const [record] = await system.members(1);
    const asked = order('MANUAL_REPAYMENT', record!);
    await accept([asked], () => Promise.reject(new Error('Redis is away')));

    const later = plusMs(TICK, 5 * 60_000);
    await system.here.bank('PUT', '/clock', { now: formatInstant(later), frozen: true });
    const scheduler = await system.scheduler();
    expect(await answered(asked)).toMatchObject({ outcome: { verdict: 'collected' } });
    expect(await debitsOf(system.here, [record!])).toEqual([1]);
    expect(await scheduler.stop()).toBe(0);
    const violations = await system.audit();
    expect(violations.filter((line) => line.includes(record!.userId))).toEqual([]);
  });
});
