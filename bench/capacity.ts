import type {
  BatchGetItemCommandInput,
  BatchGetItemCommandOutput,
  ConsumedCapacity,
} from '@aws-sdk/client-dynamodb';
import type { Amend, Exchange } from './recording-proxy.ts';
import { operationOf } from './template.ts';

/** What requests have used, in DynamoDB's units. */
export interface Units {
  readonly read: number;
  /** In tables and indexes. */
  readonly write: number;
}

const READS = ['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems'];
const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'];

/** Has DynamoDB say what each request uses, which the worker does not ask. Its local version checks no signature. */
export const askForUnits: Amend = (body, headers) => {
  const operation = operationOf(headers) ?? '';
  if (![...READS, ...WRITES].includes(operation)) return body;
  return Buffer.from(
    JSON.stringify({ ...JSON.parse(body.toString('utf8')), ReturnConsumedCapacity: 'TOTAL' }),
  );
};

export function unitsOf(exchanges: readonly Exchange[]): Units {
  const used = { read: 0, write: 0 };
  for (const { headers, body, answer } of exchanges) {
    const operation = operationOf(headers) ?? '';
    const said = capacityIn(answer).reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
    if (READS.includes(operation)) used.read += said;
    if (WRITES.includes(operation)) used.write += said;
    if (operation === 'BatchGetItem') used.read += unitsOfMissing(body, answer);
  }
  return used;
}

/** A key that leads nowhere is read and paid for all the same, which DynamoDB Local does not count. */
function unitsOfMissing(body: string, answer: string): number {
  const { RequestItems = {} } = JSON.parse(body) as BatchGetItemCommandInput;
  const { Responses = {} } = JSON.parse(answer) as BatchGetItemCommandOutput;
  return Object.entries(RequestItems).reduce((sum, [table, { Keys = [], ConsistentRead = false }]) => {
    const missing = Keys.length - (Responses[table]?.length ?? 0);
    return sum + missing * (ConsistentRead ? 1 : 0.5);
  }, 0);
}

/** One for each table of a batch or a transaction. A request that was refused says nothing here. */
function capacityIn(answer: string): ConsumedCapacity[] {
  const { ConsumedCapacity: used = [] } = JSON.parse(answer) as {
    ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
  };
  return Array.isArray(used) ? used : [used];
}
