import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ChangeRecurringDependencies } from '../../app/recurring/change-recurring.ts';
import { cancelRecurring, changeRecurring } from '../../app/recurring/change-recurring.ts';
import type { CreateRecurringDependencies } from '../../app/recurring/create-recurring.ts';
import { createRecurring } from '../../app/recurring/create-recurring.ts';
import { ZERO } from '../../domain/money.ts';
import type { RecurringWish } from '../../domain/recurring/by-hand.ts';
import { hasCardNumber } from '../../domain/recurring/card-number.ts';
import type { RecurringId, RecurringSubscription } from '../../domain/recurring/recurring.ts';
import { requestIdOf } from '../../domain/request-id.ts';
import { receiptFigures, recurringFigures } from '../../figures/recurring-figures.ts';
import type { RecurringRef } from '../../ports/recurring.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import {
  accountId,
  amount,
  amountText,
  cursor,
  date,
  dateText,
  recurringId,
  timeText,
  unreadable,
} from '../fields.ts';
import type { ProblemCode } from '../problems.ts';
import { Problem } from '../problems.ts';
import { recurringView } from '../recurring-view.ts';
import type { RequestContext, Route } from '../route.ts';
import { route } from '../route.ts';
import { told } from '../told.ts';

export type RecurringRouteDependencies = CreateRecurringDependencies & ChangeRecurringDependencies;

const receiptView = z.strictObject({
  receipt_number: z.string().meta({ description: 'The account’s own count', examples: ['0000000001'] }),
  account_id: z.string(),
  subscription_id: z.string(),
  sku: z.string(),
  email: z.string(),
  period_date: dateText,
  processed_date: timeText,
  processed_amount: amountText,
  confirmation_id: z.string(),
  expires_at: timeText,
});

const sku = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'a SKU: 1 to 64 letters, digits, points, dashes and underscores')
  .meta({ description: 'What is paid for', examples: ['999'] });

const paymentAmount = amount.refine((cents) => cents > ZERO, 'more than 0.00');

const paymentDay = z
  .int('a day of the month, 1 to 31')
  .min(1, 'a day of the month, 1 to 31')
  .max(31, 'a day of the month, 1 to 31')
  .meta({ description: 'Months that are too short are paid for on their last day', examples: [31] });

/** No card number is kept here, wherever it is written. */
const NO_CARD = 'nothing that may be a card number: send the token that stands for the card';
const withoutCard = (text: string): boolean => !hasCardNumber(text);

const paymentToken = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'a token: 1 to 200 visible ASCII characters')
  .refine(withoutCard, NO_CARD)
  .meta({ description: 'Stands for the card at the processor’s', examples: ['tok_9f3c2a10'] });

const MOST_DETAILS = 10;
const detailName = z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'small letters, digits and underscores');
const paymentDetails = z
  .record(detailName, z.string().max(200, 'at most 200 characters').refine(withoutCard, NO_CARD))
  .refine((details) => Object.keys(details).length <= MOST_DETAILS, `at most ${MOST_DETAILS} details`)
  // Of all names at once: the refusal of a single one would repeat it.
  .refine((details) => Object.keys(details).every(withoutCard), NO_CARD)
  .refine((details) => !('token' in details), 'other details than the token, which has a field of its own')
  .meta({ description: 'What people know the token by', examples: [{ brand: 'Visa', last_four: '4242' }] });

const wish = z.strictObject({
  sku,
  email: z.email('an email address').max(254, 'at most 254 characters'),
  payment_amount: paymentAmount,
  payment_token: paymentToken,
  payment_details: paymentDetails.default({}),
  payment_day: paymentDay
    .optional()
    .meta({ description: 'The day of the month on which it is paid; that of the start if left out' }),
  start_date: date
    .optional()
    .meta({ description: 'The first payment is on the first payment day from then on; today if left out' }),
});

const changes = z
  .strictObject({
    sku: sku.optional(),
    payment_amount: paymentAmount.optional(),
    payment_day: paymentDay.optional(),
    payment_token: paymentToken.optional(),
    payment_details: paymentDetails.optional(),
  })
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    'something to change: sku, payment_amount, payment_day, payment_token or payment_details',
  );

