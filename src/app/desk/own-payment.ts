import type { UserFacts } from '../../domain/decision.ts';
import { rulesOf } from '../../domain/paths.ts';
import { ownRecordId } from '../../domain/plans/own-record.ts';
import type { Subscription } from '../../domain/subscription.ts';
import type { Verdict } from '../../domain/verdict.ts';
import type { Attempt, Background } from '../../ports/pipeline.ts';
import type { PrimaryAccount } from '../../ports/services.ts';
import type { StoredSubscription } from '../../ports/subscriptions.ts';
import type { Case } from '../collection-case.ts';
import { chargeNewRecord, isToGiveBack, resumeAttempt } from '../charge-subscription.ts';
import { caseOfOpen } from '../settle-attempt.ts';
import type { AskedBy, DeskDependencies, MemberFile } from './desk.ts';
import { assertNotFrozen, backgroundOf, dataOf, recordOf } from './desk.ts';
import { Refusal } from './refusal.ts';

/*
 * Payments by card that the member asks for and that make their own record: reactivations and prorations. A repeat of
 * the same request, or any other while one has no answer yet, goes on with the same payment.
 */

/** A charge for whatever it is, and what came of it. */
export interface OwnPayment {
  readonly verdict: Verdict;
  readonly record: StoredSubscription;
  readonly partition: readonly StoredSubscription[];
}

/** What became of the money where it was paid in vain. Null: it was not, or whether it goes back is not known yet. */
export function moneyPaidInVain({ verdict, reason }: Verdict): string | null {
  if (verdict === 'refund-sent') return 'what was paid goes back';
  return verdict === 'refund-declined' ? `the processor refused to give back what was paid: ${reason}` : null;
}

interface Asked {
  readonly triggerId: string;
  readonly by: AskedBy;
}

/**
 * What this very request came to before. Null: it is new, or its charge has no answer yet. What was paid in vain goes back
 * whatever else stands against the member by now.
 */
export async function paidBefore(
  dependencies: DeskDependencies,
  member: MemberFile,
  { verdict, state }: Background,
): Promise<OwnPayment | null> {
  if (verdict === null) return null;
  if (state.open === null) return told(dependencies, member, verdict);
  if (state.open.refundOf === null) return null;
  const record = recordOf(member, verdict.subscriptionId);
  if (!isToGiveBack(record, state.open))
    throw new Refusal('attempt-open', 'what was paid goes back, or has gone back: nobody knows yet');
  return goOn(dependencies, member, record, state.open, state);
}

/** What forbids any charge now. Which users may pay for what differs. */
export async function assertMayPay(
  { users }: DeskDependencies,
  member: MemberFile,
  background: Background,
  statuses: readonly string[],
): Promise<void> {
  assertNothingForbids(background, member);
  const user = await users.get(member.userId);
  if (user === null) throw new Refusal('not-found', 'the user service has no such user');
  const objection = objectionTo(user, statuses);
  if (objection !== null) throw new Refusal('user-not-eligible', objection);
}

function assertNothingForbids(background: Background, { now }: MemberFile): void {
  if (background.membershipEvent === 'unapplied')
    throw new Refusal('user-busy', 'an event of this member waits to be applied');
  assertNotFrozen(background, 'PINLESS', now);
}

function objectionTo({ status, isEmployee }: UserFacts, statuses: readonly string[]): string | null {
  if (!statuses.includes(status)) return `the user is ${status}`;
  return isEmployee ? 'employees are not charged' : null;
}

/** A payment of this kind that has no answer yet goes on before another may begin. */
export async function goOnWithOpen(
  dependencies: DeskDependencies,
  member: MemberFile,
  isOfThisKind: (attempt: Attempt, record: StoredSubscription) => boolean | Promise<boolean>,
): Promise<OwnPayment | null> {
  for (const record of member.partition.filter(mayBeUnderWay)) {
    const background = await backgroundOf(dependencies, member, record.subscriptionId);
    const { state } = background;
    if (state.open === null || !(await isOfThisKind(state.open, record))) continue;
    // Once more: other services were asked meanwhile, and may have taken their time.
    assertNothingForbids(background, member);
    return goOn(dependencies, member, record, state.open, state);
  }
  return null;
}

async function goOn(
  dependencies: DeskDependencies,
  member: MemberFile,
  record: StoredSubscription,
  open: Attempt,
  state: Case['state'],
): Promise<OwnPayment> {
  const { lock, partition } = member;
  const theCase = caseOfOpen(dependencies, open, { lock, partition, record, state });
  return told(dependencies, member, await resumeAttempt(theCase));
}

const mayBeUnderWay = ({ billingStatus, initialRunDate }: Subscription): boolean =>
  billingStatus === 'CANCELLED' && initialRunDate === null;

export async function payByCard(
  dependencies: DeskDependencies,
  member: MemberFile,
  { state }: Background,
  asked: Asked & { readonly born: Subscription; readonly upgrades?: Attempt['upgrades'] },
): Promise<OwnPayment> {
  const account = await dependencies.accounts.primary(member.userId);
  if (account?.hasDebitCard !== true) throw new Refusal('no-debit-card', 'the member has no debit card');
  const theCase = caseOf(dependencies, member, asked, state, account);
  const verdict = await chargeNewRecord(theCase, asked.born, asked.upgrades ?? null);
  return told(dependencies, member, verdict);
}

export const ownBackground = (
  dependencies: DeskDependencies,
  member: MemberFile,
  triggerId: string,
): Promise<Background> => backgroundOf(dependencies, member, ownRecordId(triggerId), triggerId);

const caseOf = (
  dependencies: DeskDependencies,
  { lock, partition, now }: MemberFile,
  { born, triggerId, by }: Asked & { readonly born: Subscription },
  state: Case['state'],
  account: PrimaryAccount,
): Omit<Case, 'record'> => ({
  dependencies,
  triggerId,
  rules: rulesOf(born.process ?? 'NOT_IDENTIFIED'),
  lock,
  partition,
  state,
  account,
  now,
  plan: { plan: 'charge', reason: 'PINLESS' },
  by: dataOf(by),
});

async function told(
  { subscriptions }: DeskDependencies,
  { userId }: MemberFile,
  verdict: Verdict,
): Promise<OwnPayment> {
  const { subscriptions: partition } = await subscriptions.listByUserID(userId);
  const record = partition.find(({ subscriptionId }) => subscriptionId === verdict.subscriptionId);
  if (record === undefined) throw new Error(`record ${verdict.subscriptionId} was paid for and is gone`);
  return { verdict, record, partition };
}
