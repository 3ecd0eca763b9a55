import { instantText } from '../../instant.ts';
import { RECURRING_BORN_BY } from '../allowed-recurring-transitions.ts';
import type { RecurringRule } from '../recurring-case.ts';
import { changesBefore } from '../recurring-case.ts';
import type { RecurringChange } from '../recurring-record.ts';

/** Nobody is charged before they were told of it, as it is charged, and nobody is told twice of one payment. */
export const toldBeforePaid: RecurringRule = function* (subscription) {
  const { attempts, changes } = subscription;
  // Rows of another system have no history here of the time before we took them over, so they are not checked.
  if (changes[0]?.cause !== RECURRING_BORN_BY) return;
  for (const attempt of attempts) {
    const { id, period, amountCents, openedAt } = attempt;
    const before = changesBefore(subscription, attempt);
    const charged = { periodDate: period, amountCents, sku: before.at(-1)?.sku };
    if (!isTold(before, charged))
      yield `attempt ${id} for ${period} was opened at ${instantText(openedAt)} before anybody was told of it`;
  }
  for (const [n, change] of changes.entries())
    if (change.cause === 'reminded' && isTold(changes.slice(0, n), change))
      yield `was told of ${change.periodDate} once more at ${instantText(change.at)}`;
};

type Payment = Pick<RecurringChange, 'periodDate' | 'amountCents'> & { readonly sku: string | undefined };

/** An account that was moved to another day or amount and back is told again: what it heard last is not true any more. */
function isTold(before: readonly RecurringChange[], payment: Payment): boolean {
  const last = before.findLast((change) => change.cause === 'reminded' || !isSame(change, payment));
  return last?.cause === 'reminded' && isSame(last, payment);
}

const isSame = (one: Payment, other: Payment): boolean =>
  one.periodDate === other.periodDate && one.amountCents === other.amountCents && one.sku === other.sku;
