import type { z } from 'zod';
import { createDynamoClient } from '../adapters/dynamodb/client.ts';
import type { TableFinding, TableNames } from '../adapters/dynamodb/tables.ts';
import { ensureTable, tableDefinitions } from '../adapters/dynamodb/tables.ts';
import { createKinesisClient } from '../adapters/kinesis/client.ts';
import { ensureStream, streamIsThere } from '../adapters/kinesis/streams.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';

export interface MadeThing {
  readonly name: string;
  readonly what: string;
  readonly status: TableFinding['status'];
  readonly remedy?: string;
  readonly optional?: true;
}

/** Enough for two bridges to share; on AWS the owner of the stream decides. */
const LOCAL_SHARDS = 2;

export const tableNames = (dynamo: z.output<typeof sections.dynamodb>): TableNames => ({
  billing: dynamo.BILLING_TABLE,
  history: dynamo.HISTORY_TABLE,
  locks: dynamo.LOCKS_TABLE,
  pipeline: dynamo.PIPELINE_TABLE,
  floats: dynamo.DYNAMO_TABLE,
  collectionHistory: dynamo.COLLECTION_HISTORY_TABLE,
  bypass: dynamo.BYPASS_TABLE,
  recurring: dynamo.RECURRING_TABLE,
  gateways: dynamo.GATEWAY_TABLE,
});

/** Makes what is missing, table by table and stream by stream, and tells of each. Safe to repeat. */
export async function* makeTables(
  environment: Environment,
  options: { addIndex: boolean },
): AsyncGenerator<MadeThing> {
  const { dynamodb, kinesis, general } = readConfig(environment, {
    dynamodb: sections.dynamodb,
    kinesis: sections.kinesis,
    general: sections.general,
  });
  const client = createDynamoClient({
    region: dynamodb.DYNAMO_REGION,
    endpoint: dynamodb.AWS_ENDPOINT_URL_DYNAMODB,
  });
  try {
    for (const definition of tableDefinitions(tableNames(dynamodb))) {
      for (const { table, ...finding } of await ensureTable(client, definition, options))
        yield { name: table, ...finding };
    }
  } finally {
    client.destroy();
  }
  yield* makeStreams(kinesis, { region: dynamodb.DYNAMO_REGION, mayMake: general.ENVIRONMENT !== 'prod' });
}

async function* makeStreams(
  kinesis: {
    AWS_ENDPOINT_URL_KINESIS?: string | undefined;
    USERS_STREAM: string;
    PAYMENTS_STREAM: string;
    SUBSCRIPTIONS_STREAM: string;
  },
  { region, mayMake }: { region: string; mayMake: boolean },
): AsyncGenerator<MadeThing> {
  const client = createKinesisClient({ region, endpoint: kinesis.AWS_ENDPOINT_URL_KINESIS });
  try {
    for (const name of [kinesis.USERS_STREAM, kinesis.PAYMENTS_STREAM, kinesis.SUBSCRIPTIONS_STREAM]) {
      const what = 'Kinesis stream';
      if (mayMake) yield { name, what, status: await ensureStream(client, name, LOCAL_SHARDS) };
      else if (await streamIsThere(client, name)) yield { name, what, status: 'there' };
      else
        yield {
          name,
          what,
          status: 'missing',
          remedy: 'in prod its owner makes it: a stream made here would hide a wrong name',
        };
    }
  } finally {
    client.destroy();
  }
}
