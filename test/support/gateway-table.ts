import { randomUUID } from 'node:crypto';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoClient } from '../../src/adapters/dynamodb/client.ts';
import { ensureTable, tableDefinitions } from '../../src/adapters/dynamodb/tables.ts';
import { sharedStack } from './stack.ts';

const NOT_MADE = {
  billing: '',
  history: '',
  locks: '',
  pipeline: '',
  floats: '',
  collectionHistory: '',
  bypass: '',
  recurring: '',
};

/** The table of gateway subscriptions, for the tests that need it: making a table takes its time. */
export async function gatewayTable(): Promise<{ readonly name: string; drop(): Promise<void> }> {
  const client = createDynamoClient({ region: 'us-east-1', endpoint: sharedStack().dynamodbUrl });
  const gateways = `gateways-${randomUUID().slice(0, 8)}`;
  const definition = tableDefinitions({ ...NOT_MADE, gateways }).find(({ name }) => name === gateways)!;
  await ensureTable(client, definition, { addIndex: false });
  return {
    name: gateways,
    async drop() {
      await client.send(new DeleteTableCommand({ TableName: gateways }));
      client.destroy();
    },
  };
}
