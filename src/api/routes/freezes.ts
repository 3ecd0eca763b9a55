import { z } from 'zod';
import { formatIfSet, formatInstant } from '../../domain/instant.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FreezeOrder, FreezeStore, FreezeTarget } from '../../ports/freezes.ts';
import { freezeTargetName, parseFreezeTarget } from '../../ports/freezes.ts';
import { reason, time, timeText } from '../fields.ts';
import { Problem, invalidField } from '../problems.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';

export interface FreezeRouteDependencies {
  readonly freezes: FreezeStore;
  readonly clock: Clock;
}

const target = z
  .string()
  .max(200)
  .transform((text, context): FreezeTarget => {
    const parsed = parseFreezeTarget(text);
    if (parsed === null) context.addIssue('global, pinless, ach, or user:ID of one member');
    return parsed ?? z.NEVER;
  })
  .meta({ description: 'What is stopped: everything, a rail or a member', examples: ['ach', 'user:123'] });

const view = z.strictObject({
  target: z.string(),
  reason: z.string(),
  who: z.string(),
  at: timeText,
  until: timeText.nullable().meta({ description: 'Null: until somebody lifts it' }),
});

const tag = 'Operations';

export const freezeRoutes = ({ freezes, clock }: FreezeRouteDependencies): Route[] => [
  route({
    method: 'get',
    path: '/ops/freezes',
    tag,
    summary: 'What is frozen, why, by whom and until when',
    role: 'viewer',
    answers: { 200: z.strictObject({ freezes: z.array(view) }) },
    handle: async () => ({ status: 200, body: { freezes: (await freezes.list()).map(viewOf) } }),
  }),
  route({
    method: 'post',
    path: '/ops/freezes',
    tag,
    summary: 'Stop charging: everybody, one rail or one member',
    description:
      'Holds for every decision that is made after the answer. Records are deferred, not lost; a charge that is on its way is not called back. Ordered again it is replaced.',
    role: 'operator',
    body: z.strictObject({ target, reason, until: time.optional() }),
    answers: { 201: view },
    async handle({ body }, { caller }) {
      const at = clock.now();
      const until = body.until ?? null;
      if (until !== null && until <= at) {
        throw invalidField('body', 'until', `a time that is still to come: it is ${formatInstant(at)}`);
      }
      const order: FreezeOrder = { target: body.target, reason: body.reason, who: caller.name, at, until };
      await freezes.freeze(order);
      return { status: 201, body: viewOf(order) };
    },
  }),
  route({
    method: 'delete',
    path: '/ops/freezes/{target}',
    tag,
    summary: 'Lift a freeze',
    role: 'operator',
    params: z.strictObject({ target }),
    answers: { 200: z.strictObject({ lifted: z.string() }) },
    problems: ['not-found'],
    async handle({ params }, { caller }) {
      const lifted = await freezes.unfreeze(params.target, { who: caller.name, at: clock.now() });
      if (!lifted) throw new Problem('not-found', `${freezeTargetName(params.target)} is not frozen`);
      return { status: 200, body: { lifted: freezeTargetName(params.target) } };
    },
  }),
];

const viewOf = ({ target: stopped, reason: why, who, at, until }: FreezeOrder): z.output<typeof view> => ({
  target: freezeTargetName(stopped),
  reason: why,
  who,
  at: formatInstant(at),
  until: formatIfSet(until),
});
