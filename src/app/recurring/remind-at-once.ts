import { dateOf } from '../../domain/calendar-date.ts';
import type { RecurringSubscription } from '../../domain/recurring/recurring.ts';
import { whyNotReminded } from '../../domain/recurring/reminder.ts';
import { formatInstant } from '../../domain/instant.ts';
import type { Log } from '../../ports/log.ts';
import type { RemindDependencies } from './remind-recurring.ts';
import { remindRecurring } from './remind-recurring.ts';

export type RemindAtOnceDependencies = RemindDependencies & { readonly log: Log };

/**
 * If a payment was created or changed so late that its reminder is already due, the reminder is sent at once. If that
 * fails, the next reminder run sends it; nobody is charged before. Gives the subscription as it is then.
 */
export async function remindAtOnce(
  dependencies: RemindAtOnceDependencies,
  subscription: RecurringSubscription,
): Promise<RecurringSubscription> {
  const { recurring, clock, log } = dependencies;
  if (whyNotReminded(subscription, dateOf(clock.now())) !== null) return subscription;
  const { accountId, recurringId, changedDate } = subscription;
  try {
    // Each change that has to be told of asks for itself.
    const triggerId = `changed.${formatInstant(changedDate)}`;
    await remindRecurring(dependencies, { accountId, recurringId, triggerId });
    return (await recurring.getSubscription(subscription)) ?? subscription;
  } catch (error) {
    log.warn({ accountId, recurringId, err: error }, 'a reminder is left to the next run');
    return subscription;
  }
}
