import { z } from 'zod';
import type { CollectionRequest } from '../ports/requests.ts';

/** Where a caller learns what became of an accepted request. */
export const requestUrl = ({ userId, requestId }: Pick<CollectionRequest, 'userId' | 'requestId'>): string =>
  `/v1/${encodeURIComponent(userId)}/requests/${encodeURIComponent(requestId)}`;

/** A promise, and where to learn what became of it. */
export const acceptedRequest = z.strictObject({
  job_id: z.string(),
  subscription_id: z.string(),
  status_url: z.string(),
});

export const viewOfAccepted = (request: CollectionRequest): z.output<typeof acceptedRequest> => ({
  job_id: request.requestId,
  subscription_id: request.subscriptionId,
  status_url: requestUrl(request),
});

export const requestView = z.strictObject({
  job_id: z.string(),
  subscription_id: z.string(),
  status: z.enum(['queued', 'done', 'failed']),
  outcome: z.string().optional(),
  reason: z.string().optional(),
});

export function viewOfRequest(request: CollectionRequest): z.output<typeof requestView> {
  const { requestId, subscriptionId, status, outcome } = request;
  return {
    job_id: requestId,
    subscription_id: subscriptionId,
    status: status === 'accepted' ? 'queued' : status,
    ...(outcome === null ? {} : { outcome: outcome.verdict, reason: outcome.reason }),
  };
}
