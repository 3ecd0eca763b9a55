import { isProvisional } from '../domain/verdict.ts';
import type { PipelineStore } from '../ports/pipeline.ts';
import type { CollectionRequest, RequestStore } from '../ports/requests.ts';

export interface FindDependencies {
  readonly requests: Pick<RequestStore, 'get'>;
  readonly pipeline: Pick<PipelineStore, 'readBackground'>;
}

/**
 * The request as it stands. One that ended without an answer to its charge has the outcome that the janitor, or a run
 * that resumed the charge, has learnt since.
 */
export async function findRequest(
  { requests, pipeline }: FindDependencies,
  requestId: string,
): Promise<CollectionRequest | null> {
  const request = await requests.get(requestId);
  if (request === null || request.outcome === null || !isUncertain(request.outcome.verdict)) return request;
  const { userId, subscriptionId } = request;
  const { verdict: newest } = await pipeline.readBackground({
    userId,
    subscriptionId,
    triggerId: requestId,
    accountId: null,
  });
  if (newest === null || isProvisional(newest)) return request;
  return { ...request, status: 'done', outcome: { verdict: newest.verdict, reason: newest.reason } };
}

const isUncertain = (verdict: string): boolean => verdict === 'unknown' || verdict === 'failed';
