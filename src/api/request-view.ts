import { z } from 'zod';
import { floatIdOf } from '../domain/floats/record-id.ts';
import type { CollectionRequest } from '../ports/requests.ts';

/** Where a caller learns what became of an accepted request. */
export const requestUrl = ({ userId, requestId }: Pick<CollectionRequest, 'userId' | 'requestId'>): string =>
  `/v1/${encodeURIComponent(userId)}/requests/${encodeURIComponent(requestId)}`;

/** What the request is about: one of the two. */
const about = { subscription_id: z.string().optional(), float_id: z.string().optional() };

function viewOfAbout({ subscriptionId }: Pick<CollectionRequest, 'subscriptionId'>) {
  const floatId = floatIdOf(subscriptionId);
  return floatId === null ? { subscription_id: subscriptionId } : { float_id: floatId };
}

/** A promise, and where to learn what became of it. */
export const acceptedRequest = z.strictObject({
  job_id: z.string(),
  ...about,
  status_url: z.string(),
});

export const viewOfAccepted = (
  request: Pick<CollectionRequest, 'requestId' | 'userId' | 'subscriptionId'>,
): z.output<typeof acceptedRequest> => ({
  job_id: request.requestId,
  ...viewOfAbout(request),
  status_url: requestUrl(request),
});

export const requestView = z.strictObject({
  job_id: z.string(),
  ...about,
  status: z.enum(['queued', 'done', 'failed']),
  outcome: z.string().optional(),
  reason: z.string().optional(),
});

export function viewOfRequest(request: CollectionRequest): z.output<typeof requestView> {
  const { requestId, status, outcome } = request;
  return {
    job_id: requestId,
    ...viewOfAbout(request),
    status: status === 'accepted' ? 'queued' : status,
    ...(outcome === null ? {} : { outcome: outcome.verdict, reason: outcome.reason }),
  };
}
