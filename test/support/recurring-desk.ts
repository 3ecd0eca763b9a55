import { randomUUID } from 'node:crypto';
import type { DynamoRecurring } from '../../src/adapters/dynamodb/recurring.ts';
import { HttpService } from '../../src/adapters/services/http.ts';
import { HttpNotificationService } from '../../src/adapters/services/notification-service.ts';
import { collectRecurring } from '../../src/app/recurring/collect-recurring.ts';
import type { RecurringDependencies } from '../../src/app/recurring/recurring-case.ts';
import type { RemindDependencies } from '../../src/app/recurring/remind-recurring.ts';
import { remindRecurring } from '../../src/app/recurring/remind-recurring.ts';
import { dateOf } from '../../src/domain/calendar-date.ts';
import { nextStamp } from '../../src/domain/instant.ts';
import { paymentReference, recurringRecordId } from '../../src/domain/recurring/record-id.ts';
import type { AccountId, Receipt, RecurringSubscription } from '../../src/domain/recurring/recurring.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { recurringLockKey } from '../../src/ports/lock.ts';
import type { RecurringRef } from '../../src/ports/recurring.ts';
import type { Accepted } from './notice-desk.ts';
import { recurring } from './recurring.ts';
import type { LedgerEntry, World } from './world.ts';

type Other = Partial<RecurringDependencies & RemindDependencies>;

/** Recurring payments in a world: real tables, the real bank, the production code. */
export interface RecurringDesk {
  readonly dependencies: RecurringDependencies & RemindDependencies;
  readonly recurring: DynamoRecurring;
  account(settings?: object): Promise<AccountId>;
  /** One that is due today and was told of, of an account of its own. Settings are the bank's. */
  subscription(settings?: object, fields?: Partial<RecurringSubscription>): Promise<RecurringSubscription>;
  collect(ref: RecurringRef, triggerId?: string, other?: Other): Promise<Verdict>;
  remind(ref: RecurringRef, triggerId?: string, other?: Other): Promise<Verdict>;
  row(ref: RecurringRef): Promise<RecurringSubscription>;
  receipts(ref: Pick<RecurringRef, 'accountId'>): Promise<readonly Receipt[]>;
  /** What the bank has seen of the payment of a period. */
  ledger(
    subscription: Pick<RecurringSubscription, 'accountId' | 'recurringId' | 'periodDate'>,
  ): Promise<LedgerEntry[]>;
  /** What the notifications service took over. */
  told(ref: Pick<RecurringRef, 'accountId'>): Promise<(Accepted & { readonly data?: unknown })[]>;
}

/** What a reminder is about: its key without the change after which it was sent. */
export const reminderOf = ({ dedupe_key: key }: Accepted): string =>
  key.replace(/(?<=recurring_payment_reminder)\..*$/, '');

/** `here` needs the table of recurring payments. */
export function recurringDesk(here: World): RecurringDesk {
  const repository = here.store.recurring;
  const http = new HttpService({ url: here.url, name: 'notifications service', timeoutMs: 5_000 });
  const dependencies: RecurringDependencies & RemindDependencies = {
    ...here.dependencies,
    notifications: new HttpNotificationService(http),
  };
  const verdictOf = (result: Awaited<ReturnType<typeof collectRecurring>>): Verdict => {
    if ('busy' in result) throw new Error('somebody else works on this account');
    return result.verdict;
  };
  const desk: RecurringDesk = {
    dependencies,
    recurring: repository,
    async account(settings = {}) {
      const accountId = `account-${randomUUID()}` as AccountId;
      await here.bank('PUT', `/sandbox/users/${accountId}`, settings);
      return accountId;
    },
    async subscription(settings = {}, fields = {}) {
      const accountId = fields.accountId ?? (await desk.account(settings));
      const subscription = recurring({ ...fields, accountId });
      const acquired = await here.dependencies.locks.acquire(recurringLockKey(accountId));
      if ('busy' in acquired) throw new Error('nobody else knows this account');
      const told = { receipt: null, by: 'test', attemptId: null };
      const { fence } = acquired.lock;
      if (subscription.status === 'ACTIVE' && subscription.nextReminderDate === null) {
        const changedDate = nextStamp(subscription.createdDate, null);
        const nextReminderDate = dateOf(subscription.lastReminderDate);
        const untold = { ...subscription, nextReminderDate, changedDate };
        await repository.createSubscription(fence, { subscription: untold, cause: 'created', ...told });
        await repository.updateSubscription(fence, untold, { subscription, cause: 'reminded', ...told });
      } else await repository.createSubscription(fence, { subscription, cause: 'created', ...told });
      await acquired.lock.release();
      return subscription;
    },
    async collect({ accountId, recurringId }, triggerId = `trigger-${randomUUID()}`, other = {}) {
      const request = { accountId, recurringId, triggerId };
      return verdictOf(await collectRecurring({ ...dependencies, ...other }, request));
    },
    async remind({ accountId, recurringId }, triggerId = `trigger-${randomUUID()}`, other = {}) {
      const request = { accountId, recurringId, triggerId };
      return verdictOf(await remindRecurring({ ...dependencies, ...other }, request));
    },
    async row(ref) {
      const found = await repository.getSubscription(ref);
      if (found === null) throw new Error(`no subscription ${ref.recurringId}`);
      return found;
    },
    async receipts({ accountId }) {
      const page = { now: here.now, limit: 500, key: null };
      return (await repository.getReceiptsByAccount(accountId, page)).receipts;
    },
    async ledger(subscription) {
      const reference = paymentReference(recurringRecordId(subscription), subscription.periodDate);
      const page = await here.bank('GET', `/ledger?reference_id=${reference}&limit=5000`);
      return (page as { entries: LedgerEntry[] }).entries;
    },
    async told({ accountId }) {
      const page = await here.bank('GET', `/ledger?type=notification.accepted&user_id=${accountId}`);
      return (page as { entries: Accepted[] }).entries;
    },
  };
  return desk;
}
