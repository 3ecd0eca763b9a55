import type { Subscription } from './subscription.ts';
import { ACCOUNT_CLOSED, PENDING_CANCELLATION } from './subscription.ts';

/** How a record says that its member has gone. */
const REASONS = {
  [PENDING_CANCELLATION]: 'pending-cancellation',
  [ACCOUNT_CLOSED]: 'account-closed',
} as const;

export type LeavingReason = (typeof REASONS)[keyof typeof REASONS];

/**
 * Why the record is not charged any more, in whatever status it is: a charge that was under way when its member left is
 * written down, and when the money comes back it is not asked for again.
 */
export const whyLeft = ({ updatedEvent }: Pick<Subscription, 'updatedEvent'>): LeavingReason | null =>
  Object.hasOwn(REASONS, updatedEvent) ? REASONS[updatedEvent as keyof typeof REASONS] : null;

/** Cancelled: what is still to come of the membership is not billed. */
export const isLeaving = ({ updatedEvent }: Pick<Subscription, 'updatedEvent'>): boolean =>
  updatedEvent === PENDING_CANCELLATION;
