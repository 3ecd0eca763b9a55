import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { BatchReader } from '../../src/adapters/dynamodb/batch-reader.ts';
import { BatchWriter } from '../../src/adapters/dynamodb/batch-writer.ts';
import { DynamoInbox } from '../../src/adapters/dynamodb/inbox.ts';
import { Transactor } from '../../src/adapters/dynamodb/transaction.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { MembershipDependencies, MembershipResult } from '../../src/app/apply-membership.ts';
import { applyMembership } from '../../src/app/apply-membership.ts';
import type { MembershipEventType } from '../../src/domain/memberships/membership-event.ts';
import { cents } from '../../src/domain/money.ts';
import type { Subscription, UserId } from '../../src/domain/subscription.ts';
import type { Tiers } from '../../src/domain/tiers.ts';
import type { EventOutcome, Inbox, InboxEvent } from '../../src/ports/inbox.ts';
import type { Log } from '../../src/ports/log.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import { subscription } from './records.ts';
import type { World } from './world.ts';

export const TIERS: Tiers = {
  Base: { v0: { MONTHLY: cents(499), YEARLY: cents(3999) } },
  Plus: { v1: { MONTHLY: cents(999) } },
};

/** Membership events for the members of a world, stored in the real inbox and applied by the production code. */
export interface MembershipDesk {
  readonly dependencies: MembershipDependencies;
  readonly inbox: Inbox;
  /** What was logged as a warning, by its reason, and what was counted. */
  readonly warnings: unknown[];
  readonly counted: string[];
  /** An event as a bridge would have read it; it is not in the inbox yet. */
  event(userId: UserId, type: MembershipEventType, data?: object): InboxEvent;
  store(userId: UserId, type: MembershipEventType, data?: object): Promise<InboxEvent>;
  apply(event: InboxEvent): Promise<MembershipResult>;
  /** Stores it and applies it. */
  happens(userId: UserId, type: MembershipEventType, data?: object): Promise<EventOutcome>;
  /** A member with these records, and nothing else. Settings are the bank's; with null nobody knows the user. */
  member(records: readonly Partial<Subscription>[], settings?: object | null): Promise<StoredSubscription[]>;
}

export function membershipDesk(here: World): MembershipDesk {
  const { client, tables } = here.store;
  const machine = { client, timer: systemTimer, random: Math.random };
  const inbox = new DynamoInbox({
    client,
    table: tables.pipeline,
    reader: new BatchReader({ ...machine, table: tables.pipeline }),
    writer: new BatchWriter({ ...machine, table: tables.pipeline }),
    transactor: new Transactor({ ...machine, locksTable: tables.locks }),
    ids: randomUUID,
  });
  const warnings: unknown[] = [];
  const counted: string[] = [];
  const nothing = (): void => undefined;
  const log: Log = {
    debug: nothing,
    info: nothing,
    warn: (fields) => warnings.push((fields as { reason?: unknown }).reason),
    error: nothing,
    child: () => log,
  };
  const { locks, subscriptions, pipeline, users, clock } = here.dependencies;
  const dependencies: MembershipDependencies = {
    inbox,
    users,
    locks,
    subscriptions,
    pipeline,
    tiers: TIERS,
    clock,
    log,
    metrics: {
      membershipApplied: (type, result, reason) => counted.push(`${type} ${result} ${reason}`),
    },
  };
  let sequence = 0;
  const desk: MembershipDesk = {
    dependencies,
    inbox,
    warnings,
    counted,
    event: (userId, type, data = {}) => ({
      stream: 'users',
      shardId: 'shardId-000000000000',
      sequence: String((sequence += 1)),
      userId,
      identity: `event-${randomUUID()}`,
      type,
      data: { user_id: userId, ...data },
      receivedAt: here.now,
    }),
    async store(userId, type, data) {
      const event = desk.event(userId, type, data);
      await inbox.store([event]);
      return event;
    },
    apply: (event) => applyMembership(dependencies, event),
    async happens(userId, type, data) {
      const result = await desk.apply(await desk.store(userId, type, data));
      if ('busy' in result) throw new Error('somebody else works on this member');
      return result.outcome;
    },
    async member(records, settings = {}) {
      const userId = `member-${randomUUID()}` as UserId;
      if (settings !== null) await here.bank('PUT', `/sandbox/users/${userId}`, settings);
      const fence = await here.store.takeLock(userId);
      const born = records.map((fields) => subscription({ userId, ...fields, billingStatus: 'SCHEDULED' }));
      const context = await here.store.context(userId, { cause: 'plan-changed', now: here.now });
      await subscriptions.addAll(fence, born, context);
      await here.store.releaseLock(userId);
      for (const [i, { billingStatus = 'SCHEDULED' }] of records.entries()) {
        if (billingStatus !== 'SCHEDULED') await asIf(here, born[i]!, billingStatus);
      }
      return Promise.all(born.map((record) => here.row(record)));
    },
  };
  return desk;
}

/** A status that a record came to by itself, in the row and in its only history row. */
async function asIf(here: World, record: Subscription, billingStatus: string): Promise<void> {
  const isIt = (row: { subscription_id?: { S?: string } }) =>
    row.subscription_id?.S === record.subscriptionId;
  const change = { billing_status: { S: billingStatus } };
  const history = (await here.store.historyRows(record.userId)).find(isIt)!;
  const Item = { ...history, ...change };
  await here.store.client.send(new PutItemCommand({ TableName: here.store.tables.history, Item }));
  await here.store.putBillingRow(
    Object.fromEntries(Object.entries(Item).filter(([name]) => !name.startsWith('data_'))),
  );
}
