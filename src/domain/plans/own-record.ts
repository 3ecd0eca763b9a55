import { v5 as uuidV5 } from 'uuid';
import type { Instant } from '../instant.ts';
import type { Cents } from '../money.ts';
import { newRecord } from '../new-record.ts';
import type { Subscription, SubscriptionId } from '../subscription.ts';
import { dateOfItsOwn } from './upcoming.ts';

const NAMESPACE = '0f9d3a52-7c1e-5b84-9d6a-2e8b4c7f1a30';

/** Named after the request: asked again, it is the same record. */
export const ownRecordId = (triggerId: string): SubscriptionId =>
  uuidV5(triggerId, NAMESPACE) as SubscriptionId;

type Like = Pick<Subscription, 'userId' | 'term' | 'billingWeek'>;

export interface OwnPayment {
  readonly triggerId: string;
  readonly amount: Cents;
  readonly tierName: string;
  readonly process: 'REACTIVATION' | 'NOT_IDENTIFIED';
  readonly updatedEvent: string;
}

/**
 * A record that a charge brings into the world. It is CANCELLED until it is paid: no run looks at it, a decline leaves
 * it as it is, and nothing has to be undone if the charge never gets an answer.
 */
export function ownRecord(like: Like, payment: OwnPayment, now: Instant): Subscription {
  const { userId, term, billingWeek } = like;
  const born = newRecord({
    userId,
    term,
    billingWeek,
    subscriptionId: ownRecordId(payment.triggerId),
    billingDate: dateOfItsOwn(now),
    billingAmount: payment.amount,
    receiptTierName: payment.tierName,
    process: payment.process,
    createdDate: now,
  });
  return { ...born, billingStatus: 'CANCELLED', completionDate: now, updatedEvent: payment.updatedEvent };
}
