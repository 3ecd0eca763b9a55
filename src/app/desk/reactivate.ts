import { isLeaving } from '../../domain/leaving.ts';
import { ownRecord } from '../../domain/plans/own-record.ts';
import { REACTIVATED, isComingBack } from '../../domain/plans/coming-back.ts';
import { isPeriod, isToCome } from '../../domain/plans/upcoming.ts';
import type { Instant } from '../../domain/instant.ts';
import type { BillingStatus, Subscription, UserId } from '../../domain/subscription.ts';
import { ACCOUNT_CLOSED } from '../../domain/subscription.ts';
import type { Attempt } from '../../ports/pipeline.ts';
import type { StoredSubscription } from '../../ports/subscriptions.ts';
import { isBilledBeside } from '../billed-beside.ts';
import type { AskedBy, DeskDependencies, MemberFile } from './desk.ts';
import { assertUntouched, withMember } from './desk.ts';
import type { OwnPayment } from './own-payment.ts';
import {
  assertMayPay,
  goOnWithOpen,
  moneyPaidInVain,
  ownBackground,
  paidBefore,
  payByCard,
} from './own-payment.ts';
import { priceIn } from './plan-wish.ts';
import { Refusal } from './refusal.ts';

export interface ReactivationWish {
  readonly userId: UserId;
  readonly triggerId: string;
  readonly by: AskedBy;
}

export interface Reactivation {
  readonly isKnown: boolean;
  readonly record: StoredSubscription;
  readonly next: StoredSubscription | null;
}

/** The user service calls a cancelled membership PAUSED until it hears that it was paid for again. */
const MAY_COME_BACK = ['ACTIVE', 'PAUSED'];

/**
 * A member comes back: the card is charged now for a new period, and the next one is scheduled. What the member had
 * cancelled, and was still to come, is over with it.
 */
export async function reactivate(
  dependencies: DeskDependencies,
  wish: ReactivationWish,
): Promise<Reactivation> {
  const payment = await withMember(dependencies, wish.userId, (member) =>
    payToComeBack(dependencies, wish, member),
  );
  const { verdict, record, partition } = payment;
  if (verdict.verdict === 'declined')
    throw new Refusal('payment-declined', `the card was declined (${verdict.reason}): nothing was charged`);
  const inVain = moneyPaidInVain(verdict);
  if (inVain !== null)
    throw new Refusal('reactivation-undone', `the membership went on while the card was charged; ${inVain}`);
  const next = partition.find((other) => isToCome(other) && other.billingDate > record.billingDate);
  return { isKnown: verdict.verdict === 'collected', record, next: next ?? null };
}

async function payToComeBack(
  dependencies: DeskDependencies,
  wish: ReactivationWish,
  member: MemberFile,
): Promise<OwnPayment> {
  const background = await ownBackground(dependencies, member, wish.triggerId);
  const before = await paidBefore(dependencies, member, background);
  if (before !== null) return before;
  await assertMayPay(dependencies, member, background, MAY_COME_BACK);
  const open = await goOnWithOpen(dependencies, member, (attempt, record) =>
    isStillWanted(dependencies, member, attempt, record),
  );
  if (open !== null) return open;
  const last = lastPeriod(member);
  await assertNothingUnderWay(dependencies, member);
  const amount = priceIn(dependencies, last.receiptTierName, last.term);
  const payment = {
    triggerId: wish.triggerId,
    amount,
    tierName: last.receiptTierName,
    process: 'REACTIVATION',
    updatedEvent: REACTIVATED,
  } as const;
  const born = ownRecord(last, payment, member.now);
  return payByCard(dependencies, member, background, { ...wish, born });
}

/** Being paid ends what was cancelled and still to come. A charge of it without an answer may turn out to have been made. */
async function assertNothingUnderWay(dependencies: DeskDependencies, member: MemberFile): Promise<void> {
  for (const record of member.partition.filter(hasLeft)) await assertUntouched(dependencies, record);
}

/**
 * Nothing else was said since. A charge that may not have been made yet is not made for a member who has left again, or
 * whose old membership goes on: it was billed, or is being paid for by hand.
 */
const isStillWanted = async (
  { pipeline }: DeskDependencies,
  { partition }: MemberFile,
  attempt: Attempt,
  record: Subscription,
): Promise<boolean> =>
  isComingBack(record) &&
  record.updatedEvent === REACTIVATED &&
  !(await isBilledBeside(pipeline, attempt, partition));

/** Cancelled, and still to come; asked to come back, and did not go on with that just now; or over with the account. */
const hasLeft = (record: Subscription): boolean =>
  (isToCome(record) && isLeaving(record)) ||
  isComingBack(record) ||
  (record.billingStatus === 'CANCELLED' && record.updatedEvent === ACCOUNT_CLOSED);

/** Paid by hand before its time, say, and still owed where that came back: to be charged now is to pay for it twice. */
const isTakenAhead = (record: Subscription, now: Instant): boolean =>
  isPeriod(record) && record.billingDate > now && TAKEN.has(record.billingStatus);

const TAKEN: ReadonlySet<BillingStatus> = new Set(['COMPLETED', 'ACHSENT', 'ERROR']);

/** What the member had before, and comes back to. */
function lastPeriod({ partition, now }: MemberFile): StoredSubscription {
  if (partition.some((record) => isToCome(record) && !isLeaving(record)))
    throw new Refusal('already-active', 'the member has a period to come');
  if (partition.some((record) => isTakenAhead(record, now)))
    throw new Refusal('already-active', 'a period that is still to begin is paid, or was tried');
  const last = partition.findLast(isPeriod) ?? partition.at(-1);
  if (last === undefined) throw new Refusal('membership-ended', 'there never was a membership: activate one');
  return last;
}
