import { z } from 'zod';
import { createDynamoClient } from '../adapters/dynamodb/client.ts';
import { DynamoSeeder } from '../adapters/dynamodb/seeder.ts';
import { SandboxClient } from '../adapters/sandbox-client.ts';
import { systemTimer } from '../adapters/system-timer.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import type { SeedResult } from '../demo/seed.ts';
import { seedDemo } from '../demo/seed.ts';
import type { Terminal } from './terminal.ts';

/** The pretend bank answers as the payments service, so its address is where payments go. */
export function sandboxClient(environment: Environment): SandboxClient {
  const schema = z.object({ PAYMENTS_SERVICE_URL: sections.services.shape.PAYMENTS_SERVICE_URL });
  return new SandboxClient(readConfig(environment, { schema }).schema.PAYMENTS_SERVICE_URL);
}

/** Made-up members in the tables and at the pretend bank. Null when `onlyIfEmpty` and there are records already. */
export async function seed(
  environment: Environment,
  request: { users: number; prefix: string; onlyIfEmpty: boolean },
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
      timer: systemTimer,
      random: Math.random,
    });
    if (request.onlyIfEmpty && !(await store.isEmpty())) return null;
    const bank = sandboxClient(environment);
    const { now } = await bank.time();
    const progress = out.progress('seeding members', request.users);
    const result = await seedDemo({ ...request, now }, store, bank, (members) => progress.update(members));
    progress.finish();
    return result;
  } finally {
    client.destroy();
  }
}
