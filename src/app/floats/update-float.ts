import type { Float } from '../../domain/floats/float.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import type { SupportWish } from '../../domain/floats/support.ts';
import { planFloatSupport } from '../../domain/floats/support.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FloatsRepository } from '../../ports/floats.ts';
import { floatLockKey } from '../../ports/lock.ts';
import type { PipelineStore } from '../../ports/pipeline.ts';
import type { AskedBy, LockDependencies } from '../desk/desk.ts';
import { underLock } from '../desk/desk.ts';
import { Refusal } from '../desk/refusal.ts';
import { readState } from '../read-state.ts';
import type { FloatRef } from './find-float.ts';
import { findFloat } from './find-float.ts';
import { isEntryUnderWay } from './float-entry.ts';

export interface UpdateFloatDependencies extends LockDependencies {
  readonly floats: Pick<FloatsRepository, 'get' | 'save'>;
  readonly pipeline: PipelineStore;
  readonly clock: Clock;
}

export interface FloatUpdate extends FloatRef {
  readonly status: SupportWish;
  readonly by: AskedBy;
}

/** What support makes of a float, and its row of the log: one transaction. */
export function updateFloat(
  dependencies: UpdateFloatDependencies,
  { userId, floatId, status, by }: FloatUpdate,
): Promise<Float> {
  return underLock(dependencies, { userId, key: floatLockKey(userId) }, async (lock) => {
    const float = await findFloat(dependencies, { userId, floatId });
    if (float === null) throw new Refusal('not-found', 'no such float of this user');
    const state = await readState(dependencies.pipeline, { userId, subscriptionId: recordIdOf(floatId) });
    const plan = planFloatSupport(float, status, state.open, dependencies.clock.now());
    if (plan.plan === 'refused') throw new Refusal(CODES[plan.reason], plan.detail);
    // Also of a float whose advance came back: asked for now, it could be paid twice.
    if (isEntryUnderWay(state))
      throw new Refusal('attempt-open', 'the bank has not said yet what became of a debit');
    const { entry } = plan.change;
    const said = { who: by.who, reason: by.reason ?? null };
    const change = { ...plan.change, entry: entry && { ...entry, said } };
    await dependencies.floats.save(lock.fence, float, change);
    return change.float;
  });
}

const CODES = { 'open-attempt': 'attempt-open', 'illegal-transition': 'illegal-transition' } as const;
