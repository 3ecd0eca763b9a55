import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import { requestIdOf } from '../domain/request-id.ts';
import type { Signal } from '../domain/signals.ts';
import { whyIgnored } from '../domain/signals.ts';
import type { SubscriptionId } from '../domain/subscription.ts';
import type { CollectionOrder, CollectionRequest, RequestPath } from '../ports/requests.ts';
import type { SignalStore } from '../ports/signals.ts';
import type { SubscriptionsRepository } from '../ports/subscriptions.ts';
import type { RequestDependencies } from './accept-requests.ts';
import { acceptRequests } from './accept-requests.ts';

export interface SignalDependencies extends RequestDependencies {
  readonly subscriptions: Pick<SubscriptionsRepository, 'listByUserID'>;
  readonly signals: SignalStore;
  readonly owned: OwnedUsers;
}

export type TakenSignal =
  | { readonly ignored: string }
  /** `countsAs` is the signal that came first when this one came shortly after it. */
  | { readonly ignored: null; readonly countsAs: string; readonly requests: readonly CollectionRequest[] };

const PATH_OF_SIGNAL: Record<Signal['kind'], RequestPath> = {
  income: 'WEBHOOK',
  balance: 'WEBHOOK_BALANCE',
};

/** A wage is often seen by several feeds within minutes. One of them is enough to look once. */
const COALESCE_MS = 10 * 60_000;

/**
 * Asks for every period that the member still owes. The requests are stored before this returns; sent again, also after
 * a crash in the middle of it, the signal gives the same requests.
 */
export async function takeSignal(
  dependencies: SignalDependencies,
  signal: Signal,
  by: string,
): Promise<TakenSignal> {
  const { subscriptions, signals, owned, clock, log } = dependencies;
  const now = clock.now();
  const { userId, signalId } = signal;
  const ignored = owns(owned, userId) ? whyIgnored(signal, now) : 'not-owned';
  if (ignored !== null) return { ignored };
  const partition = await subscriptions.listByUserID(userId);
  for (const error of partition.malformed) log.error({ err: error }, 'a row of a signalled user');
  const owed = partition.subscriptions.filter(({ billingStatus }) => billingStatus === 'ERROR');
  if (owed.length === 0) return { ignored: null, countsAs: signalId, requests: [] };
  const counted = await signals.take(signal, now, COALESCE_MS);
  const orders = owed.map(({ subscriptionId }) =>
    orderOf({ ...signal, signalId: counted.signalId }, subscriptionId, by),
  );
  return {
    ignored: null,
    countsAs: counted.signalId,
    requests: await acceptRequests(dependencies, orders),
  };
}

const orderOf = (
  { kind, userId, signalId }: Signal,
  subscriptionId: SubscriptionId,
  by: string,
): CollectionOrder => ({
  requestId: requestIdOf(kind, userId, signalId, subscriptionId),
  path: PATH_OF_SIGNAL[kind],
  userId,
  subscriptionId,
  by,
});
