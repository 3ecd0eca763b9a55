import type { Explanation, Standing } from '../app/explain.ts';
import type { StoryLine } from '../app/explain-story.ts';
import { formatIfSet, formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import type { AttemptRecord } from '../ports/pipeline.ts';
import { subscriptionFigures } from './subscription-figures.ts';

/** Why a record was or was not charged, for machines. */
export const explanationFigures = (explanation: Explanation) => ({
  user_id: explanation.userId,
  subscription_id: explanation.subscriptionId,
  record: explanation.record === null ? null : subscriptionFigures(explanation.record),
  summary: explanation.summary,
  story: explanation.story.map(lineFigures),
  attempts: explanation.attempts.map(attemptFigures),
  now: { notes: [...explanation.notes], ...standingFigures(explanation.standing) },
  unreadable: [...explanation.unreadable],
});

const lineFigures = ({ at, kind, text, triggerId, attemptId, decision, status }: StoryLine) => ({
  at: formatInstant(at),
  kind,
  text,
  trigger_id: triggerId,
  attempt_id: attemptId,
  verdict: decision?.verdict ?? null,
  reason: decision?.reason ?? null,
  is_final: decision?.isFinal ?? null,
  billing_status: status,
});

export const attemptFigures = ({
  attemptId,
  triggerId,
  process,
  rail,
  amount,
  openedAt,
  resolution,
}: AttemptRecord) => ({
  attempt_id: attemptId,
  trigger_id: triggerId,
  process,
  rail,
  amount: formatMoney(amount),
  opened_at: formatInstant(openedAt),
  resolution:
    resolution === null
      ? null
      : {
          status: resolution.status,
          at: formatInstant(resolution.at),
          error_code: resolution.errorCode,
          error_message: resolution.errorMessage,
        },
});

const standingFigures = ({ quarantined, ...standing }: Standing) => ({
  ...standingOf(standing),
  quarantined_events: quarantined.map(({ quarantineId, event, reason, at }) => ({
    id: quarantineId,
    type: event?.type ?? null,
    reason,
    at: formatInstant(at),
  })),
});

/** What stands in the way of whatever is collected. */
export const standingOf = ({ open, lock, waiting, freezes }: Omit<Standing, 'quarantined'>) => ({
  open_attempt:
    open === null
      ? null
      : {
          attempt_id: open.attempt.attemptId,
          opened_at: formatInstant(open.attempt.openedAt),
          asked_next_at: formatInstant(open.askedNextAt),
        },
  lock: lock === null ? null : { owner: lock.ownerName, since: formatIfSet(lock.since) },
  unapplied_events: waiting.map(({ stream, type, receivedAt }) => ({
    stream,
    type,
    received_at: formatInstant(receivedAt),
  })),
  freezes: freezes.map(({ target, reason, who, at, until }) => ({
    scope: target.scope,
    reason,
    who,
    at: formatInstant(at),
    until: formatIfSet(until),
  })),
});
