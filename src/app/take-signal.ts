import { COLLECTED_BY } from '../domain/floats/due.ts';
import { recordIdOf } from '../domain/floats/record-id.ts';
import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import { requestIdOf } from '../domain/request-id.ts';
import type { Signal } from '../domain/signals.ts';
import { whyIgnored } from '../domain/signals.ts';
import { MalformedRowError } from '../errors.ts';
import type { FloatsRepository } from '../ports/floats.ts';
import type { CollectionOrder, CollectionRequest, RequestPath } from '../ports/requests.ts';
import type { SignalStore } from '../ports/signals.ts';
import type { SubscriptionsRepository } from '../ports/subscriptions.ts';
import type { RequestDependencies } from './accept-requests.ts';
import { acceptRequests } from './accept-requests.ts';

export interface SignalDependencies extends RequestDependencies {
  readonly subscriptions: Pick<SubscriptionsRepository, 'listByUserID'>;
  readonly floats: Pick<FloatsRepository, 'get' | 'openOf'>;
  readonly signals: SignalStore;
  readonly owned: OwnedUsers;
}

export type TakenSignal =
  | { readonly ignored: string }
  /** `countsAs` is the signal that came first when this one came shortly after it. */
  | { readonly ignored: null; readonly countsAs: string; readonly requests: readonly CollectionRequest[] };

/** Something that the member owes, and by which path it is asked for. */
type Owed = Pick<CollectionOrder, 'path' | 'subscriptionId'>;

const PATH_OF_SIGNAL: Record<Signal['kind'], RequestPath> = {
  income: 'WEBHOOK',
  balance: 'WEBHOOK_BALANCE',
};

/** A wage is often seen by several feeds within minutes. One of them is enough to look once. */
const COALESCE_MS = 10 * 60_000;

/**
 * Asks for every period that the member still owes and, when income came in, for the float. The requests are stored
 * before this returns; sent again, also after a crash in the middle of it, the signal gives the same requests.
 */
export async function takeSignal(
  dependencies: SignalDependencies,
  signal: Signal,
  by: string,
): Promise<TakenSignal> {
  const { signals, owned, clock } = dependencies;
  const now = clock.now();
  const { userId, signalId } = signal;
  const ignored = owns(owned, userId) ? whyIgnored(signal, now) : 'not-owned';
  if (ignored !== null) return { ignored };
  const [periods, floats] = await Promise.all([
    owedPeriods(dependencies, signal),
    signal.kind === 'income' ? owedFloats(dependencies, signal) : [],
  ]);
  const owed = [...periods, ...floats];
  if (owed.length === 0) return { ignored: null, countsAs: signalId, requests: [] };
  const counted = await signals.take(signal, now, COALESCE_MS);
  const orders = owed.map((each) => orderOf({ ...signal, signalId: counted.signalId }, each, by));
  return {
    ignored: null,
    countsAs: counted.signalId,
    requests: await acceptRequests(dependencies, orders),
  };
}

async function owedPeriods(
  { subscriptions, log }: SignalDependencies,
  { userId, kind }: Signal,
): Promise<Owed[]> {
  const partition = await subscriptions.listByUserID(userId);
  for (const error of partition.malformed) log.error({ err: error }, 'a row of a signalled user');
  return partition.subscriptions
    .filter(({ billingStatus }) => billingStatus === 'ERROR')
    .map(({ subscriptionId }) => ({ subscriptionId, path: PATH_OF_SIGNAL[kind] }));
}

/** Floats know of income only. */
async function owedFloats({ floats, log }: SignalDependencies, { userId }: Signal): Promise<Owed[]> {
  const owed: Owed[] = [];
  for (const floatId of await floats.openOf(userId)) {
    const float = await floats.get(floatId).catch((error: unknown) => {
      if (!(error instanceof MalformedRowError)) throw error;
      log.error({ err: error }, 'a float of a signalled user');
      return null;
    });
    if (float !== null && COLLECTED_BY.WEBHOOK.includes(float.status))
      owed.push({ subscriptionId: recordIdOf(floatId), path: 'FLOAT_WEBHOOK' });
  }
  return owed;
}

const orderOf = (
  { kind, userId, signalId }: Signal,
  { subscriptionId, path }: Owed,
  by: string,
): CollectionOrder => ({
  requestId: requestIdOf(kind, userId, signalId, subscriptionId),
  path,
  userId,
  subscriptionId,
  by,
});
