import type {
  BatchGetItemCommandInput,
  BatchGetItemCommandOutput,
  ConsumedCapacity,
  TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { Amend, Exchange } from './recording-proxy.ts';
import { operationOf } from './template.ts';

/** What requests have used, in DynamoDB's units. */
export interface Units {
  readonly read: number;
  readonly tableWrite: number;
  readonly indexWrite: number;
}

const READS = ['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems'];
const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'];

/** Has DynamoDB say what each request uses, which the worker does not ask. Its local version checks no signature. */
export const askForUnits: Amend = (body, headers) => {
  const operation = operationOf(headers) ?? '';
  if (![...READS, ...WRITES].includes(operation)) return body;
  return Buffer.from(
    JSON.stringify({ ...JSON.parse(body.toString('utf8')), ReturnConsumedCapacity: 'INDEXES' }),
  );
};

/** A check in a transaction costs as much as a write; locks are below 1 KB. */
const CHECK_UNITS = 2;

export function unitsOf(exchanges: readonly Exchange[]): Units {
  const used = { read: 0, tableWrite: 0, indexWrite: 0 };
  for (const { headers, body, answer } of exchanges) {
    const operation = operationOf(headers) ?? '';
    const said = capacityIn(answer);
    if (operation === 'BatchGetItem') used.read += unitsOfMissing(body, answer);
    if (operation === 'TransactWriteItems') used.tableWrite += unitsOfChecks(body, said);
    for (const { CapacityUnits: all = 0, Table } of said) {
      const ofTable = Table?.CapacityUnits ?? all;
      if (READS.includes(operation)) used.read += all;
      if (!WRITES.includes(operation)) continue;
      used.tableWrite += ofTable;
      used.indexWrite += all - ofTable;
    }
  }
  return used;
}

/** DynamoDB Local says nothing of tables in which a transaction only looks; AWS charges for a look as for a write. */
function unitsOfChecks(body: string, said: readonly ConsumedCapacity[]): number {
  if (said.length === 0) return 0;
  const { TransactItems = [] } = JSON.parse(body) as TransactWriteItemsCommandInput;
  const counted = new Set(said.map(({ TableName }) => TableName));
  const forgotten = TransactItems.filter(
    ({ ConditionCheck: check }) => check !== undefined && !counted.has(check.TableName),
  );
  return forgotten.length * CHECK_UNITS;
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
