import type { UserId } from '../../domain/subscription.ts';
import type { BanLog } from '../../ports/bans.ts';
import type { Clock } from '../../ports/clock.ts';
import type { UserService } from '../../ports/services.ts';
import { Refusal } from './refusal.ts';

export interface BanDependencies {
  readonly users: UserService;
  readonly bans: BanLog;
  readonly clock: Clock;
}

/**
 * The user service bans; runs then cancel what is still to be billed. The caller's name is noted first: a ban without a
 * note would be worse than a note about one that failed. May be repeated.
 */
export async function banUser(
  { users, bans, clock }: BanDependencies,
  { userId, who, reason }: { readonly userId: UserId; readonly who: string; readonly reason: string },
): Promise<void> {
  if ((await users.get(userId)) === null) throw notThere();
  await bans.note({ userId, who, reason, at: clock.now() });
  if (!(await users.ban(userId, reason))) throw notThere();
}

const notThere = (): Refusal => new Refusal('not-found', 'the user service has no such user');
