import type { AttemptId } from '../domain/attempt.ts';
import type { Instant } from '../domain/instant.ts';
import type { Verdict, VerdictName } from '../domain/verdict.ts';
import { FactsTooOldError } from '../errors.ts';
import type { Lock, LockClient, PastSighting, Sighting } from '../ports/lock.ts';
import type { PipelineStore } from '../ports/pipeline.ts';
import type { RecordRef } from '../ports/runs.ts';
import type { OnStep } from '../ports/steps.ts';
import { whileLocked } from './while-locked.ts';

/** `busy`: another job works on this user. Nothing was read or written. */
export type CollectResult = { readonly verdict: Verdict } | { readonly busy: Sighting };

/** Considers a record while no other job does. */
export function considerLocked(
  { locks, onStep }: { readonly locks: LockClient; readonly onStep: OnStep },
  key: string,
  { seen, ...record }: RecordRef & { readonly seen?: PastSighting | undefined },
  consider: (lock: Lock) => Promise<Verdict>,
): Promise<CollectResult> {
  return whileLocked(locks, { key, seen }, async (lock) => {
    await onStep('locked', record);
    return { verdict: await onFreshFacts(() => consider(lock)) };
  });
}

const READS = 3;

/** Nothing was begun when they are too old: it is considered anew, on what holds by now. */
async function onFreshFacts(consider: () => Promise<Verdict>): Promise<Verdict> {
  for (let reads = 1; ; reads += 1) {
    try {
      return await consider();
    } catch (error) {
      if (!(error instanceof FactsTooOldError) || reads === READS) throw error;
    }
  }
}

/** A verdict that goes along with no change of the record. */
export async function leave(
  { pipeline }: { readonly pipeline: Pick<PipelineStore, 'saveVerdict'> },
  verdict: Verdict,
): Promise<Verdict> {
  await pipeline.saveVerdict(verdict);
  return verdict;
}

/** Decisions of any product that leave its record as it is. */
export type Untouched =
  | { readonly verdict: 'no-op' | 'deferred'; readonly reason: string }
  | { readonly verdict: 'skipped'; readonly reason: string; readonly until: Instant | null }
  | { readonly verdict: 'blocked'; readonly reason: string; readonly attemptId: AttemptId };

export type Judge = (
  verdict: VerdictName,
  reason: string,
  more?: { readonly attemptId?: AttemptId; readonly until?: Instant | null },
) => Verdict;

export function judgeUntouched(judge: Judge, decision: Untouched): Verdict {
  switch (decision.verdict) {
    case 'no-op':
    case 'deferred':
      return judge(decision.verdict, decision.reason);
    case 'skipped':
      return judge('skipped', decision.reason, { until: decision.until });
    case 'blocked':
      return judge('blocked', decision.reason, { attemptId: decision.attemptId });
  }
}
