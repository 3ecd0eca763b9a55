import { notCollected } from '../domain/decide.ts';
import type { Instant } from '../domain/instant.ts';
import type { LeavingReason } from '../domain/leaving.ts';
import { whyLeft } from '../domain/leaving.ts';
import { isFrozen } from '../domain/obstacles.ts';
import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import type { Background, PipelineStore } from '../ports/pipeline.ts';
import type { CollectionOrder, CollectionRequest } from '../ports/requests.ts';
import type { SubscriptionsRepository } from '../ports/subscriptions.ts';
import type { RequestDependencies } from './accept-requests.ts';
import { acceptRequests } from './accept-requests.ts';

export interface PaymentDependencies extends RequestDependencies {
  readonly subscriptions: Pick<SubscriptionsRepository, 'listByUserID'>;
  readonly pipeline: Pick<PipelineStore, 'readBackground'>;
  readonly owned: OwnedUsers;
}

export type PaymentOrder = Omit<CollectionOrder, 'path'>;

/** Why nothing was promised, whatever is to be paid. */
export type CardRefusal =
  | { readonly reason: 'unknown-record' | 'unreadable' | 'not-owned' | 'attempt-open' }
  | { readonly reason: 'not-payable'; readonly status: string }
  | { readonly reason: 'frozen'; readonly scope: 'global' | 'user' | 'PINLESS' };

export type PaymentRefusal = CardRefusal | { readonly reason: LeavingReason };

export type RequestedPayment<R> = { readonly accepted: CollectionRequest } | { readonly refused: R };

/** Promises to charge the member's card for one period because the member asks for it. */
export const requestPayment = (
  dependencies: PaymentDependencies,
  order: PaymentOrder,
): Promise<RequestedPayment<PaymentRefusal>> =>
  promisePayment(dependencies, { ...order, path: 'MANUAL_REPAYMENT' }, () => whyRefused(dependencies, order));

/**
 * Looks first, without the lock, so that a member who cannot pay now hears it at once; the worker looks again under the
 * lock and has the last word.
 */
export async function promisePayment<R>(
  dependencies: RequestDependencies,
  order: CollectionOrder,
  look: () => Promise<R | null>,
): Promise<RequestedPayment<R>> {
  const refused = await look();
  // What stands against it may be this very request, asked for before: its charge is open, or has been made.
  if (refused !== null && (await dependencies.requests.get(order.requestId)) === null) return { refused };
  const [accepted] = await acceptRequests(dependencies, [order]);
  if (accepted === undefined) throw new Error('one order in, one request out');
  return { accepted };
}

async function whyRefused(
  { subscriptions, pipeline, owned, clock }: PaymentDependencies,
  { userId, subscriptionId, requestId }: PaymentOrder,
): Promise<PaymentRefusal | null> {
  const [partition, background] = await Promise.all([
    subscriptions.listByUserID(userId),
    pipeline.readBackground({ userId, subscriptionId, triggerId: requestId, accountId: null }),
  ]);
  // With a row that cannot be read nothing is written about this member, whichever it is.
  if (partition.malformed.length > 0) return { reason: 'unreadable' };
  const record = partition.subscriptions.find((one) => one.subscriptionId === subscriptionId);
  if (record === undefined) return { reason: 'unknown-record' };
  if (!owns(owned, userId)) return { reason: 'not-owned' };
  const now = clock.now();
  if (notCollected('MANUAL_REPAYMENT', record, now) !== null)
    return { reason: 'not-payable', status: record.billingStatus };
  const obstacle = obstacleToCard(background, now);
  if (obstacle !== null) return obstacle;
  const left = whyLeft(record);
  return left === null ? null : { reason: left };
}

/** What keeps a card from being charged now, whatever for. */
export function obstacleToCard({ state, freezes }: Background, now: Instant): CardRefusal | null {
  if (state.open !== null) return { reason: 'attempt-open' };
  const scope = (['global', 'user', 'PINLESS'] as const).find((each) => isFrozen(freezes, each, now));
  return scope === undefined ? null : { reason: 'frozen', scope };
}
