import type { AchOutcome } from '../domain/ach/settlement.ts';
import type { AchWatch } from '../ports/ach-watches.ts';
import { subscriptionLockKey } from '../ports/lock.ts';
import type { Payment } from '../ports/services.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import type { AchDependencies } from './ach-entry.ts';
import { readEntry } from './ach-entry.ts';
import { recordAchOutcome } from './record-ach-outcome.ts';

export type AchSettlement =
  { readonly settled: StoredSubscription } | { readonly left: 'busy' | 'settled-meanwhile' | 'no-word-yet' };

/**
 * Asks the processor what became of an ACH entry, because not every processor tells by itself and no event is sure to
 * arrive.
 */
export async function settleAch(
  dependencies: AchDependencies,
  { userId, subscriptionId }: Pick<AchWatch, 'userId' | 'subscriptionId'>,
): Promise<AchSettlement> {
  const { locks, pipeline, processor, clock } = dependencies;
  const acquired = await locks.acquire(subscriptionLockKey(userId));
  if ('busy' in acquired) return { left: 'busy' };
  try {
    const watch = await pipeline.watches.get(subscriptionId);
    if (watch === null) return { left: 'settled-meanwhile' };
    const entry = await readEntry(dependencies, acquired.lock, watch);
    if (entry?.record.billingStatus !== 'ACHSENT') {
      await pipeline.watches.forget(watch);
      return { left: 'settled-meanwhile' };
    }
    const outcome = outcomeOf(await processor.findByConfirmation(watch.confirmationId));
    if (outcome !== null) return { settled: await recordAchOutcome(dependencies, entry, outcome) };
    await pipeline.watches.askAgainLater(watch, clock.now());
    return { left: 'no-word-yet' };
  } finally {
    await acquired.lock.release();
  }
}

/** A payment that the processor does not know says nothing about the money, so it is asked about again. */
function outcomeOf(payment: Payment | null): AchOutcome | null {
  switch (payment?.status) {
    case 'COMPLETED':
      return { result: 'COMPLETED' };
    case 'FAILED':
      return { result: 'RETURNED', returnCode: payment.errorCode, message: payment.errorMessage };
    case 'ACHSENT':
    case undefined:
      return null;
  }
}
