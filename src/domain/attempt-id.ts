import { createHash } from 'node:crypto';
import type { AttemptId } from './attempt.ts';
import type { Rail, SubscriptionId } from './subscription.ts';

/**
 * The same record, trigger and rail always give the same attempt, and the attempt is the processor's idempotency key:
 * a job that runs twice can only repeat its own charge.
 */
export const attemptId = (subscriptionId: SubscriptionId, triggerId: string, rail: Rail): AttemptId =>
  createHash('sha256')
    .update(JSON.stringify([subscriptionId, triggerId, rail]))
    .digest('hex')
    .slice(0, 40) as AttemptId;

/** Giving back is another thing than taking, asked for by the same. */
export const refundId = (subscriptionId: SubscriptionId, triggerId: string, rail: Rail): AttemptId =>
  attemptId(subscriptionId, `refund:${triggerId}`, rail);
