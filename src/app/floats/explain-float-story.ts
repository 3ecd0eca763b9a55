import type { AchModel, Float, LogEntry, LogOutcome } from '../../domain/floats/float.ts';
import type { Instant } from '../../domain/instant.ts';
import { compareInstants } from '../../domain/instant.ts';
import type { Verdict } from '../../domain/verdict.ts';
import { isProvisional } from '../../domain/verdict.ts';
import type { AttemptRecord } from '../../ports/pipeline.ts';
import type { CollectionRequest } from '../../ports/requests.ts';
import type { StoryLine } from '../explain-story.ts';
import { resolvedText, triggerText, verdictText } from '../explain-texts.ts';
import { floatOpenedText, logText, paidOutText } from './explain-float-texts.ts';

/** One thing that happened to a float, or that was decided about it. */
export interface FloatStoryLine extends Omit<StoryLine, 'status'> {
  /** Of a row of the log. */
  readonly outcome: LogOutcome | null;
  /** What an ACH attempt was decided by. */
  readonly achModel: AchModel | null;
}

export interface FloatStoryParts {
  /** Null where it cannot be read. */
  readonly float: Float | null;
  /** Oldest first. */
  readonly log: readonly LogEntry[];
  readonly attempts: readonly AttemptRecord[];
  readonly verdicts: readonly Verdict[];
  /** By the trigger that it is. */
  readonly requests: ReadonlyMap<string, CollectionRequest>;
}

/**
 * Everything in the order in which it happened; what a decision led to comes after it. Nothing is left out: a change that
 * leaves no row in the log was decided, and its verdict tells of it.
 */
export function tellFloatStory(parts: FloatStoryParts): FloatStoryLine[] {
  const { float, log, attempts, verdicts } = parts;
  const lines = [
    ...(float === null ? [] : [line(float.createdAt, 'change', paidOutText(float))]),
    ...verdicts.map((verdict) => decisionLine(verdict, parts)),
    ...attempts.filter(({ insteadOf }) => insteadOf === null).map((attempt) => openedLine(attempt, parts)),
    ...log.map((row) => logLine(row, parts)),
    // After the card's answer: both were written down in one moment.
    ...attempts.filter(({ insteadOf }) => insteadOf !== null).map((attempt) => openedLine(attempt, parts)),
    ...attempts.flatMap((attempt) => untoldAnswer(attempt, parts)),
  ];
  return lines.sort((a, b) => compareInstants(a.at, b.at));
}

const line = (
  at: Instant,
  kind: FloatStoryLine['kind'],
  text: string,
  more: Partial<FloatStoryLine> = {},
): FloatStoryLine => ({
  at,
  kind,
  text,
  triggerId: null,
  attemptId: null,
  decision: null,
  outcome: null,
  achModel: null,
  ...more,
});

function decisionLine(verdict: Verdict, { requests, attempts }: FloatStoryParts): FloatStoryLine {
  const { at, triggerId, attemptId, verdict: name, reason } = verdict;
  const by = triggerText(triggerId, { request: requests.get(triggerId), who: undefined });
  const attempt = attempts.find((one) => one.attemptId === attemptId);
  const decision = { verdict: name, reason, isFinal: !isProvisional(verdict) };
  return line(at, 'decision', verdictText(verdict, by, attempt), { triggerId, attemptId, decision });
}

function openedLine(attempt: AttemptRecord, { log }: FloatStoryParts): FloatStoryLine {
  const { attemptId, triggerId, insteadOf, openedAt } = attempt;
  const before = log.find((row) => insteadOf !== null && row.attemptId === insteadOf);
  const achModel = attempt.achModel ?? null;
  return line(before?.runTime ?? openedAt, 'attempt', floatOpenedText(attempt), {
    triggerId,
    attemptId,
    achModel,
  });
}

function logLine(row: LogEntry, { log, attempts }: FloatStoryParts): FloatStoryLine {
  const { attemptId, outcome, achModel } = row;
  const attempt = attempts.find((one) => one.attemptId === attemptId);
  const answers = log.filter(({ remark }) => remark !== 'not-presented');
  const isFirst = answers.find((other) => other.attemptId === attemptId) === row;
  const triggerId = attempt?.triggerId ?? null;
  const text = logText(row, attempt, isFirst);
  return line(row.runTime, 'change', text, { triggerId, attemptId, outcome, achModel });
}

/** An answer that the log does not have: it should, and the audit says so. */
function untoldAnswer(attempt: AttemptRecord, { log }: FloatStoryParts): FloatStoryLine[] {
  const { attemptId, triggerId, resolution } = attempt;
  if (resolution === null || log.some((row) => row.attemptId === attemptId)) return [];
  return [line(resolution.at, 'attempt', resolvedText(attempt, resolution), { triggerId, attemptId })];
}
