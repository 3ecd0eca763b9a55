import type { Stage } from '../domain/floats/float.ts';
import { floatIdOf } from '../domain/floats/record-id.ts';
import type { PastSighting, Sighting } from '../ports/lock.ts';
import type { CollectionRequest, RequestOutcome, RequestStore } from '../ports/requests.ts';
import type { CollectAnyDependencies } from './any-product.ts';
import type { CollectResult } from './consider.ts';
import { collectSubscription } from './collect-subscription.ts';
import { findRequest } from './find-request.ts';
import { collectFloat } from './floats/collect-float.ts';
import { verdictOf } from './verdict-of.ts';

export interface AnswerDependencies extends CollectAnyDependencies {
  readonly requests: RequestStore;
}

/** `busy`: another job works on this user. The request stays as it is. */
export type RequestAnswer = { readonly outcome: RequestOutcome } | { readonly busy: Sighting };

/**
 * Carries an accepted request out and stores what came of it. However often it is asked for, also at the same time or
 * after a crash anywhere in it, the record is considered once: the request is the trigger.
 */
export async function answerRequest(
  dependencies: AnswerDependencies,
  requestId: string,
  seen?: PastSighting,
): Promise<RequestAnswer> {
  const request = await existing(dependencies, requestId);
  if (request.outcome !== null) return { outcome: request.outcome };
  const result = await collect(dependencies, request, seen);
  if ('busy' in result) return result;
  const { verdict, reason } = result.verdict;
  const outcome: RequestOutcome = { verdict, reason };
  await dependencies.requests.close(request, { status: 'done', outcome, at: dependencies.clock.now() });
  return { outcome };
}

function collect(
  dependencies: AnswerDependencies,
  { requestId: triggerId, path, userId, subscriptionId }: CollectionRequest,
  seen: PastSighting | undefined,
): Promise<CollectResult> {
  const ofFloat = (stage: Stage): Promise<CollectResult> => {
    const floatId = floatIdOf(subscriptionId);
    if (floatId === null) throw new Error(`request ${triggerId} asks for a float, not ${subscriptionId}`);
    return collectFloat(dependencies, { stage, userId, floatId, triggerId, seen });
  };
  switch (path) {
    case 'FLOAT_PAYBACK':
      return ofFloat('SUPPORT');
    case 'FLOAT_WEBHOOK':
      return ofFloat('WEBHOOK');
    default:
      return collectSubscription(dependencies, { path, userId, subscriptionId, triggerId, seen });
  }
}

/** For a job that gave up. What was answered meanwhile stays. */
export async function failRequest(
  dependencies: Pick<AnswerDependencies, 'requests' | 'pipeline' | 'clock'>,
  requestId: string,
  reason: string,
): Promise<void> {
  const request = await existing(dependencies, requestId);
  if (request.outcome !== null) return;
  const { requests, pipeline, clock } = dependencies;
  const at = clock.now();
  const outcome = { verdict: 'failed', reason } as const;
  // First the record's own account of it: an operator who asks why it was not collected looks there.
  await pipeline.saveVerdict(
    verdictOf({ ...request, triggerId: requestId, at }, outcome.verdict, outcome.reason),
  );
  await requests.close(request, { status: 'failed', outcome, at });
}

async function existing(
  dependencies: Pick<AnswerDependencies, 'requests' | 'pipeline'>,
  requestId: string,
): Promise<CollectionRequest> {
  const request = await findRequest(dependencies, requestId);
  if (request === null) throw new Error(`there is a job for request ${requestId}, which nobody accepted`);
  return request;
}
