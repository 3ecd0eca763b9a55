import { z } from 'zod';
import type { ExplainDependencies } from '../../app/explain.ts';
import { explain } from '../../app/explain.ts';
import { MEMBERSHIPS, currentSubscription } from '../../domain/current-subscription.ts';
import type { SubscriptionId, UserId } from '../../domain/subscription.ts';
import { BILLING_STATUSES, PROCESSES, RAILS, TERMS } from '../../domain/subscription.ts';
import { VERDICTS } from '../../domain/verdict.ts';
import { explanationFigures } from '../../figures/explanation-figures.ts';
import { currentFigures, historyFigures, subscriptionFigures } from '../../figures/subscription-figures.ts';
import { EVENT_STREAMS } from '../../ports/inbox.ts';
import type { Log } from '../../ports/log.ts';
import type { Partition, StoredSubscription } from '../../ports/subscriptions.ts';
import { amountText, subscriptionId, timeText, unreadable, userId } from '../fields.ts';
import { Problem } from '../problems.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';

export interface SubscriptionRouteDependencies extends ExplainDependencies {
  readonly log: Log;
}

export const subscriptionView = z.strictObject({
  subscription_id: z.string(),
  user_id: z.string(),
  billing_date: timeText,
  billing_period: z.string(),
  billing_amount: amountText,
  billing_status: z.enum(BILLING_STATUSES),
  term: z.enum(TERMS),
  process: z.enum(PROCESSES).nullable(),
  updated_event: z.string(),
  transaction_id: z.string(),
  usio_error: z.string().meta({ description: 'Why the last charge failed' }),
  initial_run_date: timeText.nullable(),
  completion_date: timeText.nullable(),
  last_run_date: timeText.nullable(),
  created_date: timeText.nullable(),
  receipt_tier_name: z.string(),
  receipt_payment_type: z.string(),
  billing_week: z.int().nullable(),
  pause_duration_months: z.int(),
  is_pending_downgrade: z.boolean(),
});

const current = z.strictObject({
  membership: z.enum(MEMBERSHIPS).meta({
    description:
      '`active`: a further period will be billed; `ending`: the member has cancelled, and it will not; `paused`: the next period is skipped; `ended`: there is none',
  }),
  record: subscriptionView.meta({
    description: 'The newest period whose day has come; before the first one has, that one',
  }),
  next_billing: z
    .strictObject({ subscription_id: z.string(), billing_date: timeText, billing_amount: amountText })
    .nullable()
    .meta({ description: 'What will be charged next; it may be overdue' }),
  owed: z.strictObject({ amount: amountText, subscription_ids: z.array(z.string()) }).meta({
    description: 'Periods that were tried in vain',
  }),
});

const change = z.strictObject({
  at: timeText.nullable(),
  record: subscriptionView,
  data: z.record(z.string(), z.string()).meta({ description: 'Who or what made the change' }),
});

const storyLine = z.strictObject({
  at: timeText,
  kind: z.enum(['decision', 'change', 'attempt']),
  text: z.string(),
  trigger_id: z.string().nullable().meta({ description: 'The run or request behind it' }),
  attempt_id: z.string().nullable(),
  verdict: z.enum(VERDICTS).nullable(),
  reason: z.string().nullable(),
  is_final: z.boolean().nullable().meta({ description: 'False: the same trigger looks again' }),
  billing_status: z.enum(BILLING_STATUSES).nullable().meta({ description: 'After the change' }),
});

export const attempt = z.strictObject({
  attempt_id: z.string(),
  trigger_id: z.string(),
  process: z.enum(PROCESSES),
  rail: z.enum(RAILS),
  amount: amountText,
  opened_at: timeText,
  resolution: z
    .strictObject({
      status: z.enum(['COMPLETED', 'ACHSENT', 'FAILED']),
      at: timeText,
      error_code: z.string().nullable(),
      error_message: z.string().nullable(),
    })
    .nullable(),
});

export const standing = z.strictObject({
  notes: z.array(z.string()),
  open_attempt: z
    .strictObject({ attempt_id: z.string(), opened_at: timeText, asked_next_at: timeText })
    .nullable(),
  lock: z.strictObject({ owner: z.string(), since: timeText.nullable() }).nullable(),
  unapplied_events: z.array(
    z.strictObject({ stream: z.enum(EVENT_STREAMS), type: z.string(), received_at: timeText }),
  ),
  quarantined_events: z.array(
    z.strictObject({ id: z.string(), type: z.string().nullable(), reason: z.string(), at: timeText }),
  ),
  freezes: z.array(
    z.strictObject({
      scope: z.enum(['global', 'user', ...RAILS]),
      reason: z.string(),
      who: z.string(),
      at: timeText,
      until: timeText.nullable(),
    }),
  ),
});

