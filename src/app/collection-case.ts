import type { AttemptId } from '../domain/attempt.ts';
import type { Instant } from '../domain/instant.ts';
import { hasLaterPeriod, nextPeriod } from '../domain/next-period.ts';
import type { PathRules } from '../domain/paths.ts';
import type { Plan } from '../domain/plan.ts';
import type { CollectionPolicy } from '../domain/policy.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Cause } from '../domain/transitions.ts';
import type { Verdict, VerdictName } from '../domain/verdict.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lock, LockClient } from '../ports/lock.ts';
import type { PipelineStore, RecordState } from '../ports/pipeline.ts';
import type { ProcessorGate } from '../ports/processor-gate.ts';
import type { AccountService, PrimaryAccount, Processor, UserService } from '../ports/services.ts';
import type { OnStep } from '../ports/steps.ts';
import type {
  StoredSubscription,
  SubscriptionToWrite,
  SubscriptionsRepository,
} from '../ports/subscriptions.ts';
import type { Timer } from '../ports/timer.ts';
import type { Write } from '../ports/transaction.ts';
import { verdictOf } from './verdict-of.ts';

export interface CollectDependencies {
  readonly locks: LockClient;
  readonly subscriptions: SubscriptionsRepository;
  readonly pipeline: PipelineStore;
  readonly users: Pick<UserService, 'get'>;
  readonly accounts: AccountService;
  readonly processor: Processor;
  readonly gate: ProcessorGate;
  readonly policy: CollectionPolicy;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly processorTimeoutMs: number;
  readonly onStep: OnStep;
}

/** A record among the others of its user, at the moment of deciding about it. */
export interface Considered {
  readonly record: Subscription;
  readonly partition: readonly Subscription[];
  readonly now: Instant;
}

/** A record under consideration: everything that was read about it under the user's lock. */
export interface Case {
  readonly dependencies: CollectDependencies;
  readonly triggerId: string;
  readonly rules: PathRules;
  readonly lock: Lock;
  readonly record: StoredSubscription;
  readonly partition: readonly StoredSubscription[];
  readonly state: RecordState;
  readonly account: PrimaryAccount | null;
  readonly now: Instant;
  /** What was decided about it. Null where nothing was to be decided: a caller asked for it. */
  readonly plan: Plan | null;
  /** Who asked for it and why, for the history. */
  readonly by?: Readonly<Record<string, string>>;
}

export interface CaseChange {
  readonly cause: Cause;
  readonly change: SubscriptionToWrite;
  readonly next?: readonly Subscription[];
  /** Other records of the member that change with it, each for its own reason. */
  readonly along?: readonly { readonly record: StoredSubscription; readonly cause: Cause }[];
  readonly judgement?: Verdict;
  readonly writes?: readonly Write[];
  readonly attemptId?: AttemptId;
  /** The attempt that begins with the outcome of this one. */
  readonly opens?: AttemptId | undefined;
}

export const judged = (
  { record, triggerId, now, plan }: Case,
  verdict: VerdictName,
  reason: string,
  more: { readonly attemptId?: AttemptId; readonly until?: Instant | null } = {},
): Verdict =>
  verdictOf({ ...record, triggerId, at: now }, verdict, reason, {
    amount: record.billingAmount,
    plan,
    ...more,
  });

/**
 * The period after this one, to be written with the first attempt on it. None when the record was tried before (it was
 * written then) or when a later one is there.
 */
export function nextPeriodOf({ record, partition, now }: Considered, change: Subscription): Subscription[] {
  if (record.initialRunDate !== null || hasLaterPeriod(record, partition)) return [];
  return [nextPeriod(change, partition, now)];
}

/** One transaction: the record, its successor, the verdict, and what else belongs to it. Gives the case as it is then. */
export async function commit(
  theCase: Omit<Case, 'record'>,
  { cause, change, next = [], along = [], judgement, writes = [], attemptId, opens }: CaseChange,
): Promise<Case> {
  const { dependencies, lock, partition, triggerId, by = {} } = theCase;
  const { subscriptions, pipeline, clock } = dependencies;
  const others = along.map(({ record: other }) => other);
  const written = await subscriptions.addAll(lock.fence, [change, ...others, ...next], {
    now: clock.now(),
    cause,
    causes: new Map(along.map(({ record: { subscriptionId }, cause: own }) => [subscriptionId, own])),
    partition: { subscriptions: partition, malformed: [] },
    data: {
      trigger_id: triggerId,
      ...by,
      ...(attemptId === undefined ? {} : { attempt_id: attemptId }),
      ...(opens === undefined ? {} : { opened_attempt_id: opens }),
    },
    also: [...writes, ...(judgement === undefined ? [] : [pipeline.judge(judgement)])],
  });
  const ids = new Set(written.map(({ subscriptionId }) => subscriptionId));
  const record = written.find(({ subscriptionId }) => subscriptionId === change.subscriptionId);
  if (record === undefined) throw new Error('the record is among what was written');
  const untouched = partition.filter(({ subscriptionId }) => !ids.has(subscriptionId));
  return { ...theCase, record, partition: [...untouched, ...written] };
}
