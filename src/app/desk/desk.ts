import type { Instant } from '../../domain/instant.ts';
import type { OwnedUsers } from '../../domain/ownership.ts';
import { owns } from '../../domain/ownership.ts';
import { isFrozen } from '../../domain/obstacles.ts';
import type { Rail, SubscriptionId, UserId } from '../../domain/subscription.ts';
import type { Tiers } from '../../domain/tiers.ts';
import { RecordChangedError } from '../../errors.ts';
import type { Lock } from '../../ports/lock.ts';
import { subscriptionLockKey } from '../../ports/lock.ts';
import type { Background, RecordState } from '../../ports/pipeline.ts';
import type { UserService } from '../../ports/services.ts';
import type { ChangeContext, StoredSubscription } from '../../ports/subscriptions.ts';
import type { CollectDependencies } from '../collection-case.ts';
import { readState } from '../read-state.ts';
import { whileLocked } from '../while-locked.ts';
import { Refusal } from './refusal.ts';

export interface DeskDependencies extends CollectDependencies {
  readonly users: UserService;
  readonly tiers: Tiers;
  readonly owned: OwnedUsers;
}

/** Who asks for a change, and why if they said so. */
export interface AskedBy {
  readonly who: string;
  readonly reason?: string | undefined;
}

/** A member whose lock is held: every record, as it is now. */
export interface MemberFile {
  readonly userId: UserId;
  readonly lock: Lock;
  readonly partition: readonly StoredSubscription[];
  readonly now: Instant;
}

/** What a look at a member takes: nothing that could charge one. */
export type MemberDependencies = Pick<DeskDependencies, 'locks' | 'subscriptions' | 'owned' | 'clock'>;

/** Does the work under the member's lock, on everything that is known about the member. */
export function withMember<T extends object>(
  dependencies: MemberDependencies,
  userId: UserId,
  work: (member: MemberFile) => Promise<T>,
): Promise<T> {
  const { subscriptions, clock } = dependencies;
  return underLock(dependencies, { userId, key: subscriptionLockKey(userId) }, async (lock) => {
    const { subscriptions: partition, malformed } = await subscriptions.listByUserID(userId);
    if (malformed.length > 0)
      throw new Refusal('malformed-record', 'nothing changes until somebody has mended it');
    return work({ userId, lock, partition, now: clock.now() });
  });
}

export type LockDependencies = Pick<DeskDependencies, 'locks' | 'owned'>;

/** Does the work under one of the locks of a member who is ours. */
export async function underLock<T extends object>(
  { locks, owned }: LockDependencies,
  { userId, key }: { readonly userId: UserId; readonly key: string },
  work: (lock: Lock) => Promise<T>,
): Promise<T> {
  if (!owns(owned, userId)) throw new Refusal('not-owned', 'the other service bills this member');
  const result = await whileLocked(locks, { key }, (lock) => work(lock).catch(refuseChanged));
  if ('busy' in result) throw busy();
  return result;
}

/** An account that is being closed takes no lock. */
function refuseChanged(error: unknown): never {
  throw error instanceof RecordChangedError ? busy() : error;
}

const busy = (): Refusal => new Refusal('user-busy', 'somebody else works on this member');

export function recordOf({ partition }: MemberFile, subscriptionId: SubscriptionId): StoredSubscription {
  const record = partition.find((row) => row.subscriptionId === subscriptionId);
  if (record === undefined) throw new Refusal('not-found', 'no such record of this user');
  return record;
}

export const backgroundOf = (
  { pipeline }: Pick<DeskDependencies, 'pipeline'>,
  { userId }: Pick<MemberFile, 'userId'>,
  subscriptionId: SubscriptionId,
  triggerId = '',
): Promise<Background> => pipeline.readBackground({ userId, subscriptionId, triggerId, accountId: null });

/** While it is not known what became of a charge, its record stays as it is. */
export function assertNothingOpen({ open }: RecordState): void {
  if (open !== null) throw new Refusal('attempt-open', 'a charge or refund of this record has no answer yet');
}

export async function assertUntouched(
  { pipeline }: Pick<DeskDependencies, 'pipeline'>,
  record: StoredSubscription,
): Promise<void> {
  assertNothingOpen(await readState(pipeline, record));
}

export function assertNotFrozen({ freezes }: Background, rail: Rail, now: Instant): void {
  const scope = (['global', 'user', rail] as const).find((each) => isFrozen(freezes, each, now));
  if (scope !== undefined) throw new Refusal('frozen', `frozen: ${scope}`);
}

/** What every change by hand is written with. */
export const changeContext = (
  { partition, now }: MemberFile,
  by: AskedBy,
  cause: ChangeContext['cause'],
): ChangeContext => ({
  now,
  cause,
  partition: { subscriptions: partition, malformed: [] },
  data: dataOf(by),
});

export const dataOf = ({ who, reason }: AskedBy): Record<string, string> => ({
  who,
  ...(reason === undefined ? {} : { reason }),
});
