import { z } from 'zod';
import type { FindDependencies } from '../../app/find-request.ts';
import { findRequest } from '../../app/find-request.ts';
import { name, userId } from '../fields.ts';
import { Problem } from '../problems.ts';
import { requestView, viewOfRequest } from '../request-view.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';

export const requestRoutes = (dependencies: FindDependencies): Route[] => [
  route({
    method: 'get',
    path: '/v1/{user_id}/requests/{job_id}',
    tag: 'Payments',
    summary: 'What became of an accepted request',
    role: 'viewer',
    params: z.strictObject({ user_id: userId, job_id: name }),
    answers: { 200: requestView },
    problems: ['not-found'],
    async handle({ params }) {
      const request = await findRequest(dependencies, params.job_id);
      // Another user's request is told about as little as one that never was.
      if (request === null || request.userId !== params.user_id) {
        throw new Problem('not-found', 'no such request of this user');
      }
      return { status: 200, body: viewOfRequest(request) };
    },
  }),
];