const explanation = z.strictObject({
  user_id: z.string(),
  subscription_id: z.string(),
  record: subscriptionView.nullable(),
  summary: z.string(),
  story: z.array(storyLine),
  attempts: z.array(attempt),
  now: standing,
  unreadable,
});

const ofUser = z.strictObject({ user_id: userId });
const ofRecord = z.strictObject({ user_id: userId, subscription_id: subscriptionId });

const described = { method: 'get', tag: 'Subscriptions', role: 'viewer' } as const;

export const subscriptionRoutes = (dependencies: SubscriptionRouteDependencies): Route[] => [
  route({
    ...described,
    path: '/v1/{user_id}/subscriptions',
    summary: 'Every billing record of a member, newest first',
    params: ofUser,
    answers: { 200: z.strictObject({ subscriptions: z.array(subscriptionView), unreadable }) },
    async handle({ params }) {
      const { subscriptions, malformed } = await read(dependencies, params.user_id);
      return {
        status: 200,
        body: {
          subscriptions: subscriptions.toReversed().map(subscriptionFigures),
          unreadable: malformed.map(({ message }) => message),
        },
      };
    },
  }),
  // Before `{subscription_id}`, which would take it for an id.
  route({
    ...described,
    path: '/v1/{user_id}/subscriptions/current',
    summary:
      'Where a member stands: the membership, the period in force, what is billed next and what is owed',
    description: 'As far as the billing records tell. 404 for somebody who never had a subscription.',
    params: ofUser,
    answers: { 200: current },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      const { subscriptions, malformed } = await read(dependencies, params.user_id);
      if (malformed.length > 0) throw malformedRecord();
      const found = currentSubscription(subscriptions, dependencies.clock.now());
      if (found === null) throw new Problem('not-found', 'this user has no subscription');
      return { status: 200, body: currentFigures(found) };
    },
  }),
  route({
    ...described,
    path: '/v1/{user_id}/subscriptions/{subscription_id}',
    summary: 'One billing record',
    params: ofRecord,
    answers: { 200: subscriptionView },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      const record = await recordOf(dependencies, params.user_id, params.subscription_id);
      return { status: 200, body: subscriptionFigures(record) };
    },
  }),
  route({
    ...described,
    path: '/v1/{user_id}/subscriptions/{subscription_id}/history',
    summary: 'Every change of a record, oldest first',
    description: 'A change shows here a moment after it was made.',
    params: ofRecord,
    answers: { 200: z.strictObject({ history: z.array(change), unreadable }) },
    problems: ['not-found', 'malformed-record'],
    async handle({ params }) {
      await recordOf(dependencies, params.user_id, params.subscription_id);
      const { entries, malformed } = await dependencies.history.getByID(params.subscription_id);
      return {
        status: 200,
        body: {
          history: entries.map(historyFigures),
          unreadable: malformed.map(({ message }) => message),
        },
      };
    },
  }),
  route({
    ...described,
    path: '/v1/{user_id}/subscriptions/{subscription_id}/explain',
    summary: 'Why a record was or was not charged',
    description:
      'Each decision with its reason, each change and each attempt, oldest first; and what stands between the record and a charge now.',
    params: ofRecord,
    answers: { 200: explanation },
    problems: ['not-found'],
    async handle({ params }) {
      const found = await explain(dependencies, {
        userId: params.user_id,
        subscriptionId: params.subscription_id,
      });
      if (found === null) throw notThere();
      return { status: 200, body: explanationFigures(found) };
    },
  }),
];

async function read({ subscriptions, log }: SubscriptionRouteDependencies, user: UserId): Promise<Partition> {
  const partition = await subscriptions.listByUserID(user);
  for (const error of partition.malformed) log.error({ err: error }, 'a row of a member cannot be read');
  return partition;
}

/** Another user's record is told about as little as one that never was. */
async function recordOf(
  dependencies: SubscriptionRouteDependencies,
  user: UserId,
  id: SubscriptionId,
): Promise<StoredSubscription> {
  const { subscriptions, malformed } = await read(dependencies, user);
  const record = subscriptions.find((one) => one.subscriptionId === id);
  if (record !== undefined) return record;
  throw malformed.some(({ row }) => row.subscriptionId === id) ? malformedRecord() : notThere();
}

const notThere = (): Problem => new Problem('not-found', 'no such record of this user');
const malformedRecord = (): Problem =>
  new Problem('malformed-record', 'the list of records names what cannot be read');
