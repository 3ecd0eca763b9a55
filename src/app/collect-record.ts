import { floatIdOf } from '../domain/floats/record-id.ts';
import { STAGE_OF_RUN, isFloatProcess } from '../domain/floats/runs.ts';
import { recurringOf } from '../domain/recurring/record-id.ts';
import { isRecurringProcess } from '../domain/recurring/runs.ts';
import type { CollectingProcess } from '../domain/runs.ts';
import { PATH_OF_RUN } from '../domain/runs.ts';
import type { ConsideredAs } from '../ports/metrics.ts';
import type { CollectAnyDependencies } from './any-product.ts';
import type { CollectRequest } from './collect-subscription.ts';
import { collectSubscription } from './collect-subscription.ts';
import type { CollectResult } from './consider.ts';
import { collectFloat } from './floats/collect-float.ts';
import { collectRecurring } from './recurring/collect-recurring.ts';

export type RunRequest = Omit<CollectRequest, 'path'> & { readonly process: CollectingProcess };

/** Under which name a run considers its records: that of its path or stage. */
export function consideredAs(process: CollectingProcess): ConsideredAs {
  if (isRecurringProcess(process)) return 'RECURRING';
  return isFloatProcess(process) ? STAGE_OF_RUN[process] : PATH_OF_RUN[process];
}

/** One record that a run has handed over, of whichever product. */
export function collectRecord(
  dependencies: CollectAnyDependencies,
  { process, ...request }: RunRequest,
): Promise<CollectResult> {
  const { userId, subscriptionId, triggerId, seen } = request;
  if (isRecurringProcess(process)) {
    const ref = recurringOf(subscriptionId);
    if (ref === null) throw new Error(`${subscriptionId} is no recurring payment`);
    return collectRecurring(dependencies, { ...ref, triggerId, seen });
  }
  if (!isFloatProcess(process))
    return collectSubscription(dependencies, { ...request, path: PATH_OF_RUN[process] });
  const floatId = floatIdOf(subscriptionId);
  if (floatId === null) throw new Error(`${subscriptionId} is no float`);
  return collectFloat(dependencies, { stage: STAGE_OF_RUN[process], userId, floatId, triggerId, seen });
}
