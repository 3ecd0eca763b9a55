import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { CreateFloatDependencies } from '../../app/floats/create-float.ts';
import { createFloat } from '../../app/floats/create-float.ts';
import type { FloatRef } from '../../app/floats/find-float.ts';
import { activeFloat, findFloat } from '../../app/floats/find-float.ts';
import type { UpdateFloatDependencies } from '../../app/floats/update-float.ts';
import { updateFloat } from '../../app/floats/update-float.ts';
import type { Float, FloatId } from '../../domain/floats/float.ts';
import { LOG_OUTCOMES, STAGES } from '../../domain/floats/float.ts';
import { SUPPORT_WISHES } from '../../domain/floats/support.ts';
import { ZERO } from '../../domain/money.ts';
import { requestIdOf } from '../../domain/request-id.ts';
import { RAILS } from '../../domain/subscription.ts';
import { floatFigures, logFigures } from '../../figures/float-figures.ts';
import type { CollectionHistory, FloatsRepository } from '../../ports/floats.ts';
import type { Log } from '../../ports/log.ts';
import { amount, date, dateText, floatId, reason, unreadable, userId } from '../fields.ts';
import { floatView, stamp } from '../float-view.ts';
import type { ProblemCode } from '../problems.ts';
import { Problem } from '../problems.ts';
import type { RequestContext, Route } from '../route.ts';
import { route } from '../route.ts';
import { told } from '../told.ts';

export type FloatRouteDependencies = CreateFloatDependencies &
  UpdateFloatDependencies & {
    readonly floats: FloatsRepository;
    readonly collectionHistory: CollectionHistory;
    readonly log: Log;
  };

const entryView = z.strictObject({
  loan_id: z.string(),
  run_time: stamp,
  user_id: z.string(),
  due_date: dateText,
  run_date: dateText,
  process: z.enum(STAGES),
  outcome: z.enum(LOG_OUTCOMES),
  confirmation_id: z.string().nullable(),
  method: z.enum(RAILS).nullable().meta({ description: 'Null where nothing was attempted' }),
  attempt_id: z.string().nullable(),
  ach_model_override: z.boolean().nullable(),
  ach_model_version: z.string().nullable(),
  ach_model_features: z.record(z.string(), z.number()).nullable(),
  ach_model_probability: z.number().nullable(),
  support_who: z.string().nullable().meta({ description: 'Whose word it is, where it is support’s' }),
  support_reason: z.string().nullable(),
});

/** What stands where an id could stand in a path is none. */
const newFloatId = floatId
  .refine((id) => id !== 'active', 'another id than active')
  .meta({ description: 'By which name it was paid out. One is made where none is given' });

const advance = z.strictObject({
  amount: amount.refine((cents) => cents > ZERO, 'more than 0.00'),
  due_date: date.meta({ description: 'From today on', examples: ['2026-11-30'] }),
  float_id: newFloatId.optional(),
});

const supportUpdate = z.strictObject({
  status: z.enum(SUPPORT_WISHES, `one of ${SUPPORT_WISHES.join(', ')}`),
  reason: reason.optional().meta({ description: 'Kept in the collection history, for people' }),
});

const ofUser = z.strictObject({ user_id: userId });
const ofFloat = z.strictObject({ user_id: userId, float_id: floatId });

/** Every change of a member's floats may meet these. */
const ANY_CHANGE = ['user-busy', 'not-owned', 'malformed-record'] as const satisfies ProblemCode[];

const tag = 'Floats';
const reading = { method: 'get', tag, role: 'viewer' } as const;

export const floatRoutes = (dependencies: FloatRouteDependencies): Route[] => [
  ...changingRoutes(dependencies),
  ...readingRoutes(dependencies),
];

