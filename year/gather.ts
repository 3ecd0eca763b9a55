import { z } from 'zod';
import { DynamoAuditTables } from '../src/adapters/dynamodb/audit-source.ts';
import { createDynamoClient } from '../src/adapters/dynamodb/client.ts';
import { tableNames } from '../src/cli/make-tables.ts';
import type { Environment } from '../src/config/read-config.ts';
import { readConfig } from '../src/config/read-config.ts';
import * as sections from '../src/config/sections.ts';
import type { Instant } from '../src/domain/instant.ts';
import { parseInstant } from '../src/domain/instant.ts';
import type { Cents } from '../src/domain/money.ts';
import { parseMoney } from '../src/domain/money.ts';
import { RAILS } from '../src/domain/subscription.ts';
import type { Change } from './figures/changes.ts';
import type { Movement } from './figures/money.ts';
import { KINDS } from './figures/money.ts';
import type { LedgerReader } from './ledger.ts';

const instant = z.string().transform((text, context): Instant => {
  const parsed = parseInstant(text);
  if (parsed === null) context.addIssue('no instant');
  return parsed ?? z.NEVER;
});
const money = z.string().transform((text, context): Cents => {
  const parsed = parseMoney(text);
  if (parsed === null) context.addIssue('no amount');
  return parsed ?? z.NEVER;
});

const movement = z
  .object({
    effect: z.enum(['debit', 'credit']),
    at: instant,
    confirmation_id: z.string(),
    kind: z.enum(KINDS),
    method: z.enum(RAILS),
    amount: money,
  })
  .transform(({ confirmation_id: confirmationId, method: rail, ...rest }): Movement => ({
    ...rest,
    confirmationId,
    rail,
  }));

/** Everything that moved, in the bank's own words. */
export async function readMovements(ledger: LedgerReader): Promise<Movement[]> {
  const debits = await ledger.read({ effect: 'debit' }, movement);
  const credits = await ledger.read({ effect: 'credit' }, movement);
  return [...debits.entries, ...credits.entries];
}

const change = z
  .object({
    user_id: z.string(),
    subscription_id: z.string(),
    billing_status: z.string(),
    updated_event: z.string().default(''),
    last_run_date: instant,
    data_cause: z.string().default(''),
  })
  .transform((row): Change => ({
    userId: row.user_id,
    subscriptionId: row.subscription_id,
    status: row.billing_status,
    updatedEvent: row.updated_event,
    cause: row.data_cause,
    at: row.last_run_date,
  }));

/** The whole history of every member's billing records. */
export async function readChanges(environment: Environment): Promise<Change[]> {
  const { dynamodb } = readConfig(environment, { dynamodb: sections.dynamodb });
  const client = createDynamoClient({
    region: dynamodb.DYNAMO_REGION,
    endpoint: dynamodb.AWS_ENDPOINT_URL_DYNAMODB,
  });
  const tables = new DynamoAuditTables({
    client,
    tables: tableNames(dynamodb),
    pageSize: dynamodb.PAGE_SIZE,
  });
  try {
    const changes: Change[] = [];
    for await (const { userId } of tables.users()) {
      const rows = await tables.historyOf(userId);
      changes.push(...rows.map((row) => change.parse(row)));
    }
    return changes;
  } finally {
    client.destroy();
  }
}

const DONE = /^collections_job_duration_seconds_count\{([^}]*)\} (\d+)$/gm;

/** How many jobs were carried to their end, as the workers have counted them. */
export const jobsIn = (metrics: string): number =>
  [...metrics.matchAll(DONE)]
    .filter(([, labels]) => labels?.includes('end="done"'))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
