import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import { plusDays } from '../../domain/instant.ts';
import { VERDICTS } from '../../domain/verdict.ts';
import type { CollectionRequest } from '../../ports/requests.ts';
import { REQUEST_PATHS } from '../../ports/requests.ts';
import { instant } from '../codecs.ts';
import type { PipelineKey } from './item-codec.ts';
import { dueAttributes, read, subscriptionId, ttlSeconds, userId, write } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';

export const REQUESTS = 'requests';

/** As long as the verdict that it came to. */
const ENDED_REQUEST_DAYS = 90;

export const requestKey = (requestId: string): PipelineKey => ({
  pk: `REQUEST#${requestId}`,
  sk: 'REQUEST',
});

const request = z.object({
  requestId: z.string(),
  path: z.enum(REQUEST_PATHS),
  userId,
  subscriptionId,
  by: z.string(),
  acceptedAt: instant,
  generation: z.int(),
  status: z.enum(['accepted', 'done', 'failed']),
  outcome: z.object({ verdict: z.enum(VERDICTS), reason: z.string() }).nullable(),
}) satisfies z.ZodType<CollectionRequest>;

export const readRequest = (item: RawItem): CollectionRequest => read(request, item);

/** In the list of what is to be carried out, until it has ended. */
export const writeAccepted = (content: CollectionRequest, lookAgainAt: Instant): RawItem =>
  write(request, content, {
    ...requestKey(content.requestId),
    ...dueAttributes(content.requestId, { list: REQUESTS, at: lookAgainAt }),
  });

export const writeEnded = (content: CollectionRequest, endedAt: Instant): RawItem =>
  write(request, content, {
    ...requestKey(content.requestId),
    expires_at: ttlSeconds(plusDays(endedAt, ENDED_REQUEST_DAYS)),
  });
