import type { CalendarDate } from '../../domain/calendar-date.ts';
import { dateOf } from '../../domain/calendar-date.ts';
import type { Float, LogEntry } from '../../domain/floats/float.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import { compareInstants, formatInstant } from '../../domain/instant.ts';
import type { Instant } from '../../domain/instant.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CollectionHistory, FloatsRepository } from '../../ports/floats.ts';
import type { FreezeStore } from '../../ports/freezes.ts';
import type { Inbox } from '../../ports/inbox.ts';
import type { LockWatch } from '../../ports/lock.ts';
import { floatLockKey } from '../../ports/lock.ts';
import type { Attempt, PipelineStore, RecordStory } from '../../ports/pipeline.ts';
import type { RequestStore } from '../../ports/requests.ts';
import { freezeNote, freezesOn, lockNote, openNote } from '../explain-standing.ts';
import type { Standing } from '../explain.ts';
import { requestsBehind } from '../explain.ts';
import { unlessMalformed } from '../unless-malformed.ts';
import type { FloatStoryLine } from './explain-float-story.ts';
import { tellFloatStory } from './explain-float-story.ts';
import { floatSummary } from './explain-float-texts.ts';
import type { FloatRef } from './find-float.ts';
import { findFloat } from './find-float.ts';

export interface ExplainFloatDependencies {
  readonly floats: Pick<FloatsRepository, 'get'>;
  readonly collectionHistory: CollectionHistory;
  readonly pipeline: Pick<PipelineStore, 'storyOf'>;
  readonly requests: Pick<RequestStore, 'get'>;
  readonly freezes: Pick<FreezeStore, 'list'>;
  readonly inbox: Pick<Inbox, 'earliest'>;
  readonly lockWatch: LockWatch;
  readonly clock: Clock;
}

/** What stands between a float and its being charged. A change of the membership does not: an advance is owed all the same. */
export type FloatStanding = Omit<Standing, 'quarantined'>;

export interface FloatExplanation extends FloatRef {
  /** Null where its row cannot be read. */
  readonly float: Float | null;
  readonly summary: string;
  /** Oldest first. */
  readonly story: readonly FloatStoryLine[];
  readonly log: readonly LogEntry[];
  /** Oldest first. */
  readonly attempts: RecordStory['attempts'];
  readonly standing: FloatStanding;
  /** The same in plain words. */
  readonly notes: readonly string[];
  /** What could not be read, and why. */
  readonly unreadable: readonly string[];
}

/** Why a float was or was not collected: each decision with its reason. Null where the user has no such float. */
export async function explainFloat(
  dependencies: ExplainFloatDependencies,
  { userId, floatId }: FloatRef,
): Promise<FloatExplanation | null> {
  const found = await unlessMalformed(() => findFloat(dependencies, { userId, floatId }), null);
  const { value: float } = found;
  if (float === null && found.unreadable.length === 0) return null;
  const now = dependencies.clock.now();
  const [log, past, standing] = await Promise.all([
    unlessMalformed(() => dependencies.collectionHistory.getByFloatID(floatId), []),
    dependencies.pipeline.storyOf(recordIdOf(floatId)),
    readStanding(dependencies, userId, now),
  ]);
  const { verdicts, open } = past;
  const attempts = [...past.attempts].sort(inTheirOrder);
  const triggers = [...verdicts, ...attempts].map(({ triggerId }) => triggerId);
  const requests = await requestsBehind(dependencies.requests, triggers);
  return {
    userId,
    floatId,
    float,
    summary: summaryOf(float, open, dateOf(now)),
    story: tellFloatStory({ float, log: log.value, attempts, verdicts, requests }),
    log: log.value,
    attempts,
    standing: { ...standing, open },
    notes: notesOn({ ...standing, open }, log.unreadable),
    unreadable: [...found.unreadable, ...log.unreadable, ...past.unreadable].map(({ message }) => message),
  };
}

/** The account comes after the card, also in the same moment. */
const inTheirOrder = (a: Attempt, b: Attempt): number =>
  compareInstants(a.openedAt, b.openedAt) || Number(a.insteadOf !== null) - Number(b.insteadOf !== null);

const summaryOf = (float: Float | null, open: RecordStory['open'], today: CalendarDate): string =>
  float === null
    ? 'its row cannot be read, so nobody touches it'
    : floatSummary(float, open?.attempt ?? null, today);

async function readStanding(
  { freezes, inbox, lockWatch }: ExplainFloatDependencies,
  userId: UserId,
  now: Instant,
): Promise<Omit<FloatStanding, 'open'>> {
  const [lock, ordered, earliest] = await Promise.all([
    lockWatch.holderOf(floatLockKey(userId)),
    freezes.list(),
    inbox.earliest('payments', userId),
  ]);
  return {
    lock,
    freezes: freezesOn(ordered, userId, now),
    waiting: earliest === null ? [] : [earliest],
  };
}

function notesOn({ open, lock, waiting, freezes }: FloatStanding, badRows: readonly Error[]): string[] {
  return [
    ...(open === null ? [] : [openNote(open)]),
    ...(lock === null ? [] : [lockNote(lock)]),
    ...waiting.map(
      ({ type, receivedAt }) => `the event ${type} of ${formatInstant(receivedAt)} is not applied yet`,
    ),
    ...freezes.map(freezeNote),
    ...(badRows.length === 0
      ? []
      : ['a row of its log cannot be read, so no limit is known: it is left alone until that is mended']),
  ];
}
