import { z } from 'zod';
import { activate } from '../../app/desk/activate.ts';
import type { BanDependencies } from '../../app/desk/ban-user.ts';
import { banUser } from '../../app/desk/ban-user.ts';
import type { DeskDependencies } from '../../app/desk/desk.ts';
import { downgrade } from '../../app/desk/downgrade.ts';
import { reactivate } from '../../app/desk/reactivate.ts';
import { refundPayment } from '../../app/desk/refund-payment.ts';
import { updateRecord } from '../../app/desk/update-record.ts';
import { upgrade } from '../../app/desk/upgrade.ts';
import { billingInstant } from '../../domain/billing-dates.ts';
import { dateOf } from '../../domain/calendar-date.ts';
import { MEMBERSHIPS, currentSubscription } from '../../domain/current-subscription.ts';
import type { Instant } from '../../domain/instant.ts';
import { billingDateBounds } from '../../domain/plans/support-update.ts';
import type { UserId } from '../../domain/subscription.ts';
import { BILLING_STATUSES, TERMS } from '../../domain/subscription.ts';
import { tierNameOf } from '../../domain/tiers.ts';
import { billingFigures, termFigures } from '../../figures/billing-figures.ts';
import { subscriptionFigures } from '../../figures/subscription-figures.ts';
import { amount, amountText, date, reason, subscriptionId, time, timeText, userId } from '../fields.ts';
import type { ProblemCode } from '../problems.ts';
import { Problem, invalidField } from '../problems.ts';
import type { RequestContext, Route } from '../route.ts';
import { route } from '../route.ts';
import { told } from '../told.ts';
import { triggerOf } from '../trigger.ts';
import { subscriptionView } from './subscriptions.ts';

export type MembershipRouteDependencies = DeskDependencies & BanDependencies;

const ofUser = z.strictObject({ user_id: userId });
const ofRecord = z.strictObject({ user_id: userId, subscription_id: subscriptionId });

/** Names as `TIERS` has them. */
const tierWord = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'a tier or version such as Plus, v1');
const why = { reason: reason.optional().meta({ description: 'Kept in the history, for people' }) };
const tier = { tier: tierWord, version: tierWord };

const STORED_STATUSES = BILLING_STATUSES.filter((status) => status !== 'INACTIVE');
const LONGEST_PAUSE_MONTHS = 3;

const dueDate = z
  .union([date, time], 'a day such as 2026-12-16, or a moment of that day')
  .transform((when) => billingInstant(typeof when === 'string' ? when : dateOf(when)))
  .meta({ description: 'The new due date. The day counts, in UTC; billing is at 06:00 of it' });

const pauseMonths = z
  .int(`a whole number, at most ${LONGEST_PAUSE_MONTHS}`)
  .min(-1_000)
  .max(LONGEST_PAUSE_MONTHS, `at most ${LONGEST_PAUSE_MONTHS} months`)
  .meta({ description: '1 to 3 months; 0 or less has no end and is kept as -1' });

const update = z
  .strictObject({
    billing_status: z.enum(STORED_STATUSES).optional(),
    billing_date: dueDate.optional(),
    pause_duration_months: pauseMonths.optional(),
    ...why,
  })
  .refine(
    ({ billing_status, billing_date, pause_duration_months }) =>
      [billing_status, billing_date, pause_duration_months].some((field) => field !== undefined),
    'something to change: billing_status, billing_date or pause_duration_months',
  )
  .refine(({ billing_status, billing_date }) => !isClosing(billing_status) || billing_date === undefined, {
    path: ['billing_date'],
    error: 'nothing: a record that is closed has no other date',
  });

const isClosing = (status: string | undefined): boolean => status === 'CANCELLED' || status === 'WAIVED';

const activation = z
  .strictObject({
    tier: tierWord.optional(),
    version: tierWord.optional(),
    term: z.enum(TERMS).default('MONTHLY'),
    friday_billing: z.boolean('true or false').default(false),
    ...why,
  })
  .refine((body) => (body.tier === undefined) === (body.version === undefined), {
    path: ['version'],
    error: 'tier and version, both or neither',
  });

