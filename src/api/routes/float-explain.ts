import { z } from 'zod';
import type { ExplainFloatDependencies } from '../../app/floats/explain-float.ts';
import { explainFloat } from '../../app/floats/explain-float.ts';
import { LOG_OUTCOMES, STAGES } from '../../domain/floats/float.ts';
import { VERDICTS } from '../../domain/verdict.ts';
import { floatExplanationFigures } from '../../figures/float-explanation-figures.ts';
import { floatId, timeText, unreadable, userId } from '../fields.ts';
import { floatView } from '../float-view.ts';
import { Problem } from '../problems.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';
import { attempt, standing } from './subscriptions.ts';

const achModel = z
  .strictObject({
    version: z.string(),
    probability: z.number().meta({ description: 'That the debit will be paid' }),
    override: z.boolean().meta({ description: 'The operator’s switch decided, not the model' }),
    features: z.record(z.string(), z.number()),
  })
  .nullable()
  .meta({ description: 'What decided that an attempt goes by ACH' });

const storyLine = z.strictObject({
  at: timeText,
  kind: z.enum(['decision', 'change', 'attempt']),
  text: z.string(),
  trigger_id: z.string().nullable().meta({ description: 'The run or request behind it' }),
  attempt_id: z.string().nullable(),
  verdict: z.enum(VERDICTS).nullable(),
  reason: z.string().nullable(),
  is_final: z.boolean().nullable().meta({ description: 'False: the same trigger looks again' }),
  outcome: z.enum(LOG_OUTCOMES).nullable().meta({ description: 'Of a row of the collection history' }),
  ach_model: achModel,
});

const explanation = z.strictObject({
  user_id: z.string(),
  float_id: z.string(),
  record_id: z.string().meta({ description: 'By which runs, attempts and the audit call it' }),
  float: floatView.nullable(),
  summary: z.string(),
  story: z.array(storyLine),
  attempts: z.array(attempt.extend({ process: z.enum(STAGES), ach_model: achModel })),
  now: standing.omit({ quarantined_events: true }),
  unreadable,
});

export const floatExplainRoutes = (dependencies: ExplainFloatDependencies): Route[] => [
  route({
    method: 'get',
    path: '/v1/{user_id}/floats/{float_id}/explain',
    tag: 'Floats',
    role: 'viewer',
    summary: 'Why a float was or was not collected',
    description:
      'Each decision with its reason, each attempt with what decided its rail, and each row of the collection history, oldest first; and what stands between the float and a charge now.',
    params: z.strictObject({ user_id: userId, float_id: floatId }),
    answers: { 200: explanation },
    problems: ['not-found'],
    async handle({ params }) {
      const found = await explainFloat(dependencies, { userId: params.user_id, floatId: params.float_id });
      if (found === null) throw new Problem('not-found', 'no such float of this user');
      return { status: 200, body: floatExplanationFigures(found) };
    },
  }),
];
