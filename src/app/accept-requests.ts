import { RequestConflictError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { CollectionOrder, CollectionRequest, RequestStore } from '../ports/requests.ts';
import { aFewAtOnce } from './a-few-at-once.ts';
import { tellWorkers } from './tell-workers.ts';

export interface RequestDependencies {
  readonly requests: RequestStore;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Hands the request to the workers. Handing over the same generation twice must be harmless, and it must fail rather
   * than wait while the queue is away: the caller is waiting for our promise.
   */
  readonly enqueue: (request: CollectionRequest) => Promise<unknown>;
}

/** A batch is stored in reasonable time, without taking the table's capacity from runs and requests. */
const STORED_AT_ONCE = 8;

/**
 * Promises to carry the orders out. What is promised is stored first; that the queue cannot be reached does not matter
 * then, because the sweep hands over what was forgotten. Accepted again, an order is the same request.
 */
export function acceptRequests(
  dependencies: RequestDependencies,
  orders: readonly CollectionOrder[],
): Promise<CollectionRequest[]> {
  return aFewAtOnce(STORED_AT_ONCE, orders, (order) => accept(dependencies, order));
}

async function accept(dependencies: RequestDependencies, order: CollectionOrder): Promise<CollectionRequest> {
  const { requests, clock } = dependencies;
  const request: CollectionRequest = {
    ...order,
    acceptedAt: clock.now(),
    generation: 0,
    status: 'accepted',
    outcome: null,
  };
  const accepted = (await requests.add(request)) ? request : await found(dependencies, order);
  if (accepted.status === 'accepted') await handOver(dependencies, accepted);
  return accepted;
}

async function found({ requests }: RequestDependencies, order: CollectionOrder): Promise<CollectionRequest> {
  const known = await requests.get(order.requestId);
  if (known === null) throw new Error(`request ${order.requestId} was there and is gone`);
  if (isSameOrder(known, order)) return known;
  throw new RequestConflictError(`request ${order.requestId} was accepted for something else`);
}

/** The caller on record is the first one; a program that asks again under another name wants the same. */
const isSameOrder = (a: CollectionOrder, b: CollectionOrder): boolean =>
  a.path === b.path && a.userId === b.userId && a.subscriptionId === b.subscriptionId;

export function handOver(
  { enqueue, log }: Pick<RequestDependencies, 'enqueue' | 'log'>,
  request: CollectionRequest,
): Promise<boolean> {
  const { requestId, generation } = request;
  const untold = 'a request was not handed over; the sweep will do it';
  return tellWorkers(log, () => enqueue(request), { requestId, generation }, untold);
}
