import type { Cents } from '../../domain/money.ts';
import { ZERO, sayMoney } from '../../domain/money.ts';
import { inPlan, termsOf } from '../../domain/plans/change-plan.ts';
import { ownRecord } from '../../domain/plans/own-record.ts';
import { prorationFor } from '../../domain/plans/proration.ts';
import type { UserId } from '../../domain/subscription.ts';
import { basePrice } from '../../domain/tiers.ts';
import type { Attempt, Background } from '../../ports/pipeline.ts';
import type { StoredSubscription } from '../../ports/subscriptions.ts';
import type { AskedBy, DeskDependencies, MemberFile } from './desk.ts';
import { assertUntouched, changeContext, withMember } from './desk.ts';
import type { OwnPayment } from './own-payment.ts';
import {
  assertMayPay,
  goOnWithOpen,
  moneyPaidInVain,
  ownBackground,
  paidBefore,
  payByCard,
} from './own-payment.ts';
import { priceIn, upcomingOf } from './plan-wish.ts';
import { Refusal } from './refusal.ts';

export interface UpgradeWish {
  readonly userId: UserId;
  readonly tierName: string;
  /** What the member agreed to pay now. */
  readonly amount: Cents;
  readonly triggerId: string;
  readonly by: AskedBy;
}

export interface Upgrade {
  readonly isKnown: boolean;
  /** Null where there was nothing to pay. */
  readonly proration: StoredSubscription | null;
  readonly upcoming: StoredSubscription | null;
}

/**
 * The better tier from now on: the rest of the current period is paid at once, and the next one is billed at the new
 * price. Validate, charge, update; paid and updated are one transaction, and where the update is not possible any more
 * by then, what was paid goes back.
 */
export function upgrade(dependencies: DeskDependencies, wish: UpgradeWish): Promise<Upgrade> {
  return withMember(dependencies, wish.userId, async (member) => {
    const background = await ownBackground(dependencies, member, wish.triggerId);
    const before = await paidBefore(dependencies, member, background);
    if (before !== null) return told(before);
    await assertMayPay(dependencies, member, background, ['ACTIVE']);
    const open = await goOnWithOpen(dependencies, member, (attempt, record) => isSame(wish, attempt, record));
    if (open !== null) return told(open);
    return begin(dependencies, wish, member, background);
  });
}

/** A caller who asks for one upgrade must not find that another was paid for. */
function isSame(wish: UpgradeWish, { upgrades, amount }: Attempt, record: StoredSubscription): boolean {
  if (upgrades === null) return false;
  if (record.receiptTierName === wish.tierName && amount === wish.amount) return true;
  throw new Refusal('attempt-open', `an upgrade to ${record.receiptTierName} has no answer yet`);
}

async function begin(
  dependencies: DeskDependencies,
  wish: UpgradeWish,
  member: MemberFile,
  background: Background,
): Promise<Upgrade> {
  const upcoming = upcomingOf(member);
  const amount = priceIn(dependencies, wish.tierName, upcoming.term);
  if (upcoming.receiptTierName === wish.tierName && !upcoming.isPendingDowngrade)
    return { isKnown: true, proration: null, upcoming };
  if (amount <= upcoming.billingAmount) {
    const prices = `${sayMoney(amount)} after ${sayMoney(upcoming.billingAmount)}`;
    throw new Refusal('not-an-upgrade', `the member would not pay more: ${prices}`);
  }
  await assertUntouched(dependencies, upcoming);
  const due = await dueNow(dependencies, wish, member, upcoming);
  if (due !== wish.amount) throw new Refusal('amount-mismatch', `the upgrade costs ${sayMoney(due)} now`);
  if (due === ZERO) return update(dependencies, wish, member, { upcoming, amount });
  const payment = {
    triggerId: wish.triggerId,
    amount: due,
    tierName: wish.tierName,
    process: 'NOT_IDENTIFIED',
    updatedEvent: '',
  } as const;
  const born = ownRecord(upcoming, payment, member.now);
  const upgrades = { subscriptionId: upcoming.subscriptionId, amount, instead: termsOf(upcoming) };
  return told(await payByCard(dependencies, member, background, { ...wish, born, upgrades }));
}

async function dueNow(
  dependencies: DeskDependencies,
  { tierName }: UpgradeWish,
  member: MemberFile,
  upcoming: StoredSubscription,
): Promise<Cents> {
  const { tiers } = dependencies;
  const isTakenBack = upcoming.isPendingDowngrade;
  if (isTakenBack && (await lastTierPaid(dependencies, member, upcoming)) === tierName) return ZERO;
  const wanted = priceIn({ tiers }, tierName, 'MONTHLY');
  const base = basePrice(tiers, 'MONTHLY');
  if (base === null) throw new Refusal('unpriced-tier', 'the base tier has no monthly price');
  const due = prorationFor({ wanted, base }, member.now, upcoming.billingDate);
  if (due === null) throw new Refusal('too-far-ahead', 'the next billing date is more than 65 days ahead');
  return due;
}

/**
 * A member who takes a downgrade back that has not come into force has paid for the better tier already; unless that
 * payment is being given back.
 */
async function lastTierPaid(
  { pipeline }: DeskDependencies,
  { partition }: MemberFile,
  upcoming: StoredSubscription,
): Promise<string | null> {
  const paid = partition.filter(
    ({ billingDate, billingStatus }) => billingStatus === 'COMPLETED' && billingDate < upcoming.billingDate,
  );
  for (const { subscriptionId, receiptTierName } of paid.reverse()) {
    const attempts = await pipeline.attemptsOn(subscriptionId);
    const isGivenBack = attempts.some(
      ({ refundOf, resolution }) => refundOf !== null && resolution?.status !== 'FAILED',
    );
    if (!isGivenBack) return receiptTierName;
  }
  return null;
}

async function update(
  { subscriptions }: DeskDependencies,
  { tierName, by }: UpgradeWish,
  member: MemberFile,
  { upcoming, amount }: { readonly upcoming: StoredSubscription; readonly amount: Cents },
): Promise<Upgrade> {
  const change = inPlan(upcoming, { tierName, amount }, false);
  const context = changeContext(member, by, 'plan-changed');
  const written = await subscriptions.add(member.lock.fence, change, context);
  return { isKnown: true, proration: null, upcoming: written };
}

function told({ verdict, record, partition }: OwnPayment): Upgrade {
  if (verdict.verdict === 'declined')
    throw new Refusal('payment-declined', `the card was declined (${verdict.reason}): nothing was charged`);
  const inVain = moneyPaidInVain(verdict);
  if (inVain !== null)
    throw new Refusal('upgrade-undone', `the next period changed while the card was charged; ${inVain}`);
  return {
    isKnown: verdict.verdict === 'collected',
    proration: record,
    upcoming: partition.find((other) => other.billingStatus === 'SCHEDULED') ?? null,
  };
}
