import type { AchOutcome } from '../domain/ach/settlement.ts';
import type { Float } from '../domain/floats/float.ts';
import { floatIdOf } from '../domain/floats/record-id.ts';
import type { AchWatch } from '../ports/ach-watches.ts';
import type { Lock } from '../ports/lock.ts';
import type { Payment } from '../ports/services.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import type { AchDependencies } from './ach-entry.ts';
import { isRecordsPayment, readEntry } from './ach-entry.ts';
import { lockKeyOfRecord } from './any-product.ts';
import type { FloatWordDependencies } from './floats/float-entry.ts';
import { waitingFloat } from './floats/settle-float.ts';
import { recordAchOutcome } from './record-ach-outcome.ts';
import { whileLocked } from './while-locked.ts';

export type AchSettlement =
  | { readonly settled: StoredSubscription | Float }
  | { readonly left: 'busy' | 'settled-meanwhile' | 'no-word-yet' };

type SettleDependencies = AchDependencies & FloatWordDependencies;

/**
 * Asks the processor what became of an ACH entry, because not every processor tells by itself and no event is sure to
 * arrive.
 */
export async function settleAch(
  dependencies: SettleDependencies,
  { userId, subscriptionId }: Pick<AchWatch, 'userId' | 'subscriptionId'>,
): Promise<AchSettlement> {
  const { locks, pipeline, processor, clock } = dependencies;
  const key = lockKeyOfRecord(userId, subscriptionId);
  const settlement = await whileLocked(locks, { key }, async (lock): Promise<AchSettlement> => {
    const watch = await pipeline.watches.get(subscriptionId);
    if (watch === null) return { left: 'settled-meanwhile' };
    const settle = await waiting(dependencies, lock, watch);
    if (settle === null) {
      await pipeline.watches.forget(watch);
      return { left: 'settled-meanwhile' };
    }
    const outcome = outcomeOf(await processor.findByConfirmation(watch.confirmationId));
    if (outcome !== null) return { settled: await settle(outcome) };
    await pipeline.watches.askAgainLater(watch, clock.now());
    return { left: 'no-word-yet' };
  });
  return 'busy' in settlement ? { left: 'busy' } : settlement;
}

/**
 * How the bank's word is written down on the record that waits for it. Null: it waits no more, or for the word about
 * another entry, which the Go service sent since.
 */
async function waiting(
  dependencies: SettleDependencies,
  lock: Lock,
  watch: AchWatch,
): Promise<((outcome: AchOutcome) => Promise<StoredSubscription | Float>) | null> {
  const floatId = floatIdOf(watch.subscriptionId);
  if (floatId !== null) return waitingFloat(dependencies, lock, { ...watch, floatId });
  const entry = await readEntry(dependencies, lock, watch);
  if (entry?.record.billingStatus !== 'ACHSENT' || !isRecordsPayment(entry)) return null;
  return (outcome) => recordAchOutcome(dependencies, entry, outcome);
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