const charged = z.strictObject({ subscription: subscriptionView, next: subscriptionView.nullable() });
const upgraded = z.strictObject({
  proration: subscriptionView.nullable().meta({ description: 'What was paid now; null for nothing' }),
  upcoming: subscriptionView.nullable().meta({ description: 'The next period, at the new price' }),
});
const refund = z.strictObject({
  refund_id: z.string(),
  status: z.enum(['sent', 'unknown']).meta({ description: '`unknown`: no answer yet, it is asked about' }),
  subscription: subscriptionView,
});
const billingDetails = z.strictObject({
  user_id: z.string(),
  membership: z.enum(MEMBERSHIPS),
  tier: z.string().nullable(),
  version: z.string().nullable(),
  term: z.enum(TERMS),
  billing_amount: amountText,
  next_billing_date: timeText.nullable(),
  billing_week: z.int().nullable(),
  is_friday_billing: z.boolean(),
  pause_duration_months: z.int(),
  is_pending_downgrade: z.boolean(),
  owed_amount: amountText,
  last_payment: z
    .strictObject({
      subscription_id: z.string(),
      amount: amountText,
      at: timeText.nullable(),
      payment_type: z.string(),
      account_mask: z.string(),
    })
    .nullable(),
});
const activeTerm = z.strictObject({
  user_id: z.string(),
  membership: z.enum(MEMBERSHIPS),
  term: z.enum(TERMS).nullable().meta({ description: 'Null once the membership has ended' }),
  subscription_id: z.string().nullable(),
});

/** Every change of a member may meet these. */
const ANY_CHANGE = ['user-busy', 'not-owned', 'malformed-record'] as const satisfies ProblemCode[];
const ANY_CHARGE = [
  ...ANY_CHANGE,
  'not-found',
  'frozen',
  'user-not-eligible',
  'no-debit-card',
  'unpriced-tier',
  'payment-declined',
  'service-down',
] as const satisfies ProblemCode[];

const described = { tag: 'Memberships', role: 'operator' } as const;

export const membershipRoutes = (dependencies: MembershipRouteDependencies): Route[] => [
  ...supportRoutes(dependencies),
  ...planRoutes(dependencies),
  ...paidRoutes(dependencies),
  ...billingRoutes(dependencies),
];

const supportRoutes = (dependencies: MembershipRouteDependencies): Route[] => [
  route({
    ...described,
    method: 'patch',
    path: '/v1/{user_id}/subscriptions/{subscription_id}',
    summary: 'Support changes a record: its status, its due date, the length of its pause',
    description:
      'SCHEDULED↔PAUSED, ERROR→SCHEDULED, and any of the three to CANCELLED or WAIVED; the due date of these three. Never while a charge has no answer.',
    params: ofRecord,
    body: update,
    answers: { 200: subscriptionView },
    problems: [
      ...ANY_CHANGE,
      'not-found',
      'attempt-open',
      'illegal-transition',
      'period-taken',
      'unpriced-tier',
    ],
    async handle({ params, body }, context) {
      assertSensibleDate(body.billing_date, dependencies.clock.now());
      const record = await told(
        updateRecord(dependencies, {
          userId: params.user_id,
          subscriptionId: params.subscription_id,
          status: body.billing_status ?? null,
          billingDate: body.billing_date ?? null,
          pauseDurationMonths: body.pause_duration_months ?? null,
          by: askedBy(context, body),
        }),
      );
      return { status: 200, body: subscriptionFigures(record) };
    },
  }),
  route({
    ...described,
    method: 'post',
    path: '/v1/{user_id}/subscriptions/{subscription_id}/waive',
    summary: 'Let the member off one period',
    description: 'The next period comes all the same.',
    params: ofRecord,
    body: z.strictObject(why),
    answers: { 200: subscriptionView },
    problems: [...ANY_CHANGE, 'not-found', 'attempt-open', 'illegal-transition'],
    async handle({ params, body }, context) {
      const record = await told(
        updateRecord(dependencies, {
          userId: params.user_id,
          subscriptionId: params.subscription_id,
          status: 'WAIVED',
          billingDate: null,
          pauseDurationMonths: null,
          by: askedBy(context, body),
        }),
      );
      return { status: 200, body: subscriptionFigures(record) };
    },
  }),
  route({
    ...described,
    method: 'post',
    path: '/v1/{user_id}/ban',
    summary: 'Have the user service ban a user',
    description: 'May be repeated. What was to be billed is cancelled by the next run.',
    params: ofUser,
    body: z.strictObject({ reason }),
    answers: { 200: z.strictObject({ banned: z.string() }) },
    problems: ['not-found', 'service-down'],
    async handle({ params, body }, { caller }) {
      const ban = { userId: params.user_id, who: caller.name, reason: body.reason };
      await told(banUser(dependencies, ban));
      return { status: 200, body: { banned: params.user_id } };
    },
  }),
];

