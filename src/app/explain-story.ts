import type { AttemptId } from '../domain/attempt.ts';
import type { Instant } from '../domain/instant.ts';
import { compareInstants } from '../domain/instant.ts';
import type { BillingStatus, Subscription } from '../domain/subscription.ts';
import type { Verdict } from '../domain/verdict.ts';
import { isProvisional } from '../domain/verdict.ts';
import type { AttemptRecord } from '../ports/pipeline.ts';
import type { CollectionRequest } from '../ports/requests.ts';
import type { HistoryEntry } from '../ports/subscriptions.ts';
import { OPENING, RESOLVING, changeText } from './explain-changes.ts';
import { openedText, resolvedText, triggerText, verdictText } from './explain-texts.ts';

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
  /** The record whose next period this is. */
  readonly opener: Subscription | undefined;
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

function decisionLine(verdict: Verdict, { requests, history, attempts }: StoryParts): StoryLine {
  const { at, triggerId, attemptId, verdict: name, reason } = verdict;
  const asked = { request: requests.get(triggerId), who: whoAsked(triggerId, history) };
  const attempt = attempts.find((one) => one.attemptId === attemptId);
  return {
    at,
    kind: 'decision',
    text: verdictText(verdict, triggerText(triggerId, asked), attempt),
    triggerId,
    attemptId,
    decision: { verdict: name, reason, isFinal: !isProvisional(verdict) },
    status: null,
  };
}

const whoAsked = (triggerId: string, history: readonly HistoryEntry[]): string | undefined =>
  history.find(({ data }) => data['trigger_id'] === triggerId && data['who'] !== undefined)?.data['who'];

function changeLine(entry: HistoryEntry, before: HistoryEntry | undefined, parts: StoryParts): StoryLine {
  const { subscription: record, data } = entry;
  return {
    at: stampOf(entry),
    kind: 'change',
    text: changeText(entry, before, parts),
    triggerId: data['trigger_id'] ?? null,
    attemptId: (data['attempt_id'] as AttemptId | undefined) ?? null,
    decision: null,
    status: record.billingStatus,
  };
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

const changeBy = (
  id: AttemptId,
  causes: ReadonlySet<string>,
  { history }: StoryParts,
): HistoryEntry | undefined =>
  history.find(({ data }) => data['attempt_id'] === id && causes.has(data['cause'] ?? ''));

const stampOf = ({ subscription }: HistoryEntry): Instant => subscription.lastRunDate ?? (0n as Instant);
