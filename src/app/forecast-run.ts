import { decide } from '../domain/decide.ts';
import type { Facts } from '../domain/decision.ts';
import type { Instant } from '../domain/instant.ts';
import { formatInstant, plusDays, wholeSecond } from '../domain/instant.ts';
import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import { PATHS } from '../domain/paths.ts';
import type { PlanName } from '../domain/plan.ts';
import { planOf } from '../domain/plan.ts';
import type { CollectingProcess } from '../domain/runs.ts';
import { PATH_OF_RUN, dueRange, isInRange, runId } from '../domain/runs.ts';
import type { Subscription } from '../domain/subscription.ts';
import { ServiceDownError, TooFarAheadError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Forecast, RecordRef } from '../ports/runs.ts';
import type { PageKey } from '../ports/subscriptions.ts';
import type { Timer } from '../ports/timer.ts';
import { aFewAtOnce } from './a-few-at-once.ts';
import { askOnce } from './ask-once.ts';
import type { DuePage, DueSources } from './due-page.ts';
import { readDuePage } from './due-page.ts';
import { evenly } from './evenly.ts';
import type { FactSources } from './gather-facts.ts';
import { gatherFacts } from './gather-facts.ts';
import { Tallies } from './run-report.ts';
import { whatFollows } from './what-follows.ts';

export interface ForecastDependencies extends DueSources, FactSources {
  readonly owned: OwnedUsers;
  readonly clock: Clock;
  readonly timer: Timer;
  /** Users asked about per second. */
  readonly ratePerS: number;
}

export interface ForecastRequest {
  readonly process: CollectingProcess;
  readonly asOf: Instant;
}

export interface ForecastProgress {
  /** Of the records that were found due so far. More are found while pages are read. */
  readonly looked: number;
  readonly due: number;
}

/**
 * A quarter of a year. Later, most of what a run would find are periods that other runs have opened and charged until
 * then: to foretell them as one run's would be wrong, and for a year with one digit too many it would never end.
 */
const HORIZON_DAYS = 92;

/** Enough to keep the rate although every user takes a few round trips. */
const USERS_AT_ONCE = 20;

/**
 * What a run would decide if it were started at that moment and nothing changed: the same records, the same facts and the
 * same decision. It takes no lock and writes nothing. What the bank would answer it cannot know.
 */
export async function forecastRun(
  dependencies: ForecastDependencies,
  request: ForecastRequest,
  onProgress: (progress: ForecastProgress) => void,
): Promise<Forecast> {
  const { process, asOf } = request;
  assertWithinHorizon(asOf, dependencies.clock.now());
  const sum = new ForecastSum();
  const turn = evenly(dependencies.timer, dependencies.ratePerS);
  let cursor: PageKey | null = null;
  do {
    const page: DuePage = await readDuePage(dependencies, { process, tick: asOf, startedAt: null, cursor });
    const ours = page.records.filter(({ userId }) => owns(dependencies.owned, userId));
    sum.due += ours.length;
    sum.malformed += page.malformed.length;
    onProgress(sum);
    await aFewAtOnce(USERS_AT_ONCE, byUser(ours), async (records) => {
      await turn();
      await foretellUser(dependencies, request, { list: page.list, records }, sum);
      sum.looked += records.length;
      onProgress(sum);
    });
    cursor = page.nextKey;
  } while (cursor !== null);
  const { due, malformed, unreachable, plans } = sum;
  return { process, asOf, ...plans.total(), byPlan: plans.tallies(), due, malformed, unreachable };
}

function assertWithinHorizon(asOf: Instant, now: Instant): void {
  const horizon = plusDays(now, HORIZON_DAYS);
  if (asOf > horizon)
    throw new TooFarAheadError(
      `at most ${HORIZON_DAYS} days ahead, that is ${formatInstant(wholeSecond(horizon))}`,
    );
}

class ForecastSum implements ForecastProgress {
  readonly plans = new Tallies<PlanName>();
  looked = 0;
  due = 0;
  malformed = 0;
  unreachable = 0;
}

/** All about one user: `records` are those of the user's that one page names. */
async function foretellUser(
  dependencies: ForecastDependencies,
  request: ForecastRequest,
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
  dependencies: ForecastDependencies,
  request: ForecastRequest,
  record: Subscription,
  partition: readonly Subscription[],
  sum: ForecastSum,
): Promise<void> {
  const { process, asOf } = request;
  try {
    const { facts } = await gatherFacts(dependencies, {
      path: PATH_OF_RUN[process],
      record,
      partition,
      triggerId: runId(process, asOf),
      now: asOf,
    });
    foretell(dependencies, request, record, facts, sum);
  } catch (error) {
    if (!(error instanceof ServiceDownError)) throw error;
    sum.unreachable += 1;
  }
}

/** The record, and then each period that would be opened by it and be due in the same run. */
function foretell(
  { policy }: Pick<ForecastDependencies, 'policy'>,
  { process, asOf }: ForecastRequest,
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

function byUser(records: readonly RecordRef[]): (readonly RecordRef[])[] {
  const users = new Map<string, RecordRef[]>();
  for (const record of records) {
    const known = users.get(record.userId);
    if (known === undefined) users.set(record.userId, [record]);
    else known.push(record);
  }
  return [...users.values()];
}
