import type { Instant } from '../domain/instant.ts';
import { formatInstant, plusDays, wholeSecond } from '../domain/instant.ts';
import { isFloatProcess } from '../domain/floats/runs.ts';
import { isRecurringProcess } from '../domain/recurring/runs.ts';
import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import type { CollectingProcess } from '../domain/runs.ts';
import { TooFarAheadError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Forecast, RecordRef } from '../ports/runs.ts';
import type { PageKey } from '../ports/subscriptions.ts';
import type { Timer } from '../ports/timer.ts';
import { aFewAtOnce } from './a-few-at-once.ts';
import type { DuePage, DueSources } from './due-page.ts';
import { readDuePage } from './due-page.ts';
import { evenly } from './evenly.ts';
import type { FloatForecastSources } from './floats/foretell-floats.ts';
import { foretellFloats } from './floats/foretell-floats.ts';
import type { ForecastProgress } from './forecast-sum.ts';
import { ForecastSum } from './forecast-sum.ts';
import type { BillingForecastSources } from './foretell-billing.ts';
import { foretellBilling } from './foretell-billing.ts';
import { pagesOf } from './pages-of.ts';
import type { RecurringForecastSources } from './recurring/foretell-recurring.ts';
import { foretellRecurring } from './recurring/foretell-recurring.ts';

export type ForecastDependencies = DueSources &
  BillingForecastSources &
  FloatForecastSources &
  RecurringForecastSources & {
    readonly owned: OwnedUsers;
    readonly clock: Clock;
    readonly timer: Timer;
    /** Users asked about per second. */
    readonly ratePerS: number;
  };

export interface ForecastRequest {
  readonly process: CollectingProcess;
  readonly asOf: Instant;
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
  const read = (cursor: PageKey | null) =>
    readDuePage(dependencies, { process, tick: asOf, startedAt: null, cursor });
  for await (const page of pagesOf(read)) {
    const ours = page.records.filter(({ userId }) => owns(dependencies.owned, userId));
    sum.due += ours.length;
    sum.malformed += page.malformed.length;
    onProgress(sum);
    await aFewAtOnce(USERS_AT_ONCE, byUser(ours), async (records) => {
      await turn();
      await foretell(dependencies, request, { list: page.list, records }, sum);
      sum.looked += records.length;
      onProgress(sum);
    });
  }
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

/** All about one user: `records` are those of the user's that one page names. */
function foretell(
  dependencies: ForecastDependencies,
  { process, asOf }: ForecastRequest,
  { list, records }: Pick<DuePage, 'list' | 'records'>,
  sum: ForecastSum,
): Promise<void> {
  if (isRecurringProcess(process)) return foretellRecurring(dependencies, asOf, records, sum);
  return isFloatProcess(process)
    ? foretellFloats(dependencies, { process, asOf }, records, sum)
    : foretellBilling(dependencies, { process, asOf }, { list, records }, sum);
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
