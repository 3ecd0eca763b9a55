import { randomUUID } from 'node:crypto';
import { BatchReader } from '../../src/adapters/dynamodb/batch-reader.ts';
import { BatchWriter } from '../../src/adapters/dynamodb/batch-writer.ts';
import { DynamoInbox } from '../../src/adapters/dynamodb/inbox.ts';
import { Transactor } from '../../src/adapters/dynamodb/transaction.ts';
import { createLockClient } from '../../src/adapters/lock/lock-client.ts';
import { HttpService } from '../../src/adapters/services/http.ts';
import { HttpUserService } from '../../src/adapters/services/user-service.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { PaymentEventDependencies } from '../../src/app/apply-payment-event.ts';
import { applyPaymentEvent } from '../../src/app/apply-payment-event.ts';
import type { Subscription, UserId } from '../../src/domain/subscription.ts';
import type { EventOutcome, InboxEvent } from '../../src/ports/inbox.ts';
import type { RecordRef } from '../../src/ports/runs.ts';
import { waitingWith } from './inbox-desk.ts';
import type { World } from './world.ts';

export const NEWS = ['COMPLETED', 'RETURNED', 'REFUNDED', 'CHARGED_BACK'] as const;
export type News = (typeof NEWS)[number];

/** What arrives on the payments stream, and a process that applies it: another one than the world's collector. */
export interface PaymentDesk {
  readonly dependencies: PaymentEventDependencies;
  /** Stores an event about the record's payment in the inbox. */
  receive(news: News, record: Subscription, fields?: object): Promise<InboxEvent>;
  /** The same for anything that has the shape of an event. */
  receiveRaw(event: { type: string; userId: UserId; data: Record<string, unknown> }): Promise<InboxEvent>;
  /** What the bank has published about the record so far, stored in the inbox in that order. */
  receiveFromBank(record: RecordRef): Promise<InboxEvent[]>;
  apply(event: InboxEvent, dependencies?: Partial<PaymentEventDependencies>): Promise<EventOutcome>;
  /** Stores and applies it. */
  tell(news: News, record: Subscription, fields?: object): Promise<EventOutcome>;
  isWaiting(event: InboxEvent): Promise<boolean>;
  close(): Promise<void>;
}

export function paymentDesk(here: World): PaymentDesk {
  const { client, tables } = here.store;
  const tools = { client, table: tables.pipeline, timer: systemTimer, random: Math.random };
  const inbox = new DynamoInbox({
    ...tools,
    reader: new BatchReader(tools),
    writer: new BatchWriter(tools),
    transactor: new Transactor({ ...tools, locksTable: tables.locks }),
    ids: randomUUID,
  });
  const { clock } = here.dependencies;
  const locks = createLockClient({ client, table: tables.locks, clock, timer: systemTimer });
  const users = new HttpUserService(
    new HttpService({ url: here.url, name: 'user service', timeoutMs: 5_000 }),
  );
  const dependencies = { ...here.dependencies, locks, users, inbox };
  let sequence = 100n;
  const desk: PaymentDesk = {
    dependencies,
    async receiveRaw({ type, userId, data }) {
      sequence += 1n;
      const event: InboxEvent = {
        stream: 'payments',
        shardId: 'shardId-000000000000',
        sequence: String(sequence),
        userId,
        identity: `${String(data['confirmation_id'])}/${type}`,
        type,
        data,
        receivedAt: here.now,
      };
      await inbox.store([event]);
      return event;
    },
    receive(news, { userId, subscriptionId, transactionId }, fields = {}) {
      const data = {
        confirmation_id: transactionId,
        user_id: userId,
        subscription_id: subscriptionId,
        status: news === 'RETURNED' ? 'FAILED' : news,
        amount: '4.99',
        ...(news === 'RETURNED' ? { return_code: 'R01', error_message: 'insufficient funds' } : {}),
        ...fields,
      };
      return desk.receiveRaw({ type: `SUBSCRIPTION_${news}`, userId, data });
    },
    async receiveFromBank(record) {
      const page = (await here.bank(
        'GET',
        `/ledger?type=callback.queued&reference_id=${record.subscriptionId}`,
      )) as { entries: { event: { type: string; data: Record<string, unknown> } }[] };
      const events: InboxEvent[] = [];
      for (const { event } of page.entries)
        events.push(await desk.receiveRaw({ ...event, userId: record.userId }));
      return events;
    },
    async apply(event, other = {}) {
      const result = await applyPaymentEvent({ ...dependencies, ...other }, event);
      if ('busy' in result) throw new Error('somebody else works on this member');
      return result.outcome;
    },
    tell: async (news, record, fields) => desk.apply(await desk.receive(news, record, fields)),
    isWaiting: async (event) =>
      (await waitingWith(event, here.store.client, here.store.tables.pipeline)).includes(event.sequence),
    close: () => locks.close(),
  };
  return desk;
}
