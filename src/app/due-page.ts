import type { Instant } from '../domain/instant.ts';
import { plusMs } from '../domain/instant.ts';
import type { CollectionPolicy } from '../domain/policy.ts';
import { PATHS } from '../domain/paths.ts';
import { PATH_OF_RUN, dueRange, isCollecting } from '../domain/runs.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { MalformedRowError } from '../errors.ts';
import type { RecordRef, Run, RunStore } from '../ports/runs.ts';
import type { PageKey, SubscriptionPage, SubscriptionsRepository } from '../ports/subscriptions.ts';

export interface DueSources {
  readonly runs: Pick<RunStore, 'resumes'>;
  readonly subscriptions: SubscriptionsRepository;
  readonly policy: CollectionPolicy;
}

export interface DuePage {
  /** `range`: due by their date. `resumes`: due because their members asked for it. */
  readonly list: 'range' | 'resumes';
  readonly records: readonly RecordRef[];
  readonly malformed: readonly MalformedRowError[];
  readonly nextKey: PageKey | null;
}

/** Null: not yet. */
interface Start {
  readonly startedAt: Instant | null;
}

/** Where the pause run's second list begins: it comes after the index, under the same cursor. */
const RESUMES = 'resumes:';

/** What a run of that process and tick considers, a page at a time. A forecast reads the same. */
export async function readDuePage(
  sources: DueSources,
  run: Pick<Run, 'process' | 'tick' | 'cursor'> & Start,
): Promise<DuePage> {
  if (run.cursor?.startsWith(RESUMES) === true) return readResumes(sources, run.cursor);
  const { subscriptions, malformed, nextKey } = await readRange(sources, run);
  const records = subscriptions
    .filter((record) => wasDue(run, record))
    .map(({ userId, subscriptionId }) => ({ userId, subscriptionId }));
  const hasMore = nextKey !== null || run.process !== 'pause';
  return { list: 'range', records, malformed, nextKey: hasMore ? nextKey : (RESUMES as PageKey) };
}

/**
 * What turned into an error while the run was under way is for tomorrow's: another run has just tried it, or the bank has
 * just sent it back. What this run itself has begun on is its own.
 */
function wasDue(
  { process, startedAt }: Pick<Run, 'process'> & Start,
  { billingStatus, lastRunDate, process: last }: Subscription,
): boolean {
  if (!isCollecting(process) || billingStatus !== 'ERROR' || startedAt === null) return true;
  // Stamps run ahead of the clock by nanoseconds, so that each is greater than the one before.
  if (lastRunDate === null || lastRunDate <= plusMs(startedAt, 1)) return true;
  const own = PATHS[PATH_OF_RUN[process]].process;
  return own !== null && last === own;
}

async function readResumes({ runs }: DueSources, cursor: PageKey): Promise<DuePage> {
  const key = cursor.slice(RESUMES.length);
  const { records, nextKey } = await runs.resumes(key === '' ? null : (key as PageKey));
  return {
    list: 'resumes',
    records,
    malformed: [],
    nextKey: nextKey === null ? null : (`${RESUMES}${nextKey}` as PageKey),
  };
}

function readRange(
  { subscriptions, policy }: DueSources,
  { process, tick, cursor }: Pick<Run, 'process' | 'tick' | 'cursor'>,
): Promise<SubscriptionPage> {
  const range = dueRange(process, tick, policy);
  if ('from' in range)
    return subscriptions.getNotificationSubscriptionPage(range.status, range.from, range.before, cursor);
  if ('after' in range) return subscriptions.getRetrySubscriptionPage(range.after, cursor);
  if ('upTo' in range) return subscriptions.getStaleSubscriptionPage(range.upTo, cursor);
  return range.status === 'SCHEDULED'
    ? subscriptions.getScheduledSubscriptionPage(range.before, cursor)
    : subscriptions.getPausedSubscriptionPage(range.before, cursor);
}
