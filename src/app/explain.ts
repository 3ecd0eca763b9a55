import type { Instant } from '../domain/instant.ts';
import { formatInstant } from '../domain/instant.ts';
import { successorId } from '../domain/next-period.ts';
import { parseRunId } from '../domain/runs.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { Clock } from '../ports/clock.ts';
import type { FreezeOrder, FreezeStore } from '../ports/freezes.ts';
import type { Inbox, InboxEvent, Quarantine, Quarantined } from '../ports/inbox.ts';
import { EVENT_STREAMS } from '../ports/inbox.ts';
import type { LockHolder, LockWatch } from '../ports/lock.ts';
import { subscriptionLockKey } from '../ports/lock.ts';
import type { PipelineStore, RecordStory } from '../ports/pipeline.ts';
import type { CollectionRequest, RequestStore } from '../ports/requests.ts';
import type { RecordRef } from '../ports/runs.ts';
import type {
  HistoryRepository,
  Partition,
  StoredSubscription,
  SubscriptionsRepository,
} from '../ports/subscriptions.ts';
import { aFewAtOnce } from './a-few-at-once.ts';
import { freezeNote, freezesOn, lockNote, openNote } from './explain-standing.ts';
import type { StoryLine, StoryParts } from './explain-story.ts';
import { tellStory } from './explain-story.ts';
import { summaryText } from './explain-texts.ts';

export interface ExplainDependencies {
  readonly subscriptions: Pick<SubscriptionsRepository, 'listByUserID'>;
  readonly history: Pick<HistoryRepository, 'getByID'>;
  readonly pipeline: Pick<PipelineStore, 'storyOf'>;
  readonly requests: Pick<RequestStore, 'get'>;
  readonly freezes: Pick<FreezeStore, 'list'>;
  readonly inbox: Pick<Inbox, 'earliest'>;
  readonly quarantine: Pick<Quarantine, 'ofUser'>;
  readonly lockWatch: LockWatch;
  readonly clock: Clock;
}

/** What stands between a record and its being charged at this moment. */
export interface Standing {
  readonly open: RecordStory['open'];
  readonly lock: LockHolder | null;
  /** The first event of each stream that is not applied yet. */
  readonly waiting: readonly InboxEvent[];
  readonly quarantined: readonly Quarantined[];
  readonly freezes: readonly FreezeOrder[];
}

export interface Explanation extends RecordRef {
  /** Null where its row cannot be read. */
  readonly record: StoredSubscription | null;
  readonly summary: string;
  /** Oldest first. */
  readonly story: readonly StoryLine[];
  readonly attempts: RecordStory['attempts'];
  readonly standing: Standing;
  /** The same in plain words. */
  readonly notes: readonly string[];
  /** What could not be read, and why. */
  readonly unreadable: readonly string[];
}

/** Why a record was or was not charged: each decision with its reason. Null where the user has no such record. */
export async function explain(
  dependencies: ExplainDependencies,
  { userId, subscriptionId }: RecordRef,
): Promise<Explanation | null> {
  const partition = await dependencies.subscriptions.listByUserID(userId);
  const record = partition.subscriptions.find((one) => one.subscriptionId === subscriptionId) ?? null;
  const bad = partition.malformed.find(({ row }) => row.subscriptionId === subscriptionId);
  if (record === null && bad === undefined) return null;
  const now = dependencies.clock.now();
  const [parts, standing] = await Promise.all([
    readParts(dependencies, subscriptionId),
    readStanding(dependencies, userId, now),
  ]);
  const { open } = parts.past;
  const opener = partition.subscriptions.find((one) => successorId(one.subscriptionId) === subscriptionId);
  return {
    userId,
    subscriptionId,
    record,
    summary:
      record === null
        ? 'its row cannot be read, so nobody touches it'
        : summaryText(record, open?.attempt ?? null, now),
    story: tellStory({ ...parts, opener }),
    attempts: parts.attempts,
    standing: { ...standing, open },
    notes: notesOn({ ...standing, open }, partition),
    unreadable: [...parts.past.unreadable, ...parts.malformed, ...partition.malformed].map(
      ({ message }) => message,
    ),
  };
}

async function readParts(
  { history, pipeline, requests }: ExplainDependencies,
  subscriptionId: SubscriptionId,
): Promise<
  Omit<StoryParts, 'opener'> & { readonly past: RecordStory; readonly malformed: readonly Error[] }
> {
  const [{ entries, malformed }, past] = await Promise.all([
    history.getByID(subscriptionId),
    pipeline.storyOf(subscriptionId),
  ]);
  const { attempts, verdicts } = past;
  const triggers = [...verdicts, ...attempts].map(({ triggerId }) => triggerId);
  return {
    history: entries,
    attempts,
    verdicts,
    requests: await requestsBehind(requests, triggers),
    past,
    malformed,
  };
}

const ASKED_AT_ONCE = 8;

export async function requestsBehind(
  requests: Pick<RequestStore, 'get'>,
  triggers: readonly string[],
): Promise<ReadonlyMap<string, CollectionRequest>> {
  const asked = [...new Set(triggers)].filter((triggerId) => parseRunId(triggerId) === null);
  const found = await aFewAtOnce(ASKED_AT_ONCE, asked, (triggerId) => requests.get(triggerId));
  return new Map(found.flatMap((request) => (request === null ? [] : [[request.requestId, request]])));
}

async function readStanding(
  { freezes, inbox, quarantine, lockWatch }: ExplainDependencies,
  userId: UserId,
  now: Instant,
): Promise<Omit<Standing, 'open'>> {
  const [lock, ordered, quarantined, ...earliest] = await Promise.all([
    lockWatch.holderOf(subscriptionLockKey(userId)),
    freezes.list(),
    quarantine.ofUser(userId),
    ...EVENT_STREAMS.map((stream) => inbox.earliest(stream, userId)),
  ]);
  return {
    lock,
    freezes: freezesOn(ordered, userId, now),
    quarantined,
    waiting: earliest.filter((event) => event !== null),
  };
}

function notesOn(
  { open, lock, waiting, quarantined, freezes }: Standing,
  { malformed }: Partition,
): string[] {
  return [
    ...(open === null ? [] : [openNote(open)]),
    ...(lock === null ? [] : [lockNote(lock)]),
    ...waiting.map(
      ({ type, receivedAt }) => `the event ${type} of ${formatInstant(receivedAt)} is not applied yet`,
    ),
    ...quarantined.map(
      ({ quarantineId, event, at, reason }) =>
        `the event ${event?.type ?? 'without a type'} is in quarantine since ${formatInstant(at)} (${reason}): automatic charges wait; see quarantine ${quarantineId}`,
    ),
    ...freezes.map(freezeNote),
    ...malformed.map(
      ({ row, attribute }) =>
        `nothing is written about this member until ${attribute} of record ${row.subscriptionId} is mended`,
    ),
  ];
}