const ofAccount = z.strictObject({ account_id: accountId });
const ofSubscription = z.strictObject({ account_id: accountId, subscription_id: recurringId });
const ofReceipt = z.strictObject({
  account_id: accountId,
  receipt_number: z
    .string()
    .regex(/^\d{1,10}$/, 'a receipt’s number, at most ten digits')
    .transform(Number),
});

const MOST_RECEIPTS = 100;
const receiptQuery = z.strictObject({
  limit: z.coerce
    .number(`a whole number from 1 to ${MOST_RECEIPTS}`)
    .int(`a whole number from 1 to ${MOST_RECEIPTS}`)
    .min(1, `a whole number from 1 to ${MOST_RECEIPTS}`)
    .max(MOST_RECEIPTS, `a whole number from 1 to ${MOST_RECEIPTS}`)
    .default(50),
  after: cursor.optional(),
});

/** Every change of an account's payments may meet these. */
const ANY_CHANGE = [
  'user-busy',
  'not-owned',
  'not-found',
  'malformed-record',
] as const satisfies ProblemCode[];

const tag = 'Recurring payments';
const PATH = '/v1/accounts/{account_id}/recurring';
const reading = { method: 'get', tag, role: 'viewer' } as const;

export const recurringRoutes = (dependencies: RecurringRouteDependencies): Route[] => [
  ...changingRoutes(dependencies),
  // Before `{subscription_id}`, which would take `receipts` for an id.
  ...receiptRoutes(dependencies),
  ...readingRoutes(dependencies),
];

const changingRoutes = (dependencies: RecurringRouteDependencies): Route[] => [
  route({
    method: 'post',
    path: PATH,
    tag,
    summary: 'Begin a recurring payment',
    description:
      'One payment in each calendar month. The account is told of each some days before, and of the first at once where it is nearer than that. Card numbers are refused: send a token.',
    role: 'operator',
    movesMoney: true,
    params: ofAccount,
    body: wish,
    answers: { 201: recurringView },
    problems: [...ANY_CHANGE, 'user-not-eligible', 'request-conflict'],
    async handle({ params, body }, context) {
      const subscription = await told(
        createRecurring(dependencies, {
          wish: {
            accountId: params.account_id,
            recurringId: newIdFor(context),
            sku: body.sku,
            email: body.email,
            paymentAmount: body.payment_amount,
            paymentToken: body.payment_token,
            paymentDetails: body.payment_details,
          },
          startDate: body.start_date ?? null,
          paymentDay: body.payment_day ?? null,
          by: context.caller.name,
        }),
      );
      trail(dependencies, context, subscription, 'a recurring payment was begun');
      return { status: 201, body: recurringFigures(subscription) };
    },
  }),
  route({
    method: 'patch',
    path: `${PATH}/{subscription_id}`,
    tag,
    summary: 'Change the amount, the SKU, the payment day or the token of a recurring payment',
    description:
      'Another day moves this period within its month; where that has passed, or the payment was tried, it counts from the next one on. The account is told of another amount or SKU before it is charged, at once where the payment is near; neither changes while a declined payment is owed. Never while a charge has no answer.',
    role: 'operator',
    params: ofSubscription,
    body: changes,
    answers: { 200: recurringView },
    problems: [...ANY_CHANGE, 'attempt-open', 'subscription-over', 'payment-owed'],
    async handle({ params, body }, context) {
      const order = { wish: wishOf(body), by: context.caller.name };
      const subscription = await told(changeRecurring(dependencies, refOf(params), order));
      trail(dependencies, context, subscription, 'a recurring payment was changed');
      return { status: 200, body: recurringFigures(subscription) };
    },
  }),
  route({
    method: 'post',
    path: `${PATH}/{subscription_id}/cancel`,
    tag,
    summary: 'End a recurring payment',
    description:
      'Repeatable, and at any time: a charge that was sent before and has no answer yet is still recorded, with its receipt.',
    role: 'operator',
    params: ofSubscription,
    answers: { 200: recurringView },
    problems: [...ANY_CHANGE, 'subscription-over'],
    async handle({ params }, context) {
      const work = cancelRecurring(dependencies, refOf(params), context.caller.name);
      const subscription = await told(work);
      trail(dependencies, context, subscription, 'a recurring payment was cancelled');
      return { status: 200, body: recurringFigures(subscription) };
    },
  }),
];