const planRoutes = (dependencies: MembershipRouteDependencies): Route[] => [
  route({
    ...described,
    method: 'put',
    path: '/v1/{user_id}/subscriptions/activate',
    summary: 'Begin a membership',
    description:
      'The first period is billed on the Monday (or Friday) after a trial of nine days. Asked again, the answer is the period to come.',
    params: ofUser,
    body: activation,
    answers: { 200: subscriptionView },
    problems: [
      ...ANY_CHANGE,
      'not-found',
      'unpriced-tier',
      'user-not-eligible',
      'membership-ended',
      'service-down',
    ],
    async handle({ params, body }, context) {
      const { tier: name, version } = body;
      const record = await told(
        activate(dependencies, {
          userId: params.user_id,
          tierName: name === undefined || version === undefined ? '' : tierNameOf(name, version),
          term: body.term,
          isFriday: body.friday_billing,
          by: askedBy(context, body),
        }),
      );
      return { status: 200, body: subscriptionFigures(record) };
    },
  }),
  route({
    ...described,
    method: 'post',
    path: '/v1/{user_id}/subscriptions/downgrade',
    summary: 'A cheaper tier from the next period on',
    params: ofUser,
    body: z.strictObject({ ...tier, ...why }),
    answers: { 200: subscriptionView },
    problems: [
      ...ANY_CHANGE,
      'unpriced-tier',
      'no-upcoming-period',
      'pending-cancellation',
      'not-a-downgrade',
      'attempt-open',
    ],
    async handle({ params, body }, context) {
      const record = await told(
        downgrade(dependencies, {
          userId: params.user_id,
          tierName: tierNameOf(body.tier, body.version),
          by: askedBy(context, body),
        }),
      );
      return { status: 200, body: subscriptionFigures(record) };
    },
  }),
];

