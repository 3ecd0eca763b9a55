import type { FloatExplanation } from '../app/floats/explain-float.ts';
import type { FloatStoryLine } from '../app/floats/explain-float-story.ts';
import type { AchModel } from '../domain/floats/float.ts';
import { recordIdOf } from '../domain/floats/record-id.ts';
import { formatInstant } from '../domain/instant.ts';
import { attemptFigures, standingOf } from './explanation-figures.ts';
import { floatFigures } from './float-figures.ts';

/** Why a float was or was not collected, for machines. */
export const floatExplanationFigures = (explanation: FloatExplanation) => ({
  user_id: explanation.userId,
  float_id: explanation.floatId,
  record_id: recordIdOf(explanation.floatId),
  float: explanation.float === null ? null : floatFigures(explanation.float),
  summary: explanation.summary,
  story: explanation.story.map(lineFigures),
  attempts: explanation.attempts.map((attempt) => ({
    ...attemptFigures(attempt),
    ach_model: modelFigures(attempt.achModel ?? null),
  })),
  now: { notes: [...explanation.notes], ...standingOf(explanation.standing) },
  unreadable: [...explanation.unreadable],
});

const lineFigures = ({
  at,
  kind,
  text,
  triggerId,
  attemptId,
  decision,
  outcome,
  achModel,
}: FloatStoryLine) => ({
  at: formatInstant(at),
  kind,
  text,
  trigger_id: triggerId,
  attempt_id: attemptId,
  verdict: decision?.verdict ?? null,
  reason: decision?.reason ?? null,
  is_final: decision?.isFinal ?? null,
  outcome,
  ach_model: modelFigures(achModel),
});

const modelFigures = (model: AchModel | null) =>
  model === null
    ? null
    : {
        version: model.version,
        probability: model.probability,
        override: model.override,
        features: model.features,
      };
