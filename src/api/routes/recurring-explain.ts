import { z } from 'zod';
import type { ExplainRecurringDependencies } from '../../app/recurring/explain-recurring.ts';
import { explainRecurring } from '../../app/recurring/explain-recurring.ts';
import { RECURRING_STATUSES } from '../../domain/recurring/recurring.ts';
import { VERDICTS } from '../../domain/verdict.ts';
import { recurringExplanationFigures } from '../../figures/recurring-explanation-figures.ts';
import { accountId, dateText, recurringId, timeText, unreadable } from '../fields.ts';
import { Problem } from '../problems.ts';
import { recurringView } from '../recurring-view.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';
import { attempt, standing } from './subscriptions.ts';

const storyLine = z.strictObject({
  at: timeText,
  kind: z.enum(['decision', 'change', 'attempt']),
  text: z.string(),
  trigger_id: z.string().nullable().meta({ description: 'The run behind it' }),
  attempt_id: z.string().nullable(),
  verdict: z.enum(VERDICTS).nullable(),
  reason: z.string().nullable(),
  is_final: z.boolean().nullable().meta({ description: 'False: the same trigger looks again' }),
  status: z.enum(RECURRING_STATUSES).nullable().meta({ description: 'After the change' }),
});

const explanation = z.strictObject({
  account_id: z.string(),
  subscription_id: z.string(),
  record_id: z.string().meta({ description: 'By which runs, attempts and the audit call it' }),
  subscription: recurringView.nullable(),
  summary: z.string(),
  story: z.array(storyLine),
  attempts: z.array(attempt.extend({ process: z.literal('RECURRING'), period_date: dateText.nullable() })),
  now: standing.omit({ quarantined_events: true, unapplied_events: true }),
  unreadable,
});

export const recurringExplainRoutes = (dependencies: ExplainRecurringDependencies): Route[] => [
  route({
    method: 'get',
    path: '/v1/accounts/{account_id}/recurring/{subscription_id}/explain',
    tag: 'Recurring payments',
    role: 'viewer',
    summary: 'Why a recurring payment was or was not charged',
    description:
      'Each decision with its reason, each attempt with its period, and each change with who asked for it, oldest first; and what stands between the payment and a charge now.',
    params: z.strictObject({ account_id: accountId, subscription_id: recurringId }),
    answers: { 200: explanation },
    problems: ['not-found'],
    async handle({ params }) {
      const ref = { accountId: params.account_id, recurringId: params.subscription_id };
      const found = await explainRecurring(dependencies, ref);
      if (found === null) throw new Problem('not-found', 'no such subscription of this account');
      return { status: 200, body: recurringExplanationFigures(found) };
    },
  }),
];
