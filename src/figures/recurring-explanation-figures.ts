import type { RecurringExplanation, RecurringStoryLine } from '../app/recurring/explain-recurring.ts';
import { formatInstant } from '../domain/instant.ts';
import { recurringRecordId } from '../domain/recurring/record-id.ts';
import { attemptFigures, standingOf } from './explanation-figures.ts';
import { recurringFigures } from './recurring-figures.ts';

/** Why a recurring payment was or was not charged, for machines. */
export const recurringExplanationFigures = (explanation: RecurringExplanation) => {
  const { open_attempt, lock, freezes } = standingOf({ ...explanation.standing, waiting: [] });
  return {
    account_id: explanation.accountId,
    subscription_id: explanation.recurringId,
    record_id: recurringRecordId(explanation),
    subscription: explanation.subscription === null ? null : recurringFigures(explanation.subscription),
    summary: explanation.summary,
    story: explanation.story.map(lineFigures),
    attempts: explanation.attempts.map((attempt) => ({
      ...attemptFigures(attempt),
      period_date: attempt.period ?? null,
    })),
    now: { notes: [...explanation.notes], open_attempt, lock, freezes },
    unreadable: [...explanation.unreadable],
  };
};

const lineFigures = ({ at, kind, text, triggerId, attemptId, decision, status }: RecurringStoryLine) => ({
  at: formatInstant(at),
  kind,
  text,
  trigger_id: triggerId,
  attempt_id: attemptId,
  verdict: decision?.verdict ?? null,
  reason: decision?.reason ?? null,
  is_final: decision?.isFinal ?? null,
  status,
});
