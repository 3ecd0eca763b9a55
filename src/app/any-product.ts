import { floatIdOf } from '../domain/floats/record-id.ts';
import type { Verdict } from '../domain/verdict.ts';
import { floatLockKey, subscriptionLockKey } from '../ports/lock.ts';
import type { Attempt, RecordState } from '../ports/pipeline.ts';
import type { Payment } from '../ports/services.ts';
import type { CollectDependencies } from './collection-case.ts';
import type { FloatDependencies } from './floats/float-case.ts';

/** What collecting takes, whichever product is collected. */
export type CollectAnyDependencies = CollectDependencies & FloatDependencies;

/** The lock under which a record changes. Each product has one per member. */
export const lockKeyOfRecord = (userId: string, recordId: string): string =>
  floatIdOf(recordId) === null ? subscriptionLockKey(userId) : floatLockKey(userId);

/** An attempt without an answer, and how its product writes one down. */
export interface OpenCase {
  readonly attempt: Attempt;
  readonly state: RecordState;
  answer(payment: Payment): Promise<Verdict>;
}
