import type { BatchGetItemCommandInput, BatchWriteItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { RawItem } from './attribute-value.ts';
import { invalid } from './errors.ts';
import { projectionOf, readItem } from './item-requests.ts';
import { keyAlone } from './key-schema.ts';
import type { Store } from './store.ts';
import { deleteWrite, keyOfWrite, putWrite, type Write } from './write-item.ts';

const MOST_KEYS = 100;
const MOST_WRITES = 25;

/** Answers everything that was asked for: unprocessed keys are not simulated. */
export function batchGetItem(store: Store, { RequestItems = {} }: BatchGetItemCommandInput): object {
  const requests = Object.entries(RequestItems);
  const count = requests.reduce((sum, [, { Keys = [] }]) => sum + Keys.length, 0);
  if (count > MOST_KEYS) throw invalid('Too many items requested for the BatchGetItem call');
  if (count === 0) throw invalid('The batch get request list cannot be empty');
  const Responses: Record<string, RawItem[]> = {};
  for (const [name, { Keys = [], ...input }] of requests) {
    const table = store.table(name);
    const project = projectionOf(input);
    refuseTwice(
      Keys.map((key) => table.idOf(keyAlone(table.schema, key))),
      'Provided list of item keys contains duplicates',
    );
    Responses[name] = Keys.map((key) => readItem(table, key, project)).filter((item) => item !== null);
  }
  return { $metadata: {}, Responses, UnprocessedKeys: {} };
}

export function batchWriteItem(store: Store, { RequestItems = {} }: BatchWriteItemCommandInput): object {
  const writes = Object.entries(RequestItems).flatMap(([TableName, requests]) =>
    requests.map(({ PutRequest, DeleteRequest }): Write => {
      if (PutRequest !== undefined) return putWrite(store, { TableName, Item: PutRequest.Item });
      if (DeleteRequest !== undefined) return deleteWrite(store, { TableName, Key: DeleteRequest.Key });
      throw invalid('Supplied AttributeValue has no put and no delete request');
    }),
  );
  if (writes.length > MOST_WRITES) throw invalid('Too many items requested for the BatchWriteItem call');
  if (writes.length === 0) throw invalid('The batch write request list cannot be empty');
  refuseTwice(
    writes.map((write) => `${write.table.name} ${write.table.idOf(keyOfWrite(write))}`),
    'Provided list of item keys contains duplicates',
  );
  for (const write of writes) {
    const before = write.table.get(keyOfWrite(write));
    store.apply([{ table: write.table, before, after: write.after(before) }]);
  }
  return { $metadata: {}, UnprocessedItems: {} };
}

export function refuseTwice(ids: readonly string[], message: string): void {
  if (new Set(ids).size < ids.length) throw invalid(message);
}
