import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { ensureTable, tableDefinitions } from '../../src/adapters/dynamodb/tables.ts';
import type { TableNames } from '../../src/adapters/dynamodb/tables.ts';

/** The table of gateway subscriptions, for the tests that need it. */
export async function gatewayTable(
  client: DynamoDBClient,
  tables: TableNames,
  gateways = `gateways-${randomUUID().slice(0, 8)}`,
): Promise<{ readonly name: string; drop(): Promise<void> }> {
  const definition = tableDefinitions({ ...tables, gateways }).find(({ name }) => name === gateways)!;
  await ensureTable(client, definition, { addIndex: false });
  return {
    name: gateways,
    async drop() {
      await client.send(new DeleteTableCommand({ TableName: gateways }));
    },
  };
}
