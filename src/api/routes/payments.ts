import { z } from 'zod';
import type { PaybackDependencies, PaybackRefusal } from '../../app/floats/request-payback.ts';
import { requestPayback } from '../../app/floats/request-payback.ts';
import type { PaymentDependencies, PaymentRefusal, RequestedPayment } from '../../app/request-payment.ts';
import { requestPayment } from '../../app/request-payment.ts';
import type { WaitDependencies } from '../../app/wait-for-request.ts';
import { waitForRequest } from '../../app/wait-for-request.ts';
import { floatId, subscriptionId, userId } from '../fields.ts';
import type { ProblemCode } from '../problems.ts';
import { Problem } from '../problems.ts';
import { acceptedRequest, requestView, viewOfAccepted, viewOfRequest } from '../request-view.ts';
import type { Answer, RequestContext, Route } from '../route.ts';
import { route } from '../route.ts';
import { triggerOf } from '../trigger.ts';

export type PaymentRouteDependencies = PaymentDependencies & PaybackDependencies & WaitDependencies;

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

const query = z.strictObject({ wait: seconds.optional() });

/** Whatever is paid. */
const described = {
  method: 'post',
  tag: 'Payments',
  role: 'service',
  movesMoney: true,
  query,
  answers: { 200: requestView, 202: acceptedRequest },
} as const;

const ANY_PAYMENT = [
  'not-found',
  'not-payable',
  'attempt-open',
  'frozen',
  'not-owned',
  'malformed-record',
  'request-conflict',
] as const satisfies ProblemCode[];

export const paymentRoutes = (dependencies: PaymentRouteDependencies): Route[] => [
  route({
    ...described,
    path: '/v1/{user_id}/subscriptions/{subscription_id}/pay',
    summary: 'Charge the member’s debit card for one period, because the member asks for it',
    description:
      'A SCHEDULED or ERROR record. The request is stored before the answer; a worker carries it out. With `wait` the answer is 200 when the outcome is known in time. A decline leaves the record’s status.',
    params: z.strictObject({ user_id: userId, subscription_id: subscriptionId }),
    problems: [...ANY_PAYMENT, 'pending-cancellation', 'account-closed'],
    async handle(input, context) {
      const result = await requestPayment(dependencies, {
        requestId: triggerOf('pay', context),
        userId: input.params.user_id,
        subscriptionId: input.params.subscription_id,
        by: context.caller.name,
      });
      return answerTo(dependencies, result, input.query, context);
    },
  }),
  route({
    ...described,
    path: '/v1/{user_id}/floats/{float_id}/payback',
    summary: 'Charge the member’s debit card for a float, because the member asks for it',
    description:
      'A float that is SCHEDULING, RETRY or UNCOLLECTABLE. The request is stored before the answer; a worker carries it out. With `wait` the answer is 200 when the outcome is known in time. A decline leaves the float’s status.',
    params: z.strictObject({ user_id: userId, float_id: floatId }),
    problems: [...ANY_PAYMENT, 'no-debit-card'],
    async handle(input, context) {
      const result = await requestPayback(dependencies, {
        requestId: triggerOf('payback', context),
        userId: input.params.user_id,
        floatId: input.params.float_id,
        by: context.caller.name,
      });
      return answerTo(dependencies, result, input.query, context);
    },
  }),
];

/** The promise; or what became of it, where the caller waits and it is known in time. */
async function answerTo(
  dependencies: WaitDependencies,
  result: RequestedPayment<PaymentRefusal | PaybackRefusal>,
  { wait }: z.output<typeof query>,
  { gone }: RequestContext,
): Promise<Answer> {
  if ('refused' in result) throw problemOf(result.refused);
  const forMs = (wait ?? 0) * 1_000;
  const request = await waitForRequest(dependencies, result.accepted, { forMs, gone });
  return wait === undefined || request.status === 'accepted'
    ? { status: 202, body: viewOfAccepted(request) }
    : { status: 200, body: viewOfRequest(request) };
}

function problemOf(refusal: PaymentRefusal | PaybackRefusal): Problem {
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
    case 'account-closed':
      return new Problem('account-closed', 'the account was closed: this period will not be charged');
    case 'attempt-open':
      return new Problem('attempt-open', 'a charge for this record has no answer yet: no other may begin');
    case 'no-debit-card':
      return new Problem('no-debit-card', 'the member has no debit card');
    case 'frozen':
      return new Problem('frozen', FROZEN[refusal.scope]);
  }
}

const FROZEN = {
  global: 'all charging is frozen',
  user: 'this member is frozen',
  PINLESS: 'charging debit cards is frozen',
} as const;
