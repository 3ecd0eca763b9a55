import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import type { SubscriptionId } from '../../domain/subscription.ts';
import type { AchWatch } from '../../ports/ach-watches.ts';
import { instant } from '../codecs.ts';
import type { PipelineKey } from './item-codec.ts';
import { attemptId, dueAttributes, read, subscriptionId, userId, write } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';

export const ACH_WATCH = 'ach-watch';

export const watchKey = (id: SubscriptionId): PipelineKey => ({ pk: `SUB#${id}`, sk: 'WATCH' });

const watch = z.object({
  subscriptionId,
  userId,
  confirmationId: z.string().min(1),
  attemptId: attemptId.nullable(),
  sentAt: instant,
  checks: z.int(),
}) satisfies z.ZodType<AchWatch>;

export const readWatch = (item: RawItem): AchWatch => read(watch, item);

export const writeWatch = (content: AchWatch, lookAt: Instant): RawItem =>
  write(watch, content, {
    ...watchKey(content.subscriptionId),
    ...dueAttributes(content.subscriptionId, { list: ACH_WATCH, at: lookAt }),
  });
