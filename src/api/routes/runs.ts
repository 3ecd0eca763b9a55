import { z } from 'zod';
import type { OrderDependencies } from '../../app/order-run.ts';
import { orderRun } from '../../app/order-run.ts';
import { formatIfSet, formatInstant } from '../../domain/instant.ts';
import { formatMoney } from '../../domain/money.ts';
import type { RunId } from '../../domain/runs.ts';
import { RUN_PROCESSES, parseRunId } from '../../domain/runs.ts';
import type { Verdict } from '../../domain/verdict.ts';
import { runFigures } from '../../figures/run-figures.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import { amountText, asOf, cursor, timeText } from '../fields.ts';
import { invalidField, Problem } from '../problems.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';

const runId = z
  .string()
  .refine((text) => parseRunId(text) !== null, 'a run id such as scheduled-20261116T080000Z')
  .transform((text) => text as RunId);

export const process = z.enum(RUN_PROCESSES, `one of ${RUN_PROCESSES.join(', ')}`);

const tally = z.strictObject({
  count: z.int(),
  amount: amountText,
  reasons: z.record(z.string(), z.int()),
});
const countAndAmount = z.strictObject({ count: z.int(), amount: amountText });

export const forecastView = z.strictObject({
  run: z.string(),
  as_of: timeText,
  records: z.int(),
  amount: amountText,
  by_verdict: z.record(z.string(), tally),
  due: z.int(),
  malformed: z.int(),
  unreachable: z.int(),
  would_stop: z.boolean(),
});

const runView = z.strictObject({
  run: z.string(),
  run_id: z.string(),
  process,
  as_of: timeText,
  status: z.enum(['running', 'complete', 'stopped']),
  duration_ms: z.int().nullable(),
  due: z.int(),
  not_owned: z.int(),
  passes: z.int(),
  records: z.int(),
  amount: amountText,
  by_verdict: z.record(z.string(), tally),
  by_plan: z.record(z.string(), tally),
  forecast: forecastView.optional(),
  differences: z
    .array(z.strictObject({ plan: z.string(), forecast: countAndAmount, run: countAndAmount }))
    .optional(),
});

const verdictView = z.strictObject({
  user_id: z.string(),
  subscription_id: z.string(),
  verdict: z.string(),
  reason: z.string(),
  detail: z.string().nullable(),
  amount: amountText,
  at: timeText,
  until: timeText.nullable(),
});

const tag = 'Operations';

export const runRoutes = (dependencies: OrderDependencies): Route[] => [
  route({
    method: 'post',
    path: '/ops/runs',
    tag,
    summary: 'Start a run',
    description: 'Started twice for the same time it is one run. It goes on although Redis is away now.',
    role: 'operator',
    movesMoney: true,
    body: z.strictObject({ process, as_of: asOf.optional() }),
    answers: {
      202: z.strictObject({ run_id: z.string(), process, status: z.string(), handed_over: z.boolean() }),
    },
    async handle({ body }, { keySince }) {
      const ordered = await orderRun(dependencies, body.process, body.as_of ?? keySince);
      if ('ahead' in ordered) {
        const now = formatInstant(ordered.ahead.now);
        throw invalidField('body', 'as_of', `not ahead of the clock, which says ${now}`);
      }
      const { run, handedOver } = ordered;
      const { runId: run_id, status } = run;
      return { status: 202, body: { run_id, process: run.process, status, handed_over: handedOver } };
    },
  }),
  route({
    method: 'get',
    path: '/ops/runs',
    tag,
    summary: 'The last runs, newest first',
    role: 'viewer',
    query: z.strictObject({ limit: z.coerce.number('a number').int().min(1).max(100).default(20) }),
    answers: { 200: z.strictObject({ runs: z.array(runView) }) },
    async handle({ query }) {
      const runs = await dependencies.runs.list(query.limit);
      return { status: 200, body: { runs: runs.map(runFigures) } };
    },
  }),
  route({
    method: 'get',
    path: '/ops/runs/{run_id}',
    tag,
    summary: 'The report of a run',
    description: 'While it is under way nothing is added up yet.',
    role: 'viewer',
    params: z.strictObject({ run_id: runId }),
    answers: { 200: runView },
    problems: ['not-found'],
    async handle({ params }) {
      const run = await dependencies.runs.get(params.run_id);
      if (run === null) throw noSuchRun();
      return { status: 200, body: runFigures(run) };
    },
  }),
  route({
    method: 'get',
    path: '/ops/runs/{run_id}/verdicts',
    tag,
    summary: 'What came of each record of a run, page by page',
    role: 'viewer',
    params: z.strictObject({ run_id: runId }),
    query: z.strictObject({ after: cursor.optional() }),
    answers: {
      200: z.strictObject({ verdicts: z.array(verdictView), next: z.string().nullable() }),
    },
    problems: ['not-found'],
    async handle({ params, query }) {
      if ((await dependencies.runs.get(params.run_id)) === null) throw noSuchRun();
      const after = (query.after ?? null) as PageKey | null;
      const { verdicts, nextKey } = await dependencies.runs.verdicts(params.run_id, after);
      return { status: 200, body: { verdicts: verdicts.map(viewOfVerdict), next: nextKey } };
    },
  }),
];

const noSuchRun = (): Problem => new Problem('not-found', 'no such run');

const viewOfVerdict = (verdict: Verdict): z.output<typeof verdictView> => ({
  user_id: verdict.userId,
  subscription_id: verdict.subscriptionId,
  verdict: verdict.verdict,
  reason: verdict.reason,
  detail: verdict.detail,
  amount: formatMoney(verdict.amount),
  at: formatInstant(verdict.at),
  until: formatIfSet(verdict.until),
});
