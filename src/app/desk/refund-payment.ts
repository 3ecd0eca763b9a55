import type { Rail, SubscriptionId, UserId } from '../../domain/subscription.ts';
import type { Verdict } from '../../domain/verdict.ts';
import type { AttemptRecord } from '../../ports/pipeline.ts';
import type { StoredSubscription } from '../../ports/subscriptions.ts';
import { rulesOf } from '../../domain/paths.ts';
import type { Case } from '../collection-case.ts';
import { refundRecord, resumeAttempt } from '../charge-subscription.ts';
import type { AskedBy, DeskDependencies, MemberFile } from './desk.ts';
import { assertNotFrozen, assertNothingOpen, backgroundOf, dataOf, recordOf, withMember } from './desk.ts';
import { Refusal } from './refusal.ts';

export interface RefundWish {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  readonly triggerId: string;
  readonly by: AskedBy;
}

/** `unknown`: the processor has not answered yet whether it was taken. The janitor asks, and sends it again. */
export interface Refund {
  readonly status: 'sent' | 'unknown';
  readonly attemptId: string;
  readonly record: StoredSubscription;
}

/**
 * Gives a payment back, once, whichever callers ask and however often: while a refund of it is on its way, or was
 * taken, that one is the answer. A freeze lets none begin; one that has begun goes on. The record is REFUNDED when the
 * payments service tells that it was.
 */
export function refundPayment(dependencies: DeskDependencies, wish: RefundWish): Promise<Refund> {
  return withMember(dependencies, wish.userId, async (member) => {
    const record = recordOf(member, wish.subscriptionId);
    const background = await backgroundOf(dependencies, member, record.subscriptionId);
    const attempts = await dependencies.pipeline.attemptsOn(record.subscriptionId);
    const earlier = earlierRefund(attempts, record);
    if (earlier !== null && earlier.resolution !== null)
      return { status: 'sent', attemptId: earlier.attemptId, record };
    assertNotRefused(attempts, wish);
    if (record.billingStatus !== 'COMPLETED' || record.transactionId === '')
      throw new Refusal(
        'not-refundable',
        `a record that is ${record.billingStatus} has no payment to give back`,
      );
    const theCase = caseOf(dependencies, member, record, wish, background.state);
    if (earlier !== null) return told(dependencies, theCase, await resumeAttempt(theCase));
    const rail = railOf(attempts, record);
    assertNotFrozen(background, rail, member.now);
    assertNothingOpen(background.state);
    return told(dependencies, theCase, await refundRecord(theCase, rail));
  });
}

/** One that is under way or was taken. What was refused may be asked for again. */
function earlierRefund(
  attempts: readonly AttemptRecord[],
  { transactionId }: StoredSubscription,
): AttemptRecord | null {
  const refunds = attempts.filter(({ refundOf }) => refundOf !== null && refundOf === transactionId);
  return refunds.find(({ resolution }) => resolution?.status !== 'FAILED') ?? null;
}

/** Whoever asks under the same key has not heard the answer, and it is the same. Under another it is another refund. */
function assertNotRefused(attempts: readonly AttemptRecord[], { triggerId }: RefundWish): void {
  const refused = attempts.find(
    (attempt) =>
      attempt.refundOf !== null && attempt.triggerId === triggerId && attempt.resolution?.status === 'FAILED',
  );
  if (refused === undefined) return;
  throw declined(`${refused.rail}-${refused.resolution?.errorCode ?? 'declined'}`);
}

const declined = (reason: string): Refusal =>
  new Refusal('refund-declined', `the processor refused to give it back: ${reason}`);

/** The way it came. The row tells it of payments that the Go service collected. */
function railOf(attempts: readonly AttemptRecord[], record: StoredSubscription): Rail {
  const paid = attempts.find(
    ({ refundOf, resolution }) => refundOf === null && resolution?.confirmationId === record.transactionId,
  );
  return paid?.rail ?? (record.receiptPaymentType === 'PINLESS' ? 'PINLESS' : 'ACH');
}

const caseOf = (
  dependencies: DeskDependencies,
  { lock, partition, now }: MemberFile,
  record: StoredSubscription,
  { triggerId, by }: RefundWish,
  state: Case['state'],
): Case => ({
  dependencies,
  triggerId,
  rules: rulesOf(record.process ?? 'NOT_IDENTIFIED'),
  lock,
  record,
  partition,
  state,
  account: null,
  now,
  plan: null,
  by: dataOf(by),
});

async function told(
  { subscriptions }: DeskDependencies,
  { record: { userId, subscriptionId } }: Case,
  { verdict, reason, attemptId }: Verdict,
): Promise<Refund> {
  if (verdict === 'refund-declined') throw declined(reason);
  const { subscriptions: rows } = await subscriptions.listByUserID(userId);
  const record = rows.find((row) => row.subscriptionId === subscriptionId);
  if (record === undefined || attemptId === null) throw new Error('a refund has a record and an attempt');
  return { status: verdict === 'unknown' ? 'unknown' : 'sent', attemptId, record };
}
