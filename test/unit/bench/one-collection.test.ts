import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { NOW } from '../../../bench/ground.ts';
import { dueMembers, dueRecordOf } from '../../../bench/members.ts';
import { startProxy } from '../../../bench/recording-proxy.ts';
import { unitsAndBytes } from '../../../bench/requests.ts';
import { startHttpFront } from '../../../sim/dynamodb/http-front.ts';
import { MemoryDynamo } from '../../../sim/dynamodb/memory-dynamo.ts';
import { BatchReader } from '../../../src/adapters/dynamodb/batch-reader.ts';
import { createDynamoClient } from '../../../src/adapters/dynamodb/client.ts';
import { DynamoPipeline } from '../../../src/adapters/dynamodb/pipeline.ts';
import { writeSubscription } from '../../../src/adapters/dynamodb/subscription-codec.ts';
import { DynamoSubscriptions } from '../../../src/adapters/dynamodb/subscriptions.ts';
import { ensureTable, tableDefinitions } from '../../../src/adapters/dynamodb/tables.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { createLockClient } from '../../../src/adapters/lock/lock-client.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { collectSubscription } from '../../../src/app/collect-subscription.ts';
import type { CollectDependencies } from '../../../src/app/collection-case.ts';
import { tableNames } from '../../../src/cli/make-tables.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import * as sections from '../../../src/config/sections.ts';
import { cents } from '../../../src/domain/money.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { runId } from '../../../src/domain/runs.ts';
import { openGate } from '../../support/open-gate.ts';

const names = tableNames(readConfig({}, { dynamodb: sections.dynamodb }).dynamodb);

const notAsked = (): never => {
  throw new Error('a charge that goes through asks for nothing else');
};

/** The code that collects, on these tables; everybody has an account and a card, and every charge goes through. */
function collecting(client: DynamoDBClient): CollectDependencies {
  const timer = systemTimer;
  const clock = { now: () => NOW };
  const random = (): number => 0.5;
  const transactor = new Transactor({ client, locksTable: names.locks, timer, random });
  return {
    locks: createLockClient({ client, table: names.locks, clock, timer }),
    subscriptions: new DynamoSubscriptions({
      client,
      transactor,
      billingTable: names.billing,
      historyTable: names.history,
      pageSize: 500,
      ids: randomUUID,
    }),
    pipeline: new DynamoPipeline({
      client,
      table: names.pipeline,
      reader: new BatchReader({ client, table: names.pipeline, timer, random }),
      timer,
      checkDelaysMs: [300_000],
    }),
    users: { get: async () => ({ status: 'ACTIVE', isEmployee: false }) },
    accounts: {
      primary: async () => ({ accountId: randomUUID(), availableBalance: cents(50_000), hasDebitCard: true }),
    },
    processor: {
      charge: async () => ({
        kind: 'answered',
        payment: {
          confirmationId: `USIO-${randomUUID()}`,
          status: 'COMPLETED',
          errorCode: null,
          errorMessage: null,
          accountMask: '1234',
          cardMask: '5678',
        },
      }),
      refund: notAsked,
      findByKey: notAsked,
      findByConfirmation: notAsked,
    },
    gate: openGate,
    policy: DEFAULT_POLICY,
    clock,
    timer,
    processorTimeoutMs: 1_000,
    onStep: () => undefined,
  };
}

it('a collection by card writes so many units to each table and each index', async () => {
  const front = await startHttpFront(new MemoryDynamo({ nowMs: Date.now }));
  const proxy = await startProxy(front.url);
  const client = createDynamoClient({ region: 'us-east-1', endpoint: proxy.url });
  const dependencies = collecting(client);
  try {
    for (const definition of tableDefinitions(names))
      await ensureTable(client, definition, { addIndex: true });
    const members = dueMembers(1);
    const due = dueRecordOf(members[0]!);
    for (const record of members[0]!.records) {
      const Item = writeSubscription(record, null);
      await client.send(new PutItemCommand({ TableName: names.billing, Item }));
    }
    proxy.take();
    const id = runId('scheduled', NOW);
    await collectSubscription(dependencies, { path: 'INITIAL', ...due, triggerId: id });
    await dependencies.locks.close();

    const { writeUnits, figures } = unitsAndBytes(proxy.take(), members, names);
    expect(writeUnits).toEqual([
      // The record with the intent and with the outcome, and the next period, in transactions.
      { table: 'billing', units: 6 },
      { table: 'billing', index: 'subscription_id-index', units: 3 },
      // One more where the record leaves SCHEDULED.
      { table: 'billing', index: 'billing_status-index', units: 4 },
      { table: 'billing', index: 'billing_status-billing_date-index', units: 4 },
      { table: 'history', units: 6 },
      { table: 'history', index: 'subscription_id-index', units: 3 },
      // Taken, released, and looked at in both transactions.
      { table: 'locks', units: 6 },
      // Attempt and state with the intent and with the outcome, and the verdict.
      { table: 'pipeline', units: 10 },
      { table: 'pipeline', index: 'due-index', units: 2 },
      { table: 'pipeline', index: 'trigger-index', units: 1 },
    ]);
    expect(figures).toMatchObject({
      dynamo_calls_per_collection: 6,
      lock_requests_per_collection: 2,
      table_write_units_per_collection: 28,
      index_write_units_per_collection: 17,
      busiest_key_units_per_collection: 3,
    });
  } finally {
    client.destroy();
    proxy.close();
    await front.close();
  }
});
