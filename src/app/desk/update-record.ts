import type { SupportUpdate } from '../../domain/plans/support-update.ts';
import { planSupportUpdate } from '../../domain/plans/support-update.ts';
import type { SubscriptionId, UserId } from '../../domain/subscription.ts';
import type { StoredSubscription } from '../../ports/subscriptions.ts';
import type { AskedBy, DeskDependencies, MemberDependencies, MemberFile } from './desk.ts';
import { assertUntouched, changeContext, recordOf, withMember } from './desk.ts';
import { Refusal } from './refusal.ts';

export type UpdateDependencies = MemberDependencies & Pick<DeskDependencies, 'pipeline' | 'tiers'>;

export interface RecordUpdate extends SupportUpdate {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  readonly by: AskedBy;
}

/** What support does to one record: its status, its date, the length of its pause. One transaction. */
export function updateRecord(
  dependencies: UpdateDependencies,
  update: RecordUpdate,
): Promise<StoredSubscription> {
  return withMember(dependencies, update.userId, async (member) => {
    const record = recordOf(member, update.subscriptionId);
    await assertUntouched(dependencies, record);
    const { tiers } = dependencies;
    const plan = planSupportUpdate(record, update, { ...member, tiers });
    switch (plan.plan) {
      case 'nothing':
        return record;
      case 'refused':
        throw new Refusal(plan.reason, plan.detail);
      case 'change':
        return save(dependencies, member, { ...plan, record, by: update.by });
    }
  });
}

async function save(
  { subscriptions }: UpdateDependencies,
  member: MemberFile,
  {
    record,
    change,
    next,
    by,
  }: {
    readonly record: StoredSubscription;
    readonly change: StoredSubscription;
    readonly next: Parameters<DeskDependencies['subscriptions']['addAll']>[1];
    readonly by: AskedBy;
  },
): Promise<StoredSubscription> {
  const context = changeContext(member, by, 'support-changed');
  const { fence } = member.lock;
  if (change.billingDate !== record.billingDate)
    return subscriptions.adminUpdate(fence, record, change, context);
  const written = await subscriptions.addAll(fence, [change, ...next], context);
  return recordOf({ ...member, partition: written }, change.subscriptionId);
}
