import { dateOf } from '../../domain/calendar-date.ts';
import { compareInstants } from '../../domain/instant.ts';
import { payerOf, recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { RecurringStatus, RecurringSubscription } from '../../domain/recurring/recurring.ts';
import type { Verdict } from '../../domain/verdict.ts';
import { isProvisional } from '../../domain/verdict.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FreezeStore } from '../../ports/freezes.ts';
import type { LockWatch } from '../../ports/lock.ts';
import { recurringLockKey } from '../../ports/lock.ts';
import type { AttemptRecord, PipelineStore, RecordStory } from '../../ports/pipeline.ts';
import type { RecurringLogEntry, RecurringRef, RecurringRepository } from '../../ports/recurring.ts';
import { freezeNote, freezesOn, lockNote, openNote } from '../explain-standing.ts';
import type { StoryLine } from '../explain-story.ts';
import { openedText, triggerText, verdictText } from '../explain-texts.ts';
import type { Standing } from '../explain.ts';
import { unlessMalformed } from '../unless-malformed.ts';
import { recurringChangeText, recurringSummary } from './explain-recurring-texts.ts';

export interface ExplainRecurringDependencies {
  readonly recurring: Pick<RecurringRepository, 'getSubscription' | 'changesOf'>;
  readonly pipeline: Pick<PipelineStore, 'storyOf'>;
  readonly freezes: Pick<FreezeStore, 'list'>;
  readonly lockWatch: LockWatch;
  readonly clock: Clock;
}

/** One thing that happened to a recurring payment, or that was decided about it. */
export interface RecurringStoryLine extends Omit<StoryLine, 'status'> {
  /** Of a change: the status after it. */
  readonly status: RecurringStatus | null;
}

/** What stands between a recurring payment and its being charged. Nothing about a membership does. */
export type RecurringStanding = Pick<Standing, 'open' | 'lock' | 'freezes'>;

export interface RecurringExplanation extends RecurringRef {
  /** Null where its row cannot be read. */
  readonly subscription: RecurringSubscription | null;
  readonly summary: string;
  /** Oldest first. */
  readonly story: readonly RecurringStoryLine[];
  /** Oldest first. */
  readonly attempts: RecordStory['attempts'];
  readonly standing: RecurringStanding;
  /** The same in plain words. */
  readonly notes: readonly string[];
  /** What could not be read, and why. */
  readonly unreadable: readonly string[];
}

/** Why a recurring payment was or was not charged: each decision with its reason. Null where the account has none such. */
export async function explainRecurring(
  dependencies: ExplainRecurringDependencies,
  ref: RecurringRef,
): Promise<RecurringExplanation | null> {
  const { recurring, pipeline, clock } = dependencies;
  const found = await unlessMalformed(() => recurring.getSubscription(ref), null);
  const { value: subscription } = found;
  if (subscription === null && found.unreadable.length === 0) return null;
  const [changes, past, standing] = await Promise.all([
    unlessMalformed(() => recurring.changesOf(ref), []),
    pipeline.storyOf(recurringRecordId(ref)),
    readStanding(dependencies, ref),
  ]);
  const { verdicts, open } = past;
  const attempts = [...past.attempts].sort((a, b) => compareInstants(a.openedAt, b.openedAt));
  return {
    accountId: ref.accountId,
    recurringId: ref.recurringId,
    subscription,
    summary:
      subscription === null
        ? 'its row cannot be read, so nobody touches it'
        : recurringSummary(subscription, open?.attempt ?? null, dateOf(clock.now())),
    story: tellStory(changes.value, attempts, verdicts),
    attempts,
    standing: { ...standing, open },
    notes: notesOn({ ...standing, open }),
    unreadable: [...found.unreadable, ...changes.unreadable, ...past.unreadable].map(
      ({ message }) => message,
    ),
  };
}

async function readStanding(
  { freezes, lockWatch, clock }: ExplainRecurringDependencies,
  { accountId }: RecurringRef,
): Promise<Omit<RecurringStanding, 'open'>> {
  const [lock, ordered] = await Promise.all([
    lockWatch.holderOf(recurringLockKey(accountId)),
    freezes.list(),
  ]);
  return { lock, freezes: freezesOn(ordered, payerOf(accountId), clock.now()) };
}

const notesOn = ({ open, lock, freezes }: RecurringStanding): string[] => [
  ...(open === null ? [] : [openNote(open)]),
  ...(lock === null ? [] : [lockNote(lock)]),
  ...freezes.map(freezeNote),
];

/** Everything in the order in which it happened; what a decision led to comes after it. */
function tellStory(
  changes: readonly RecurringLogEntry[],
  attempts: readonly AttemptRecord[],
  verdicts: readonly Verdict[],
): RecurringStoryLine[] {
  const lines = [
    ...verdicts.map((verdict) => decisionLine(verdict, attempts)),
    ...attempts.map(openedLine),
    ...changes.map((entry, n) => changeLine(entry, changes[n - 1], attempts)),
  ];
  return lines.sort((a, b) => compareInstants(a.at, b.at));
}

function decisionLine(verdict: Verdict, attempts: readonly AttemptRecord[]): RecurringStoryLine {
  const { at, triggerId, attemptId, verdict: name, reason } = verdict;
  const attempt = attempts.find((one) => one.attemptId === attemptId);
  const by = triggerText(triggerId, { request: undefined, who: undefined });
  return {
    at,
    kind: 'decision',
    text: verdictText(verdict, by, attempt),
    triggerId,
    attemptId,
    decision: { verdict: name, reason, isFinal: !isProvisional(verdict) },
    status: null,
  };
}

function openedLine(attempt: AttemptRecord): RecurringStoryLine {
  const { openedAt: at, triggerId, attemptId, period } = attempt;
  const text = `${openedText(attempt)} for ${period ?? 'a period'}`;
  return { at, kind: 'attempt', text, triggerId, attemptId, decision: null, status: null };
}

function changeLine(
  entry: RecurringLogEntry,
  before: RecurringLogEntry | undefined,
  attempts: readonly AttemptRecord[],
): RecurringStoryLine {
  const { at, attemptId, status } = entry;
  const attempt = attempts.find((one) => one.attemptId === attemptId);
  const text = recurringChangeText({ entry, before, attempt });
  const triggerId = attempt?.triggerId ?? null;
  return { at, kind: 'change', text, triggerId, attemptId, decision: null, status };
}