const changingRoutes = (dependencies: FloatRouteDependencies): Route[] => [
  route({
    method: 'post',
    path: '/v1/{user_id}/floats',
    tag,
    summary: 'Record a float that was paid out',
    description:
      'Checked in this order: an active subscription (by the billing records and the user service), the limits for anybody, no float that is not paid back, and the requirements (a primary account, no float that was never paid back), unless a bypass counts today. The same `float_id` or key with the same contents gives the same float.',
    role: 'operator',
    movesMoney: true,
    params: ofUser,
    body: advance,
    answers: { 201: floatView },
    problems: [
      ...ANY_CHANGE,
      'no-active-subscription',
      'over-limit',
      'open-float',
      'requirements-not-met',
      'request-conflict',
    ],
    async handle({ params, body }, context) {
      const float = await told(
        createFloat(dependencies, {
          userId: params.user_id,
          floatId: body.float_id ?? newIdFor(context),
          amount: body.amount,
          dueDate: body.due_date,
        }),
      );
      trail(dependencies, context, float, 'a float was recorded');
      return { status: 201, body: floatFigures(float) };
    },
  }),
  route({
    method: 'patch',
    path: '/v1/{user_id}/floats/{float_id}',
    tag,
    summary: 'Support says what became of a float',
    description:
      'Any that is not paid back, unless money is under way (ACHSENT), to COMPLETED, DEFAULTED or RETRY; DEFAULTED to RETRY. RETRY is also the member’s new authorisation. Leaves a SUPPORT row in the collection history. Never while a charge has no answer.',
    role: 'operator',
    params: ofFloat,
    body: supportUpdate,
    answers: { 200: floatView },
    problems: [...ANY_CHANGE, 'not-found', 'attempt-open', 'illegal-transition'],
    async handle({ params, body }, context) {
      const by = { who: context.caller.name, reason: body.reason };
      const update = { userId: params.user_id, floatId: params.float_id, status: body.status, by };
      const float = await told(updateFloat(dependencies, update));
      trail(dependencies, context, float, 'support changed a float');
      return { status: 200, body: floatFigures(float) };
    },
  }),
];

const readingRoutes = (dependencies: FloatRouteDependencies): Route[] => [
  route({
    ...reading,
    path: '/v1/{user_id}/floats',
    summary: 'Every float of a member, newest first',
    description: 'One that was made just now may be missing for a moment.',
    params: ofUser,
    answers: { 200: z.strictObject({ floats: z.array(floatView), unreadable }) },
    async handle({ params }) {
      const { floats, malformed } = await dependencies.floats.listByUserID(params.user_id);
      for (const error of malformed) dependencies.log.error({ err: error }, 'a float cannot be read');
      return {
        status: 200,
        body: {
          floats: floats.map(floatFigures),
          unreadable: malformed.map(({ message }) => message),
        },
      };
    },
  }),
  // Before `{float_id}`, which would take it for an id.
  route({
    ...reading,
    path: '/v1/{user_id}/floats/active',
    summary: 'The float that a member has to pay back',
    description:
      '404 when there is none. Where the bank took another one back meanwhile, the one that has been due longest.',
    params: ofUser,
    answers: { 200: floatView },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      const float = await told(activeFloat(dependencies, params.user_id));
      if (float === null) throw new Problem('not-found', 'this user has no float to pay back');
      return { status: 200, body: floatFigures(float) };
    },
  }),
  route({
    ...reading,
    path: '/v1/{user_id}/floats/{float_id}',
    summary: 'One float',
    params: ofFloat,
    answers: { 200: floatView },
    problems: ['not-found', 'malformed-record'],
    handle: async ({ params }) => ({ status: 200, body: floatFigures(await floatOf(dependencies, params)) }),
  }),
  route({
    ...reading,
    path: '/v1/{user_id}/floats/{float_id}/collection-history',
    summary: 'Every attempt on a float, whatever came of it, oldest first',
    description:
      'An ACH debit has two rows: when it was sent, and when the bank had its say. What decided that it went by ACH stands with it.',
    params: ofFloat,
    answers: { 200: z.strictObject({ collection_history: z.array(entryView) }) },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      await floatOf(dependencies, params);
      const entries = await told(dependencies.collectionHistory.getByFloatID(params.float_id));
      return { status: 200, body: { collection_history: entries.map(logFigures) } };
    },
  }),
];

async function floatOf(
  dependencies: FloatRouteDependencies,
  { user_id: user, float_id: id }: z.output<typeof ofFloat>,
): Promise<Float> {
  const ref: FloatRef = { userId: user, floatId: id };
  const float = await told(findFloat(dependencies, ref));
  if (float === null) throw new Problem('not-found', 'no such float of this user');
  return float;
}

/** Under a key it is the same float, however often the caller has to send it. */
const newIdFor = ({ caller, key }: RequestContext): FloatId =>
  (key === null ? randomUUID() : requestIdOf('advance', caller.name, key)) as FloatId;

function trail(
  { log }: FloatRouteDependencies,
  { caller, requestId }: RequestContext,
  { floatId: id, userId: user, status }: Float,
  message: string,
): void {
  log.info({ requestId, by: caller.name, userId: user, floatId: id, status }, message);
}