const receiptRoutes = ({ recurring, clock, log }: RecurringRouteDependencies): Route[] => [
  route({
    ...reading,
    path: `${PATH}/receipts`,
    summary: 'The receipts of an account, newest first',
    description: 'Those that have not expired. `next` is where the list goes on: send it as `after`.',
    params: ofAccount,
    query: receiptQuery,
    answers: {
      200: z.strictObject({ receipts: z.array(receiptView), unreadable, next: z.string().nullable() }),
    },
    async handle({ params, query }) {
      const key = (query.after ?? null) as PageKey | null;
      const page = { now: clock.now(), limit: query.limit, key };
      const { receipts, malformed, nextKey } = await recurring.getReceiptsByAccount(params.account_id, page);
      for (const error of malformed) log.error({ err: error }, 'a receipt cannot be read');
      const rows = malformed.map(({ message }) => message);
      const body = { receipts: receipts.map(receiptFigures), unreadable: rows, next: nextKey };
      return { status: 200, body };
    },
  }),
  route({
    ...reading,
    path: `${PATH}/receipts/{receipt_number}`,
    summary: 'One receipt',
    params: ofReceipt,
    answers: { 200: receiptView },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      const receipt = await told(recurring.getReceipt(params.account_id, params.receipt_number));
      if (receipt === null || receipt.expiresAt <= clock.now())
        throw new Problem('not-found', 'no such receipt of this account');
      return { status: 200, body: receiptFigures(receipt) };
    },
  }),
];

const readingRoutes = ({ recurring, log }: RecurringRouteDependencies): Route[] => [
  route({
    ...reading,
    path: PATH,
    summary: 'Every recurring payment of an account, also those that are over',
    params: ofAccount,
    answers: { 200: z.strictObject({ subscriptions: z.array(recurringView), unreadable }) },
    async handle({ params }) {
      const { subscriptions, malformed } = await recurring.getSubscriptionsByAccount(params.account_id);
      for (const error of malformed) log.error({ err: error }, 'a recurring payment cannot be read');
      const rows = malformed.map(({ message }) => message);
      return { status: 200, body: { subscriptions: subscriptions.map(recurringFigures), unreadable: rows } };
    },
  }),
  route({
    ...reading,
    path: `${PATH}/{subscription_id}`,
    summary: 'One recurring payment',
    params: ofSubscription,
    answers: { 200: recurringView },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      const subscription = await told(recurring.getSubscription(refOf(params)));
      if (subscription === null) throw new Problem('not-found', 'no such subscription of this account');
      return { status: 200, body: recurringFigures(subscription) };
    },
  }),
];

const refOf = (params: z.output<typeof ofSubscription>): RecurringRef => ({
  accountId: params.account_id,
  recurringId: params.subscription_id,
});

const wishOf = (body: z.output<typeof changes>): RecurringWish => ({
  ...(body.sku === undefined ? {} : { sku: body.sku }),
  ...(body.payment_amount === undefined ? {} : { paymentAmount: body.payment_amount }),
  ...(body.payment_day === undefined ? {} : { paymentDay: body.payment_day }),
  ...(body.payment_token === undefined ? {} : { paymentToken: body.payment_token }),
  ...(body.payment_details === undefined ? {} : { paymentDetails: body.payment_details }),
});

/** Under a key it is the same payment, however often the caller has to send it. Without a point: records are named by it. */
const newIdFor = ({ caller, key }: RequestContext): RecurringId =>
  (key === null ? randomUUID() : requestIdOf('sub', caller.name, key).replace('.', '-')) as RecurringId;

function trail(
  { log }: RecurringRouteDependencies,
  { caller, requestId }: RequestContext,
  subscription: RecurringSubscription,
  message: string,
): void {
  const { accountId: account, recurringId: subscriptionId, status } = subscription;
  log.info({ requestId, by: caller.name, accountId: account, subscriptionId, status }, message);
}
