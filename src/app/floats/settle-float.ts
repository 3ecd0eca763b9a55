import type { AchOutcome } from '../../domain/ach/settlement.ts';
import type { Float } from '../../domain/floats/float.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import type { Lock } from '../../ports/lock.ts';
import type { Attempt } from '../../ports/pipeline.ts';
import type { OpenCase } from '../any-product.ts';
import { planOfOpener } from '../move-money.ts';
import { readState } from '../read-state.ts';
import { recordFloatAnswer, stageOf } from './charge-float.ts';
import type { FloatCase, FloatDependencies } from './float-case.ts';
import type { FloatWordDependencies } from './float-entry.ts';
import { readFloatEntry, recordFloatWord, whatStandsAgainst } from './float-entry.ts';
import type { FloatRef } from './find-float.ts';

/** A float that could still become this waits for the bank's word. */
const PAID = { result: 'COMPLETED' } as const;

/** Null: no attempt on the float is open. */
export async function openFloatCase(
  dependencies: FloatDependencies,
  { userId, floatId }: FloatRef,
  lock: Lock,
): Promise<OpenCase | null> {
  const { floats, pipeline } = dependencies;
  const state = await readState(pipeline, { userId, subscriptionId: recordIdOf(floatId) });
  const { open: attempt } = state;
  if (attempt === null) return null;
  const float = await floats.get(floatId);
  if (float === null) throw new Error(`float ${floatId} is gone while its attempt is open`);
  const theCase = caseOfOpenFloat(dependencies, attempt, { lock, float, state });
  return {
    attempt,
    state,
    answer: (payment) => recordFloatAnswer(theCase, attempt, payment),
    giveBack: null,
  };
}

/** The case of an open attempt as its trigger had it, for the janitor or event that brings the answer. */
export function caseOfOpenFloat(
  dependencies: FloatDependencies,
  attempt: Attempt,
  { lock, float, state }: Pick<FloatCase, 'lock' | 'float' | 'state'>,
): FloatCase {
  return {
    dependencies,
    triggerId: attempt.triggerId,
    lock,
    state,
    stage: stageOf(attempt),
    float,
    account: null,
    achModel: attempt.achModel ?? null,
    now: dependencies.clock.now(),
    plan: planOfOpener(attempt),
  };
}

/** How the bank's word about an entry is written down. Null: the float does not wait for it. */
export async function waitingFloat(
  dependencies: FloatWordDependencies,
  lock: Lock,
  ids: FloatRef & { readonly confirmationId: string },
): Promise<((outcome: AchOutcome) => Promise<Float>) | null> {
  const entry = await readFloatEntry(dependencies, lock, ids);
  if (entry === null || whatStandsAgainst(entry, PAID, dependencies.clock.now()) !== null) return null;
  return (outcome) => recordFloatWord(dependencies, entry, outcome);
}
