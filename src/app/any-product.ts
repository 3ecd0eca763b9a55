import { floatIdOf } from '../domain/floats/record-id.ts';
import { recurringOf } from '../domain/recurring/record-id.ts';
import type { Verdict } from '../domain/verdict.ts';
import { floatLockKey, recurringLockKey, subscriptionLockKey } from '../ports/lock.ts';
import type { Attempt, RecordState } from '../ports/pipeline.ts';
import type { Payment } from '../ports/services.ts';
import type { CollectDependencies } from './collection-case.ts';
import type { FloatDependencies } from './floats/float-case.ts';
import type { RecurringDependencies } from './recurring/recurring-case.ts';

/** What collecting takes, whichever product is collected. */
export type CollectAnyDependencies = CollectDependencies & FloatDependencies & RecurringDependencies;

/** The lock under which a record changes. Each product has one per member. */
export function lockKeyOfRecord(userId: string, recordId: string): string {
  if (recurringOf(recordId) !== null) return recurringLockKey(userId);
  return floatIdOf(recordId) === null ? subscriptionLockKey(userId) : floatLockKey(userId);
}

/** An attempt without an answer, and how its product writes one down. */
export interface OpenCase {
  readonly attempt: Attempt;
  readonly state: RecordState;
  answer(payment: Payment): Promise<Verdict>;
  /** Sends it again if it is a refund. Null: it is none, or there is nothing to give back any more. */
  readonly giveBack: (() => Promise<Verdict>) | null;
}
