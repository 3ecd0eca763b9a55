import { z } from 'zod';
import { createDynamoClient } from '../adapters/dynamodb/client.ts';
import { DynamoSeeder } from '../adapters/dynamodb/seeder.ts';
import { SandboxClient } from '../adapters/sandbox-client.ts';
import { systemTimer } from '../adapters/system-timer.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { demoUserId } from '../demo/population.ts';
import type { SeedRequest, SeedResult } from '../demo/seed.ts';
import { seedDemo } from '../demo/seed.ts';
import { ConfigurationError } from '../errors.ts';
import type { Terminal } from './terminal.ts';

/** The pretend bank answers as the payments service, so its address is where payments go. */
export function sandboxClient(environment: Environment): SandboxClient {
  if ((environment['PAYMENTS_SERVICE_URL'] ?? '') === '') {
    throw new ConfigurationError(
      'no sandbox bank: run `npm start` in this folder, or set PAYMENTS_SERVICE_URL to one',
    );
  }
  const schema = z.object({ PAYMENTS_SERVICE_URL: sections.services.shape.PAYMENTS_SERVICE_URL });
  return new SandboxClient(readConfig(environment, { schema }).schema.PAYMENTS_SERVICE_URL);
}

/** Made-up members in the tables and at the pretend bank. Null when `onlyIfMissing` and they are there. */
export async function seed(
  environment: Environment,
  request: Omit<SeedRequest, 'now'> & { readonly onlyIfMissing: boolean },
  out: Terminal,
): Promise<SeedResult | null> {
  const { dynamodb, general } = readConfig(environment, {
    dynamodb: sections.dynamodb,
    general: sections.general,
  });
  if (general.ENVIRONMENT === 'prod')
    throw new Error('made-up members have no place where ENVIRONMENT is prod');
  const client = createDynamoClient({
    region: dynamodb.DYNAMO_REGION,
    endpoint: dynamodb.AWS_ENDPOINT_URL_DYNAMODB,
  });
  try {
    const store = new DynamoSeeder({
      client,
      billingTable: dynamodb.BILLING_TABLE,
      historyTable: dynamodb.HISTORY_TABLE,
      pipelineTable: dynamodb.PIPELINE_TABLE,
      floatsTable: dynamodb.DYNAMO_TABLE,
      collectionHistoryTable: dynamodb.COLLECTION_HISTORY_TABLE,
      recurringTable: dynamodb.RECURRING_TABLE,
      timer: systemTimer,
      random: Math.random,
    });
    if (request.onlyIfMissing && !(await isMissing(store, request.prefix))) return null;
    const bank = sandboxClient(environment);
    const { now } = await bank.time();
    const progress = out.progress('seeding members', request.users);
    const result = await seedDemo({ ...request, now }, store, bank, (members) => progress.update(members));
    progress.finish();
    await store.markDone(request.prefix);
    return result;
  } finally {
    client.destroy();
  }
}

/** An empty store, or one whose seeding was interrupted: members are made in order, so the first would be there. */
async function isMissing(store: DynamoSeeder, prefix: string): Promise<boolean> {
  if (await store.isMarkedDone(prefix)) return false;
  return (await store.isEmpty()) || store.hasUser(demoUserId(prefix, 1));
}
