import { billedOf, mayBeBilledBeside } from '../domain/plans/coming-back.ts';
import type { Attempt, PipelineStore } from '../ports/pipeline.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import { isOneUnderWay } from './read-state.ts';

/**
 * Whether a membership goes on beside the way back, so that coming back is paid for in vain: the cancellation was taken back,
 * and these weeks are billed there, or were paid by hand and nobody knows yet whether that worked.
 */
export const isBilledBeside = async (
  pipeline: Pick<PipelineStore, 'readBackground'>,
  attempt: Opening,
  partition: readonly StoredSubscription[],
): Promise<boolean> =>
  wasBilledSince(attempt, partition) || isOneUnderWay(pipeline, partition.filter(mayBeBilledBeside));

type Opening = Pick<Attempt, 'billedBefore' | 'openedAt'>;

/** Attempts from before the count was kept have only their time. */
const wasBilledSince = (
  { billedBefore, openedAt }: Opening,
  partition: readonly StoredSubscription[],
): boolean =>
  billedBefore === undefined
    ? partition.some(({ initialRunDate }) => initialRunDate !== null && initialRunDate > openedAt)
    : billedOf(partition) > billedBefore;
