import type { CalendarDate } from '../../domain/calendar-date.ts';
import { dateOf } from '../../domain/calendar-date.ts';
import { currentSubscription } from '../../domain/current-subscription.ts';
import type { Float } from '../../domain/floats/float.ts';
import type { Advance, FloatLimits } from '../../domain/floats/granting.ts';
import { bypassCounts, limitPassed, newFloat, unmetRequirement } from '../../domain/floats/granting.ts';
import type { Instant } from '../../domain/instant.ts';
import type { UserId } from '../../domain/subscription.ts';
import { DueDatePassedError, OpenFloatError, RequestConflictError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Bypasses, FloatsRepository } from '../../ports/floats.ts';
import { floatLockKey } from '../../ports/lock.ts';
import type { AccountService, UserService } from '../../ports/services.ts';
import type { SubscriptionsRepository } from '../../ports/subscriptions.ts';
import type { LockDependencies } from '../desk/desk.ts';
import { underLock } from '../desk/desk.ts';
import { Refusal } from '../desk/refusal.ts';
import { whole } from '../whole.ts';

export interface CreateFloatDependencies extends LockDependencies {
  readonly floats: Pick<FloatsRepository, 'get' | 'openOf' | 'listByUserID' | 'create'>;
  readonly subscriptions: Pick<SubscriptionsRepository, 'listByUserID'>;
  readonly bypasses: Pick<Bypasses, 'get'>;
  readonly users: Pick<UserService, 'get'>;
  readonly accounts: AccountService;
  readonly clock: Clock;
  readonly floatLimits: FloatLimits;
}

/**
 * Records a float that was paid out, if its member may have one. Asked again under the same id, it is the same float,
 * whatever has changed meanwhile. The checks are made in the order in which they are told.
 */
export function createFloat(dependencies: CreateFloatDependencies, advance: Advance): Promise<Float> {
  const { floats, clock, floatLimits } = dependencies;
  const { userId } = advance;
  return underLock(dependencies, { userId, key: floatLockKey(userId) }, async (lock) => {
    const known = await floats.get(advance.floatId);
    if (known !== null) return sameAs(known, advance);
    const now = clock.now();
    const today = dateOf(now);
    if (advance.dueDate < today) throw new DueDatePassedError(`a day from ${today} on`);
    await assertActive(dependencies, userId, now);
    const passed = limitPassed(advance, floatLimits, today);
    if (passed !== null) throw new Refusal('over-limit', passed);
    await assertNoneOpen(dependencies, userId);
    if (!(await isBypassed(dependencies, userId, today))) await assertRequirements(dependencies, userId);
    const float = newFloat(advance, now);
    await floats.create(lock.fence, float);
    return float;
  });
}

function sameAs(known: Float, { floatId, userId, amount, dueDate }: Advance): Float {
  if (known.userId === userId && known.amount === amount && known.dueDate === dueDate) return known;
  throw new RequestConflictError(`float ${floatId} was recorded with other contents`);
}

async function assertActive(
  { subscriptions, users }: CreateFloatDependencies,
  userId: UserId,
  now: Instant,
): Promise<void> {
  const { subscriptions: partition } = whole(await subscriptions.listByUserID(userId));
  const membership = currentSubscription(partition, now)?.membership ?? 'none';
  if (membership !== 'active') throw inactive(`the membership is ${membership}`);
  const status = (await users.get(userId))?.status ?? 'unknown there';
  if (status !== 'ACTIVE') throw inactive(`the user service says that the user is ${status}`);
}

const inactive = (detail: string): Refusal => new Refusal('no-active-subscription', detail);

/** Said before the requirements are looked at; that there is none is a condition of the write as well. */
async function assertNoneOpen({ floats }: CreateFloatDependencies, userId: UserId): Promise<void> {
  const [open] = await floats.openOf(userId);
  if (open !== undefined) throw new OpenFloatError(`float ${open} is not paid back`);
}

async function isBypassed(
  { bypasses }: CreateFloatDependencies,
  userId: UserId,
  today: CalendarDate,
): Promise<boolean> {
  const bypass = await bypasses.get(userId);
  return bypass !== null && bypassCounts(bypass.expirationDate, today);
}

async function assertRequirements(
  { floats, accounts }: CreateFloatDependencies,
  userId: UserId,
): Promise<void> {
  const [account, listed] = await Promise.all([accounts.primary(userId), floats.listByUserID(userId)]);
  const unmet = unmetRequirement({ hasPrimaryAccount: account !== null, floats: whole(listed).floats });
  if (unmet !== null) throw new Refusal('requirements-not-met', unmet);
}
