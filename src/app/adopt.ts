import type { Instant } from '../domain/instant.ts';
import { instantFromMs } from '../domain/instant.ts';
import type { BillingStatus, UserId } from '../domain/subscription.ts';
import { PAUSE_PENDING_RESUME } from '../domain/subscription.ts';
import type { Clock } from '../ports/clock.ts';
import type { PipelineStore } from '../ports/pipeline.ts';
import type { PageKey, StoredSubscription, SubscriptionsRepository } from '../ports/subscriptions.ts';
import { pagesOf } from './pages-of.ts';

export interface AdoptDependencies {
  readonly subscriptions: Pick<SubscriptionsRepository, 'getNotificationSubscriptionPage' | 'listByUserID'>;
  readonly pipeline: Pick<PipelineStore, 'rememberResume' | 'watches'>;
  readonly clock: Clock;
  /** Whether a user's records are ours to collect. */
  readonly owns: (userId: UserId) => boolean;
}

export interface AdoptCounts {
  /** Index entries looked at. */
  readonly seen: number;
  readonly notOwned: number;
  readonly resumes: number;
  readonly watches: number;
  /** What was made before. */
  readonly known: number;
  /** Entries of the index whose records have gone on since. */
  readonly outdated: number;
  /** Sent, but the row names no payment that the processor could be asked about. An operator has to look. */
  readonly unaskable: number;
  readonly malformed: number;
}

type Finding = Exclude<keyof AdoptCounts, 'seen'>;

/** Every billing date there is. */
const FROM: Instant = instantFromMs(0);
const TO: Instant = instantFromMs(Date.UTC(9999, 0));

/**
 * Makes what we need for users that the older service used to collect: their wishes to be charged on resuming, and a
 * watch on entries that are on their way. It may be run again at any time, also while records are being collected:
 * nothing is replaced, and items a record no longer needs are removed by the next run or janitor round that reads it.
 */
export async function adopt(
  dependencies: AdoptDependencies,
  onProgress: (counts: AdoptCounts) => void,
): Promise<AdoptCounts> {
  let counts = NONE;
  const kinds: readonly Kind[] = [resumes(dependencies), watches(dependencies)];
  for (const kind of kinds) {
    for await (const findings of findingsOf(dependencies, kind)) {
      counts = findings.reduce(counted, counts);
      onProgress(counts);
    }
  }
  return counts;
}

/** One kind of record that needs something, and how it is made. */
interface Kind {
  readonly status: BillingStatus;
  readonly concerns: (record: StoredSubscription) => boolean;
  readonly make: (record: StoredSubscription) => Promise<Finding>;
}

const resumes = ({ pipeline, clock }: AdoptDependencies): Kind => ({
  status: 'SCHEDULED',
  concerns: ({ updatedEvent }) => updatedEvent === PAUSE_PENDING_RESUME,
  make: async ({ userId, subscriptionId }) =>
    (await pipeline.rememberResume({ userId, subscriptionId }, clock.now())) ? 'resumes' : 'known',
});

const watches = ({ pipeline, clock }: AdoptDependencies): Kind => ({
  status: 'ACHSENT',
  concerns: () => true,
  make: async ({ userId, subscriptionId, transactionId, lastRunDate }) => {
    if (transactionId === '') return 'unaskable';
    const made = await pipeline.watches.add({
      userId,
      subscriptionId,
      confirmationId: transactionId,
      attemptId: null,
      sentAt: lastRunDate ?? clock.now(),
      checks: 0,
    });
    return made ? 'watches' : 'known';
  },
});

async function* findingsOf(dependencies: AdoptDependencies, kind: Kind): AsyncGenerator<(Finding | null)[]> {
  const read = (key: PageKey | null) =>
    dependencies.subscriptions.getNotificationSubscriptionPage(kind.status, FROM, TO, key);
  for await (const page of pagesOf(read)) {
    const findings: (Finding | null)[] = page.malformed.map(() => 'malformed');
    for (const entry of page.subscriptions) findings.push(await adoptOne(dependencies, kind, entry));
    yield findings;
  }
}

/** Null: nothing is needed. */
async function adoptOne(
  { subscriptions, owns }: AdoptDependencies,
  kind: Kind,
  entry: StoredSubscription,
): Promise<Finding | null> {
  if (!kind.concerns(entry)) return null;
  if (!owns(entry.userId)) return 'notOwned';
  // The index may be behind. What it shows is made only if the record itself still says so.
  const { subscriptions: partition } = await subscriptions.listByUserID(entry.userId);
  const record = partition.find(({ subscriptionId }) => subscriptionId === entry.subscriptionId);
  if (record?.billingStatus !== kind.status || !kind.concerns(record)) return 'outdated';
  return kind.make(record);
}

const NONE: AdoptCounts = {
  seen: 0,
  notOwned: 0,
  resumes: 0,
  watches: 0,
  known: 0,
  outdated: 0,
  unaskable: 0,
  malformed: 0,
};

const counted = (counts: AdoptCounts, finding: Finding | null): AdoptCounts => ({
  ...counts,
  seen: counts.seen + 1,
  ...(finding === null ? {} : { [finding]: counts[finding] + 1 }),
});
