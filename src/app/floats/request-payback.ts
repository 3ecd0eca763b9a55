import { dateOf } from '../../domain/calendar-date.ts';
import { whyNotCollected } from '../../domain/floats/due.ts';
import type { Float } from '../../domain/floats/float.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import { owns } from '../../domain/ownership.ts';
import { MalformedRowError } from '../../errors.ts';
import type { CollectionHistory, FloatsRepository } from '../../ports/floats.ts';
import type { AccountService } from '../../ports/services.ts';
import type { CardRefusal, PaymentDependencies, RequestedPayment } from '../request-payment.ts';
import { obstacleToCard, promisePayment } from '../request-payment.ts';
import type { FloatRef } from './find-float.ts';
import { findFloat } from './find-float.ts';

export interface PaybackDependencies extends Omit<PaymentDependencies, 'subscriptions'> {
  readonly floats: Pick<FloatsRepository, 'get'>;
  readonly collectionHistory: CollectionHistory;
  readonly accounts: AccountService;
}

export type PaybackRefusal = CardRefusal | { readonly reason: 'no-debit-card' };

export interface PaybackOrder extends FloatRef {
  readonly requestId: string;
  readonly by: string;
}

/** Promises to charge the member's card for a float because the member wants to pay it back now. */
export function requestPayback(
  dependencies: PaybackDependencies,
  order: PaybackOrder,
): Promise<RequestedPayment<PaybackRefusal>> {
  const { requestId, userId, floatId, by } = order;
  return promisePayment(
    dependencies,
    { requestId, path: 'FLOAT_PAYBACK', userId, subscriptionId: recordIdOf(floatId), by },
    () => whyRefused(dependencies, order),
  );
}

async function whyRefused(
  dependencies: PaybackDependencies,
  order: PaybackOrder,
): Promise<PaybackRefusal | null> {
  try {
    const float = await findFloat(dependencies, order);
    if (float === null) return { reason: 'unknown-record' };
    if (!owns(dependencies.owned, order.userId)) return { reason: 'not-owned' };
    return await obstacleToPayback(dependencies, float, order.requestId);
  } catch (error) {
    if (error instanceof MalformedRowError) return { reason: 'unreadable' };
    throw error;
  }
}

async function obstacleToPayback(
  { pipeline, collectionHistory, accounts, clock }: PaybackDependencies,
  float: Float,
  triggerId: string,
): Promise<PaybackRefusal | null> {
  const { userId, floatId, status } = float;
  const subscriptionId = recordIdOf(floatId);
  // Of the log nothing is needed but that it can be read: with a row that cannot be, the worker would not charge.
  const [background] = await Promise.all([
    pipeline.readBackground({ userId, subscriptionId, triggerId, accountId: null }),
    collectionHistory.getByFloatID(floatId),
  ]);
  const now = clock.now();
  if (whyNotCollected('SUPPORT', float, dateOf(now)) !== null) return { reason: 'not-payable', status };
  const obstacle = obstacleToCard(background, now);
  if (obstacle !== null) return obstacle;
  const account = await accounts.primary(userId);
  return account?.hasDebitCard === true ? null : { reason: 'no-debit-card' };
}
