import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { PaymentDependencies, PaymentRefusal } from '../../app/request-payment.ts';
import { requestPayment } from '../../app/request-payment.ts';
import type { WaitDependencies } from '../../app/wait-for-request.ts';
import { waitForRequest } from '../../app/wait-for-request.ts';
import { requestIdOf } from '../../domain/request-id.ts';
import { subscriptionId, userId } from '../fields.ts';
import { Problem } from '../problems.ts';
import { acceptedRequest, requestView, viewOfAccepted, viewOfRequest } from '../request-view.ts';
import type { RequestContext, Route } from '../route.ts';
import { route } from '../route.ts';

/** Shorter than any proxy on the way gives up. */
const LONGEST_WAIT_S = 30;

const seconds = z
  .string()
  .refine(
    (text) => /^\d{1,2}$/.test(text) && Number(text) <= LONGEST_WAIT_S,
    `0 to ${LONGEST_WAIT_S} seconds`,
  )
  .transform(Number)
  .meta({
    description: `How many seconds to wait for the outcome, at most ${LONGEST_WAIT_S}`,
    examples: ['10'],
  });

export const paymentRoutes = (dependencies: PaymentDependencies & WaitDependencies): Route[] => [
  route({
    method: 'post',
    path: '/v1/{user_id}/subscriptions/{subscription_id}/pay',
    tag: 'Payments',
    summary: 'Charge the member’s debit card for one period, because the member asks for it',
    description:
      'A SCHEDULED or ERROR record. The request is stored before the answer; a worker carries it out. With `wait` the answer is 200 when the outcome is known in time. A decline leaves the record’s status.',
    role: 'service',
    movesMoney: true,
    params: z.strictObject({ user_id: userId, subscription_id: subscriptionId }),
    query: z.strictObject({ wait: seconds.optional() }),
    answers: { 200: requestView, 202: acceptedRequest },
    problems: [
      'not-found',
      'not-payable',
      'pending-cancellation',
      'attempt-open',
      'frozen',
      'not-owned',
      'malformed-record',
      'request-conflict',
    ],
    async handle({ params, query }, context) {
      const result = await requestPayment(dependencies, {
        requestId: requestIdFor(context),
        userId: params.user_id,
        subscriptionId: params.subscription_id,
        by: context.caller.name,
      });
      if ('refused' in result) throw problemOf(result.refused);
      const request = await waitForRequest(dependencies, result.accepted, {
        forMs: (query.wait ?? 0) * 1_000,
        gone: context.gone,
      });
      return query.wait === undefined || request.status === 'accepted'
        ? { status: 202, body: viewOfAccepted(request) }
        : { status: 200, body: viewOfRequest(request) };
    },
  }),
];

/** Under a key it is the same request, however often the caller has to send it. */
const requestIdFor = ({ caller, key }: RequestContext): string =>
  key === null ? `pay.${randomUUID()}` : requestIdOf('pay', caller.name, key);

function problemOf(refusal: PaymentRefusal): Problem {
  switch (refusal.reason) {
    case 'unknown-record':
      return new Problem('not-found', 'no such record of this user');
    case 'unreadable':
      return new Problem('malformed-record', 'nothing is charged until somebody has mended it');
    case 'not-owned':
      return new Problem('not-owned', 'the other service bills this member');
    case 'not-payable':
      return new Problem('not-payable', `the record is ${refusal.status}`);
    case 'pending-cancellation':
      return new Problem('pending-cancellation', 'the member has cancelled: this period will not be charged');
    case 'attempt-open':
      return new Problem('attempt-open', 'a charge for this record has no answer yet: no other may begin');
    case 'frozen':
      return new Problem('frozen', FROZEN[refusal.scope]);
  }
}

const FROZEN = {
  global: 'all charging is frozen',
  user: 'this member is frozen',
  PINLESS: 'charging debit cards is frozen',
} as const;
