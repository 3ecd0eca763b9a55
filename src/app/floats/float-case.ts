import type { AttemptId } from '../../domain/attempt.ts';
import type { FloatPolicy } from '../../domain/floats/policy.ts';
import type { AchModel, Float, Stage } from '../../domain/floats/float.ts';
import type { FloatChange } from '../../domain/floats/outcomes.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Plan } from '../../domain/plan.ts';
import type { Verdict, VerdictName } from '../../domain/verdict.ts';
import type { AchRouting, CollectionHistory, FloatsRepository } from '../../ports/floats.ts';
import type { LockClient } from '../../ports/lock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { AccountService, PrimaryAccount, UserService } from '../../ports/services.ts';
import type { Write } from '../../ports/transaction.ts';
import type { Chargeable, MoneyDependencies } from '../move-money.ts';
import { verdictOf } from '../verdict-of.ts';

export interface FloatDependencies extends MoneyDependencies {
  readonly locks: LockClient;
  readonly floats: FloatsRepository;
  readonly collectionHistory: CollectionHistory;
  readonly users: Pick<UserService, 'get'>;
  readonly accounts: AccountService;
  readonly achRouting: AchRouting;
  readonly floatPolicy: FloatPolicy;
  readonly log: Pick<Log, 'error'>;
  readonly metrics: Pick<Metrics, 'floatOverpaid' | 'subscriptionOverpaid'>;
}

/** A float under consideration: everything that was read about it under its member's lock. */
export interface FloatCase extends Chargeable {
  readonly dependencies: FloatDependencies;
  readonly stage: Stage;
  readonly float: Float;
  readonly account: PrimaryAccount | null;
  /** What an ACH debit is decided by. */
  readonly achModel: AchModel | null;
  readonly now: Instant;
  readonly plan: Plan | null;
}

export const judgedFloat = (
  { float: { floatId, userId, amount }, triggerId, now, plan }: FloatCase,
  verdict: VerdictName,
  reason: string,
  more: { readonly attemptId?: AttemptId; readonly until?: Instant | null } = {},
): Verdict =>
  verdictOf({ userId, subscriptionId: recordIdOf(floatId), triggerId, at: now }, verdict, reason, {
    amount,
    plan,
    ...more,
  });

/** One transaction: the float, its row of the log and what goes along. Gives the case as it is then. */
export async function saveFloat(
  theCase: FloatCase,
  change: FloatChange,
  also: readonly Write[] = [],
): Promise<FloatCase> {
  const { dependencies, lock, float } = theCase;
  await dependencies.floats.save(lock.fence, float, change, also);
  return { ...theCase, float: change.float };
}
