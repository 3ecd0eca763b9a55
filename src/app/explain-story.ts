import type { AttemptId } from '../domain/attempt.ts';
import type { Instant } from '../domain/instant.ts';
import { compareInstants } from '../domain/instant.ts';
import type { BillingStatus } from '../domain/subscription.ts';
import type { Cause } from '../domain/transitions.ts';
import { CAUSES } from '../domain/transitions.ts';
import type { Verdict } from '../domain/verdict.ts';
import { isProvisional } from '../domain/verdict.ts';
import type { AttemptRecord } from '../ports/pipeline.ts';
import type { CollectionRequest } from '../ports/requests.ts';
import type { HistoryEntry } from '../ports/subscriptions.ts';
import { CAUSE_TEXTS, openedText, resolvedText, triggerText, verdictText } from './explain-texts.ts';

/** One thing that happened to a record, or that was decided about it. */
export interface StoryLine {
  readonly at: Instant;
  readonly kind: 'decision' | 'change' | 'attempt';
  readonly text: string;
  /** The run or request behind it. */
  readonly triggerId: string | null;
  readonly attemptId: AttemptId | null;
  /** Of a decision. One that is not final is made again by the same trigger. */
  readonly decision: (Pick<Verdict, 'verdict' | 'reason'> & { readonly isFinal: boolean }) | null;
  /** Of a change: the record's status after it. */
  readonly status: BillingStatus | null;
}

export interface StoryParts {
  readonly history: readonly HistoryEntry[];
  readonly attempts: readonly AttemptRecord[];
  readonly verdicts: readonly Verdict[];
  /** By the trigger that it is. */
  readonly requests: ReadonlyMap<string, CollectionRequest>;
}

/** Everything in the order in which it happened. What a decision led to comes after it. */
export function tellStory(parts: StoryParts): StoryLine[] {
  const lines = [
    ...parts.verdicts.map((verdict) => decisionLine(verdict, parts)),
    ...parts.attempts.flatMap((attempt) => attemptLines(attempt, parts)),
    ...parts.history.map((entry, index) => changeLine(entry, parts.history[index - 1], parts)),
  ];
  return lines.sort((a, b) => compareInstants(a.at, b.at));
}

function decisionLine(verdict: Verdict, { requests }: StoryParts): StoryLine {
  const { at, triggerId, attemptId, verdict: name, reason } = verdict;
  return {
    at,
    kind: 'decision',
    text: verdictText(verdict, triggerText(triggerId, requests.get(triggerId))),
    triggerId,
    attemptId,
    decision: { verdict: name, reason, isFinal: !isProvisional(verdict) },
    status: null,
  };
}

function changeLine(entry: HistoryEntry, before: HistoryEntry | undefined, parts: StoryParts): StoryLine {
  const { subscription: record, data } = entry;
  return {
    at: stampOf(entry),
    kind: 'change',
    text: [whatChanged(entry, parts), ...statusChange(entry, before), ...bySomebody(data)].join(', '),
    triggerId: data['trigger_id'] ?? null,
    attemptId: (data['attempt_id'] as AttemptId | undefined) ?? null,
    decision: null,
    status: record.billingStatus,
  };
}

function whatChanged({ subscription, data }: HistoryEntry, { attempts }: StoryParts): string {
  const cause = CAUSES.find((known) => known === data['cause']);
  // The Go service does not say why.
  if (cause === undefined) return `the other service wrote it (${subscription.process ?? 'no process'})`;
  const attempt = attempts.find(({ attemptId }) => attemptId === data['attempt_id']);
  if (attempt === undefined) return CAUSE_TEXTS[cause];
  if (OPENING.has(cause)) return openedText(attempt);
  const { resolution } = attempt;
  return resolution !== null && RESOLVING.has(cause) ? resolvedText(attempt, resolution) : CAUSE_TEXTS[cause];
}

function statusChange({ subscription }: HistoryEntry, before: HistoryEntry | undefined): string[] {
  const { billingStatus: now } = subscription;
  if (before === undefined) return [`first as ${now}`];
  const then = before.subscription.billingStatus;
  return then === now ? [] : [`${then} → ${now}`];
}

/** A member's event, or a person. */
function bySomebody(data: HistoryEntry['data']): string[] {
  const who = data['by'] ?? data['who'];
  return [
    ...(data['event_type'] === undefined ? [] : [`by the event ${data['event_type']}`]),
    ...(who === undefined ? [] : [`by ${who}`]),
    ...(data['reason'] === undefined ? [] : [`because: ${data['reason']}`]),
  ];
}

/** What no change of the record tells: a card without money, after which the account was asked at once. */
function attemptLines(attempt: AttemptRecord, parts: StoryParts): StoryLine[] {
  const { attemptId, triggerId, openedAt, resolution } = attempt;
  const line = (at: Instant, text: string): StoryLine => ({
    at,
    kind: 'attempt',
    text,
    triggerId,
    attemptId,
    decision: null,
    status: null,
  });
  const isOpeningTold = changeBy(attemptId, OPENING, parts) !== undefined;
  const isAnswerTold = changeBy(attemptId, RESOLVING, parts) !== undefined;
  return [
    ...(isOpeningTold ? [] : [line(openedAt, openedText(attempt))]),
    ...(resolution === null || isAnswerTold
      ? []
      : [line(answeredAt(attemptId, parts) ?? resolution.at, resolvedText(attempt, resolution))]),
  ];
}

/** It was written down together with the opening of the next: stamps of changes may be ahead of the clock. */
function answeredAt(id: AttemptId, parts: StoryParts): Instant | null {
  const next = parts.attempts.find(({ insteadOf }) => insteadOf === id);
  const change = next === undefined ? undefined : changeBy(next.attemptId, OPENING, parts);
  return change === undefined ? null : stampOf(change);
}

const OPENING: ReadonlySet<string> = new Set<Cause>(['attempt-opened', 'refund-opened']);
const RESOLVING: ReadonlySet<string> = new Set<Cause>([
  'attempt-succeeded',
  'ach-accepted',
  'attempt-declined',
  'refund-accepted',
  'refund-declined',
]);

const changeBy = (
  id: AttemptId,
  causes: ReadonlySet<string>,
  { history }: StoryParts,
): HistoryEntry | undefined =>
  history.find(({ data }) => data['attempt_id'] === id && causes.has(data['cause'] ?? ''));

const stampOf = ({ subscription }: HistoryEntry): Instant => subscription.lastRunDate ?? (0n as Instant);
