import { dateOf } from '../../domain/calendar-date.ts';
import type { Instant } from '../../domain/instant.ts';
import { planOf } from '../../domain/plan.ts';
import { decideRecurring } from '../../domain/recurring/decide-recurring.ts';
import type { RecurringPolicy } from '../../domain/recurring/policy.ts';
import { recurringOf } from '../../domain/recurring/record-id.ts';
import type { RecurringSubscription } from '../../domain/recurring/recurring.ts';
import { RECURRING_PAYMENTS } from '../../domain/recurring/runs.ts';
import { runId } from '../../domain/runs.ts';
import { MalformedRowError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RecurringRef, RecurringRepository } from '../../ports/recurring.ts';
import type { RecordRef } from '../../ports/runs.ts';
import type { AccountService } from '../../ports/services.ts';
import { askOnce } from '../ask-once.ts';
import type { ForecastSum } from '../forecast-sum.ts';
import type { RecurringFactSources } from './collect-recurring.ts';
import { gatherRecurringFacts } from './collect-recurring.ts';

export interface RecurringForecastSources extends RecurringFactSources {
  readonly recurring: Pick<RecurringRepository, 'getSubscription'>;
  readonly accounts: AccountService;
  readonly recurringPolicy: RecurringPolicy;
  readonly clock: Clock;
}

/** All payments of one account that a page names: the same subscription, facts and decision as in the run. */
export async function foretellRecurring(
  dependencies: RecurringForecastSources,
  asOf: Instant,
  records: readonly RecordRef[],
  sum: ForecastSum,
): Promise<void> {
  const sources = { ...dependencies, ...askOnce(dependencies) };
  for (const { subscriptionId } of records) {
    const ref = recurringOf(subscriptionId);
    if (ref === null) throw new Error(`${subscriptionId} is no recurring payment`);
    await sum.unlessUnreachable(() => foretellPayment(sources, asOf, ref, sum));
  }
}

async function foretellPayment(
  sources: RecurringForecastSources,
  asOf: Instant,
  ref: RecurringRef,
  sum: ForecastSum,
): Promise<void> {
  const subscription = await readSubscription(sources, ref);
  // Gone since the index listed it. The run decides nothing about such a one either.
  if (subscription === null) return;
  if (subscription === 'malformed') {
    sum.malformed += 1;
    return;
  }
  const triggerId = runId(RECURRING_PAYMENTS, asOf);
  const { facts } = await gatherRecurringFacts(sources, { subscription, triggerId, now: asOf });
  const reminded = facts.reminded || isToldUntil(subscription, asOf, sources.clock.now());
  const decision = decideRecurring(subscription, { ...facts, reminded }, sources.recurringPolicy, asOf);
  const { plan, reason } = planOf(decision);
  sum.plans.add(plan, reason, subscription.paymentAmount);
}

/** Reminders that are to go out until then will have gone out. */
const isToldUntil = ({ nextReminderDate }: RecurringSubscription, asOf: Instant, now: Instant): boolean =>
  asOf > now && nextReminderDate !== null && nextReminderDate <= dateOf(asOf);

async function readSubscription(
  { recurring }: RecurringForecastSources,
  ref: RecurringRef,
): Promise<RecurringSubscription | 'malformed' | null> {
  try {
    return await recurring.getSubscription(ref);
  } catch (error) {
    if (error instanceof MalformedRowError) return 'malformed';
    throw error;
  }
}
