import { decide } from '../domain/decide.ts';
import type { Facts } from '../domain/decision.ts';
import type { Instant } from '../domain/instant.ts';
import { PATHS } from '../domain/paths.ts';
import { planOf } from '../domain/plan.ts';
import type { CollectionPolicy } from '../domain/policy.ts';
import type { BillingProcess } from '../domain/runs.ts';
import { PATH_OF_RUN, dueRange, isInRange, runId } from '../domain/runs.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { SubscriptionsRepository } from '../ports/subscriptions.ts';
import { askOnce } from './ask-once.ts';
import type { DuePage } from './due-page.ts';
import type { ForecastSum } from './forecast-sum.ts';
import type { FactSources } from './gather-facts.ts';
import { gatherFacts } from './gather-facts.ts';
import { whatFollows } from './what-follows.ts';

export interface BillingForecastSources extends FactSources {
  readonly subscriptions: Pick<SubscriptionsRepository, 'listByUserID'>;
  readonly policy: CollectionPolicy;
}

export interface BillingForecastRequest {
  readonly process: BillingProcess;
  readonly asOf: Instant;
}

/** All about one user: `records` are those of the user's that one page names. */
export async function foretellBilling(
  dependencies: BillingForecastSources,
  request: BillingForecastRequest,
  { list, records }: Pick<DuePage, 'list' | 'records'>,
  sum: ForecastSum,
): Promise<void> {
  const [first] = records;
  if (first === undefined) return;
  const { subscriptions: partition, malformed } = await dependencies.subscriptions.listByUserID(first.userId);
  if (malformed.length > 0) {
    sum.malformed += records.length;
    return;
  }
  const range = dueRange(request.process, request.asOf, dependencies.policy);
  const sources = { ...dependencies, ...askOnce(dependencies) };
  for (const { subscriptionId } of records) {
    const record = partition.find((one) => one.subscriptionId === subscriptionId);
    // Gone since the index listed it. The run decides nothing about such a record either.
    if (record === undefined) continue;
    // A run considers a record once; one that is on both lists was counted with the first.
    if (list === 'resumes' && isInRange(range, record)) continue;
    await foretellRecord(sources, request, record, partition, sum);
  }
}

async function foretellRecord(
  dependencies: BillingForecastSources,
  request: BillingForecastRequest,
  record: Subscription,
  partition: readonly Subscription[],
  sum: ForecastSum,
): Promise<void> {
  const { process, asOf } = request;
  await sum.unlessUnreachable(async () => {
    const { facts } = await gatherFacts(dependencies, {
      path: PATH_OF_RUN[process],
      record,
      partition,
      triggerId: runId(process, asOf),
      now: asOf,
    });
    foretell(dependencies, request, record, facts, sum);
  });
}

/** The record, and then each period that would be opened by it and be due in the same run. */
function foretell(
  { policy }: Pick<BillingForecastSources, 'policy'>,
  { process, asOf }: BillingForecastRequest,
  record: Subscription,
  facts: Facts,
  sum: ForecastSum,
): void {
  const path = PATH_OF_RUN[process];
  const range = dueRange(process, asOf, policy);
  let about = { record, facts };
  for (;;) {
    const decision = decide(path, about.record, about.facts, policy, asOf);
    const { plan, reason } = planOf(decision);
    sum.plans.add(plan, reason, about.record.billingAmount);
    const considered = { record: about.record, partition: about.facts.partition, now: asOf };
    const after = whatFollows(decision, considered, PATHS[path]);
    if (after === null || !isInRange(range, after.opens)) return;
    const { partition, opens } = after;
    about = { record: opens, facts: { ...about.facts, partition, attempts: [], openAttempt: null } };
  }
}
