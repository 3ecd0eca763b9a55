import { randomUUID } from 'node:crypto';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, vi } from 'vitest';
import { DynamoAuditTables } from '../../src/adapters/dynamodb/audit-source.ts';
import { queryToTheEnd } from '../../src/adapters/dynamodb/query.ts';
import type { AuditOptions, AuditSource } from '../../src/audit/audit.ts';
import { audit } from '../../src/audit/audit.ts';
import { HttpLedger } from '../../src/audit/ledger.ts';
import type { AuditTotals, Violation } from '../../src/audit/violation.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { formatInstant } from '../../src/domain/instant.ts';
import type { Rail, Subscription } from '../../src/domain/subscription.ts';
import type { Cause } from '../../src/domain/transitions.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import type { Item } from '../support/billing-store.ts';
import type { World } from '../support/world.ts';
import { world } from '../support/world.ts';

/** A world and an audit of it, with the means to break things in it. */
export interface Bench {
  readonly here: World;
  readonly bankUrl: string;
  readonly source: AuditSource;
  audit(options?: Partial<AuditOptions>): Promise<{ violations: Violation[]; totals: AuditTotals }>;
  /** What the audit has to say about the owner of this record. */
  found(record: Subscription): Promise<Violation[]>;
  /** Sets the time for us and for the bank. */
  at(instant: Instant): Promise<void>;
  /** A legal change, as the application writes it. */
  change(record: Subscription, cause: Cause, fields: Partial<Subscription>): Promise<StoredSubscription>;
  /** Charges at the bank behind the application's back; gives the confirmation id. */
  charge(record: Subscription, key: string, rail?: Rail): Promise<string>;
  refund(confirmationId: string): Promise<void>;
  history(record: Subscription): Promise<Item[]>;
  attempts(record: Subscription): Promise<Item[]>;
  put(table: keyof typeof KEYS, item: Item): Promise<void>;
  remove(table: keyof typeof KEYS, item: Item): Promise<void>;
  close(): Promise<void>;
}

const KEYS = {
  billing: ['user_id', 'billing_date'],
  history: ['user_id', 'last_run_date'],
  pipeline: ['pk', 'sk'],
  floats: ['PK'],
  collectionHistory: ['loan_id', 'run_time'],
  recurring: ['PK', 'SK'],
} as const;

export async function bench(): Promise<Bench> {
  const here = await world({ withFloats: true, withRecurring: true });
  const bankUrl = await addressOf(here);
  const { client, tables } = here.store;
  const source: AuditSource = {
    tables: new DynamoAuditTables({ client, tables, pageSize: 7 }),
    ledger: new HttpLedger(bankUrl),
  };
  const self: Bench = {
    here,
    bankUrl,
    source,
    audit: (options) => auditOf(source, { now: here.now, ...options }),
    async found({ userId }) {
      const { violations } = await self.audit();
      return violations.filter(({ user_id }) => user_id === userId);
    },
    async at(instant) {
      here.now = instant;
      await here.bank('PUT', '/clock', { now: formatInstant(instant), frozen: true });
    },
    async change(record, cause, fields) {
      const fence = await here.store.takeLock(record.userId);
      const stored = await here.row(record);
      const context = await here.store.context(record.userId, { cause, now: here.now });
      const written = await here.store.subscriptions.add(fence, { ...stored, ...fields }, context);
      await here.store.releaseLock(record.userId);
      return written;
    },
    async charge({ userId, subscriptionId, billingAmount }, key, rail = 'PINLESS') {
      const answer = await here.dependencies.processor.charge(key, {
        userId,
        kind: 'SUBSCRIPTION',
        referenceId: subscriptionId,
        rail,
        amount: billingAmount,
        description: null,
      });
      if (answer.kind !== 'answered' || answer.payment.status === 'FAILED')
        throw new Error('the bank did not charge');
      return answer.payment.confirmationId;
    },
    async refund(confirmationId) {
      const response = await fetch(`${bankUrl}/payments/${confirmationId}/refund`, {
        method: 'POST',
        headers: { 'idempotency-key': randomUUID(), 'content-type': 'application/json' },
        body: '{}',
      });
      if (!response.ok) throw new Error(`the bank did not refund: ${await response.text()}`);
    },
    history: async (record) =>
      (await here.store.historyRows(record.userId))
        .filter((row) => row['subscription_id']?.S === record.subscriptionId)
        .sort((a, b) => (a['last_run_date']!.S! < b['last_run_date']!.S! ? -1 : 1)),
    attempts: ({ subscriptionId }) =>
      queryToTheEnd(client, {
        TableName: tables.pipeline,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
        ExpressionAttributeValues: { ':pk': { S: `SUB#${subscriptionId}` }, ':sk': { S: 'ATTEMPT#' } },
      }),
    async put(table, Item) {
      await client.send(new PutItemCommand({ TableName: tables[table], Item }));
    },
    async remove(table, item) {
      const Key = Object.fromEntries(KEYS[table].map((name) => [name, item[name]!]));
      await client.send(new DeleteItemCommand({ TableName: tables[table], Key }));
    },
    close: () => here.close(),
  };
  await self.at(here.now);
  return self;
}

export async function auditOf(
  source: AuditSource,
  options: AuditOptions,
): Promise<{ violations: Violation[]; totals: AuditTotals }> {
  const violations: Violation[] = [];
  const run = audit(source, options);
  let step = await run.next();
  for (; step.done !== true; step = await run.next()) violations.push(step.value);
  return { violations, totals: step.value };
}

/** A copy of an item with some attributes changed, in plain values; undefined removes one. */
export const changed = (item: Item, attributes: Record<string, unknown>): Item =>
  marshall({ ...unmarshall(item), ...attributes }, { removeUndefinedValues: true });

/** What a test expects of one violation: the rule and the record, and words of the detail. */
export const violation = (
  rule: number,
  record: Pick<Subscription, 'userId' | 'subscriptionId'>,
  detail: RegExp,
) => ({
  rule,
  user_id: record.userId,
  subscription_id: record.subscriptionId,
  detail: expectMatching(detail),
});

const expectMatching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

async function addressOf(here: World): Promise<string> {
  const spy = vi.spyOn(globalThis, 'fetch');
  await here.bank('GET', '/clock');
  const [asked] = spy.mock.calls[0]!;
  spy.mockRestore();
  return new URL(asked).origin;
}
