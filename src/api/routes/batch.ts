import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { BatchDependencies } from '../../app/order-batch.ts';
import { orderBatch } from '../../app/order-batch.ts';
import { requestIdOf } from '../../domain/request-id.ts';
import { subscriptionId, unreadable } from '../fields.ts';
import { acceptedRequest, viewOfAccepted } from '../request-view.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';

/** The answer is kept for the key in one row of 400 KB at most, which this many of the longest ids fill. */
export const MOST_IDS = 500;

export const batchRoutes = (dependencies: BatchDependencies): Route[] => [
  route({
    method: 'post',
    path: '/ops/batch',
    tag: 'Operations',
    summary: 'Collect a list of records',
    description:
      'Each record is considered once, by the rules of a run: one that is not due yet is left alone. All requests are stored before the answer.',
    role: 'operator',
    movesMoney: true,
    body: z.strictObject({
      subscription_ids: z
        .array(subscriptionId)
        .min(1, 'at least one id')
        .max(MOST_IDS, `at most ${MOST_IDS} ids`),
    }),
    answers: {
      202: z.strictObject({
        batch_id: z.string(),
        requests: z.array(acceptedRequest),
        unknown: z.array(z.string()).meta({ description: 'Ids that no record has' }),
        not_owned: z
          .array(z.string())
          .meta({ description: 'Records of members whom the older service bills' }),
        unreadable,
      }),
    },
    problems: ['body-too-large'],
    async handle({ body }, { caller, key }) {
      const batchId = key === null ? `batch.${randomUUID()}` : requestIdOf('batch', caller.name, key);
      const by = caller.name;
      const {
        accepted,
        notOwned: not_owned,
        ...leftOut
      } = await orderBatch(dependencies, { batchId, by }, body.subscription_ids);
      const requests = accepted.map(viewOfAccepted);
      return { status: 202, body: { batch_id: batchId, requests, ...leftOut, not_owned } };
    },
  }),
];
