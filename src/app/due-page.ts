import type { CollectionPolicy } from '../domain/policy.ts';
import { dueRange } from '../domain/runs.ts';
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

/** Where the pause run's second list begins: it comes after the index, under the same cursor. */
const RESUMES = 'resumes:';

/** What a run of that process and tick considers, a page at a time. A forecast reads the same. */
export async function readDuePage(
  sources: DueSources,
  run: Pick<Run, 'process' | 'tick' | 'cursor'>,
): Promise<DuePage> {
  if (run.cursor?.startsWith(RESUMES) === true) return readResumes(sources, run.cursor);
  const { subscriptions, malformed, nextKey } = await readRange(sources, run);
  const records = subscriptions.map(({ userId, subscriptionId }) => ({ userId, subscriptionId }));
  const hasMore = nextKey !== null || run.process !== 'pause';
  return { list: 'range', records, malformed, nextKey: hasMore ? nextKey : (RESUMES as PageKey) };
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
  if ('after' in range) return subscriptions.getRetrySubscriptionPage(range.after, cursor);
  if ('upTo' in range) return subscriptions.getStaleSubscriptionPage(range.upTo, cursor);
  return range.status === 'SCHEDULED'
    ? subscriptions.getScheduledSubscriptionPage(range.before, cursor)
    : subscriptions.getPausedSubscriptionPage(range.before, cursor);
}
