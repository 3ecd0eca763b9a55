import { addDays, dateOf, partsOf } from '../../domain/calendar-date.ts';
import type { NewRecurring } from '../../domain/recurring/by-hand.ts';
import { recurringCreated } from '../../domain/recurring/by-hand.ts';
import { whyPayerWaits } from '../../domain/recurring/payer.ts';
import type { RecurringPolicy } from '../../domain/recurring/policy.ts';
import { payerOf } from '../../domain/recurring/record-id.ts';
import type { RecurringSubscription } from '../../domain/recurring/recurring.ts';
import { RequestConflictError, StartDateError } from '../../errors.ts';
import { recurringLockKey } from '../../ports/lock.ts';
import type { LockDependencies } from '../desk/desk.ts';
import { underLock } from '../desk/desk.ts';
import { Refusal } from '../desk/refusal.ts';
import type { RemindAtOnceDependencies } from './remind-at-once.ts';
import { remindAtOnce } from './remind-at-once.ts';

export type CreateRecurringDependencies = LockDependencies &
  RemindAtOnceDependencies & { readonly recurringPolicy: RecurringPolicy };

export interface CreateRecurringRequest {
  readonly wish: Omit<NewRecurring, 'startDate' | 'paymentDay'>;
  /** Null: today. */
  readonly startDate: NewRecurring['startDate'] | null;
  /** Null: the day on which it starts. */
  readonly paymentDay: number | null;
  readonly by: string;
}

/** Further off is a mistake: a year with one digit too many. */
const LATEST_START_DAYS = 366;

/** Begins a recurring payment. Asked again under the same id, it is the same one. */
export async function createRecurring(
  dependencies: CreateRecurringDependencies,
  request: CreateRecurringRequest,
): Promise<RecurringSubscription> {
  const { recurring, clock, recurringPolicy } = dependencies;
  const { accountId } = request.wish;
  const userId = payerOf(accountId);
  const key = recurringLockKey(accountId);
  const created = await underLock(dependencies, { userId, key }, async (lock) => {
    const known = await recurring.getSubscription(request.wish);
    if (known !== null) return sameAs(known, request.wish);
    await assertPays(dependencies, accountId);
    const now = clock.now();
    const wish = withDates(request, dateOf(now));
    const change = recurringCreated(wish, request.by, recurringPolicy, now);
    await recurring.createSubscription(lock.fence, change);
    return change.subscription;
  });
  return remindAtOnce(dependencies, created);
}

function withDates(
  { startDate, paymentDay, wish }: CreateRecurringRequest,
  today: NewRecurring['startDate'],
): NewRecurring {
  const from = startDate ?? today;
  const latest = addDays(today, LATEST_START_DAYS);
  if (from < today || from > latest) throw new StartDateError(`a day from ${today} to ${latest}`);
  return { ...wish, startDate: from, paymentDay: paymentDay ?? partsOf(from).day };
}

async function assertPays(
  { users }: CreateRecurringDependencies,
  accountId: RecurringSubscription['accountId'],
): Promise<void> {
  const user = await users.get(payerOf(accountId));
  if (user === null) throw new Refusal('not-found', 'the user service knows no such account');
  const reason = whyPayerWaits(user);
  if (reason !== null) throw new Refusal('user-not-eligible', reason);
}

function sameAs(known: RecurringSubscription, wish: CreateRecurringRequest['wish']): RecurringSubscription {
  const isSame =
    known.sku === wish.sku &&
    known.paymentAmount === wish.paymentAmount &&
    known.email === wish.email &&
    known.paymentToken === wish.paymentToken;
  if (isSame) return known;
  throw new RequestConflictError(`subscription ${known.recurringId} was made with other contents`);
}
