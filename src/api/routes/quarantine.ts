import { z } from 'zod';
import { dropQuarantined, replayQuarantined } from '../../app/quarantine.ts';
import type { Replay, ReplayDependencies } from '../../app/quarantine.ts';
import { readAgain } from '../../app/read-again.ts';
import type { OwnedUsers } from '../../domain/ownership.ts';
import { quarantinedFigures } from '../../figures/quarantine-figures.ts';
import type { AppliedEvent, InboxEvent } from '../../ports/inbox.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import { formatInstant } from '../../domain/instant.ts';
import { cursor, name, reason, timeText } from '../fields.ts';
import { Problem, userBusy } from '../problems.ts';
import type { Answer, Route } from '../route.ts';
import { route } from '../route.ts';

export interface QuarantineRouteDependencies extends Omit<ReplayDependencies, 'readAgain' | 'enqueue'> {
  readonly owned: OwnedUsers;
  readonly ensureEvent: (event: InboxEvent) => Promise<unknown>;
}

const quarantined = z.strictObject({
  id: z.string(),
  stream: z.string(),
  at: timeText,
  reason: z.string(),
  user_id: z.string().nullable(),
  type: z.string().nullable(),
  data: z.unknown().meta({ description: 'What the event says; null where it could not be read' }),
  raw: z
    .string()
    .nullable()
    .meta({ description: 'The record as it came, base64, where it could not be read' }),
  cut: z.boolean().meta({ description: 'Whether `raw` is only the beginning' }),
});

const applied = z.strictObject({ type: z.string(), sequence: z.string(), at: timeText });

const described = { tag: 'Operations', params: z.strictObject({ quarantine_id: name }) } as const;

export const quarantineRoutes = (dependencies: QuarantineRouteDependencies): Route[] => [
  route({
    method: 'get',
    path: '/ops/quarantine',
    tag: 'Operations',
    summary: 'Events that could not be read or applied, oldest first',
    role: 'viewer',
    query: z.strictObject({ after: cursor.optional() }),
    answers: {
      200: z.strictObject({
        quarantined: z.array(quarantined),
        next: z.string().nullable().meta({ description: 'For `after`; null on the last page' }),
      }),
    },
    async handle({ query }) {
      const page = await dependencies.quarantine.list((query.after ?? null) as PageKey | null);
      for (const error of page.unreadable) {
        dependencies.log.error({ err: error }, 'an entry of the quarantine cannot be read');
      }
      return { status: 200, body: { quarantined: page.items.map(quarantinedFigures), next: page.nextKey } };
    },
  }),
  route({
    ...described,
    method: 'post',
    path: '/ops/quarantine/{quarantine_id}/replay',
    summary: 'Put an event back, to be applied again',
    description:
      'After what stood against it was mended. Out of order, after later events, only with `force`.',
    role: 'operator',
    body: z.strictObject({ force: z.boolean('true or false').default(false) }),
    answers: {
      200: z.strictObject({ replayed: z.string(), handed_over: z.boolean(), later: z.array(applied) }),
    },
    problems: ['not-found', 'user-busy', 'overtaken', 'unreadable', 'dealt-with'],
    async handle({ params, body }) {
      const { owned, clock, ensureEvent } = dependencies;
      const replay = await replayQuarantined(
        {
          ...dependencies,
          readAgain: (item) => readAgain(item, { owned, receivedAt: clock.now() }),
          enqueue: ensureEvent,
        },
        params.quarantine_id,
        body,
      );
      return answerOf(params.quarantine_id, replay);
    },
  }),
  route({
    ...described,
    method: 'post',
    path: '/ops/quarantine/{quarantine_id}/drop',
    summary: 'Give an event up',
    description: 'It is never applied, also when it is delivered again. Who did so and why stays on record.',
    role: 'operator',
    body: z.strictObject({ reason }),
    answers: { 200: z.strictObject({ dropped: z.string() }) },
    problems: ['not-found'],
    async handle({ params, body }, { caller }) {
      const by = { who: caller.name, reason: body.reason };
      const { result } = await dropQuarantined(dependencies, params.quarantine_id, by);
      if (result === 'unknown') throw notThere();
      return { status: 200, body: { dropped: params.quarantine_id } };
    },
  }),
];

function answerOf(id: string, replay: Replay): Answer {
  switch (replay.result) {
    case 'replayed':
      return {
        status: 200,
        body: { replayed: id, handed_over: replay.handedOver, later: replay.later.map(appliedView) },
      };
    case 'unknown':
      throw notThere();
    case 'unreadable':
      throw new Problem('unreadable', replay.reason);
    case 'dealt-with':
      throw new Problem(
        'dealt-with',
        'the same event came once more and was applied or dropped; drop this one',
      );
    case 'overtaken':
      throw new Problem(
        'overtaken',
        `${replay.later.map(({ type }) => type).join(', ')} came later and was applied; send force to replay it all the same`,
      );
    case 'busy':
      throw userBusy();
  }
}

const notThere = (): Problem => new Problem('not-found', 'nothing of that name is in quarantine');

const appliedView = ({ type, sequence, at }: AppliedEvent) => ({ type, sequence, at: formatInstant(at) });