const paidRoutes = (dependencies: MembershipRouteDependencies): Route[] => [
  route({
    ...described,
    method: 'post',
    path: '/v1/{user_id}/subscriptions/reactivate',
    summary: 'A member comes back: the card is charged now, and the next period is scheduled',
    description:
      '202 while nobody knows what became of the charge: the record is CANCELLED until the processor’s word makes it COMPLETED.',
    movesMoney: true,
    params: ofUser,
    body: z.strictObject(why),
    answers: { 201: charged, 202: charged },
    problems: [...ANY_CHARGE, 'already-active', 'membership-ended', 'attempt-open', 'reactivation-undone'],
    async handle({ params, body }, context) {
      const { isKnown, record, next } = await told(
        reactivate(dependencies, {
          userId: params.user_id,
          triggerId: triggerOf('reactivate', context),
          by: askedBy(context, body),
        }),
      );
      return {
        status: isKnown ? 201 : 202,
        body: { subscription: subscriptionFigures(record), next: next && subscriptionFigures(next) },
      };
    },
  }),
  route({
    ...described,
    method: 'post',
    path: '/v1/{user_id}/subscriptions/upgrade',
    summary: 'A better tier from now on',
    description:
      'Charges the card for the rest of the current period, (monthly price − base price) ÷ 30 for each day, and bills the next one at the new price. `amount` is what the member agreed to and must be right to the cent.',
    movesMoney: true,
    params: ofUser,
    body: z.strictObject({ ...tier, amount, ...why }),
    answers: { 200: upgraded, 202: upgraded },
    problems: [
      ...ANY_CHARGE,
      'no-upcoming-period',
      'pending-cancellation',
      'not-an-upgrade',
      'attempt-open',
      'too-far-ahead',
      'amount-mismatch',
      'upgrade-undone',
    ],
    async handle({ params, body }, context) {
      const { isKnown, proration, upcoming } = await told(
        upgrade(dependencies, {
          userId: params.user_id,
          tierName: tierNameOf(body.tier, body.version),
          amount: body.amount,
          triggerId: triggerOf('upgrade', context),
          by: askedBy(context, body),
        }),
      );
      return {
        status: isKnown ? 200 : 202,
        body: {
          proration: proration && subscriptionFigures(proration),
          upcoming: upcoming && subscriptionFigures(upcoming),
        },
      };
    },
  }),
  route({
    ...described,
    method: 'post',
    path: '/v1/{user_id}/subscriptions/{subscription_id}/refund',
    summary: 'Give a payment back',
    description: 'Once. The record is REFUNDED when the payments service tells that it was.',
    movesMoney: true,
    params: ofRecord,
    body: z.strictObject(why),
    answers: { 202: refund },
    problems: [
      ...ANY_CHANGE,
      'not-found',
      'not-refundable',
      'attempt-open',
      'frozen',
      'refund-declined',
      'service-down',
    ],
    async handle({ params, body }, context) {
      const { attemptId, status, record } = await told(
        refundPayment(dependencies, {
          userId: params.user_id,
          subscriptionId: params.subscription_id,
          triggerId: triggerOf('refund', context),
          by: askedBy(context, body),
        }),
      );
      return {
        status: 202,
        body: { refund_id: attemptId, status, subscription: subscriptionFigures(record) },
      };
    },
  }),
];

const billingRoutes = (dependencies: MembershipRouteDependencies): Route[] => [
  route({
    ...described,
    role: 'viewer',
    method: 'get',
    path: '/v1/{user_id}/billing-details',
    summary: 'What a member is billed, when and how, and what was paid last',
    params: ofUser,
    answers: { 200: billingDetails },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      const { current, partition } = await standingOf(dependencies, params.user_id);
      return { status: 200, body: billingFigures(current, partition) };
    },
  }),
  route({
    ...described,
    role: 'viewer',
    method: 'get',
    path: '/v1/{user_id}/active-term',
    summary: 'Whether a member pays by the month or by the year',
    params: ofUser,
    answers: { 200: activeTerm },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      const { current, partition } = await standingOf(dependencies, params.user_id);
      return { status: 200, body: termFigures(current, partition) };
    },
  }),
];

async function standingOf({ subscriptions, clock }: MembershipRouteDependencies, user: UserId) {
  const { subscriptions: partition, malformed } = await subscriptions.listByUserID(user);
  if (malformed.length > 0)
    throw new Problem('malformed-record', 'the list of records names what cannot be read');
  const current = currentSubscription(partition, clock.now());
  if (current === null) throw new Problem('not-found', 'this user has no subscription');
  return { current, partition };
}

function assertSensibleDate(billingDate: Instant | undefined, now: Instant): void {
  if (billingDate === undefined) return;
  const { from, to } = billingDateBounds(now);
  const day = dateOf(billingDate);
  if (day < from || day > to) throw invalidField('body', 'billing_date', `a day from ${from} to ${to}`);
}

const askedBy = ({ caller }: RequestContext, body: { readonly reason?: string | undefined }) => ({
  who: caller.name,
  reason: body.reason,
});
