import type {
  DeleteItemCommandInput,
  GetItemCommandInput,
  PutItemCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { withOwnBytes } from './admit-value.ts';
import type { RawItem } from './attribute-value.ts';
import type { RequestBindings } from './bindings.ts';
import { bind } from './bindings.ts';
import { invalid, refused } from './errors.ts';
import { keyAlone } from './key-schema.ts';
import { boundPaths, parseProjection, projected } from './projection.ts';
import type { Store } from './store.ts';
import type { Table } from './table.ts';
import type { Row } from './view.ts';
import { deleteWrite, keyOfWrite, putWrite, updateWrite, type Write } from './write-item.ts';

export function getItem(store: Store, input: GetItemCommandInput): object {
  const item = readItem(store.table(input.TableName), input.Key ?? {}, projectionOf(input));
  return item === null ? { $metadata: {} } : { $metadata: {}, Item: item };
}

export function readItem(table: Table, key: RawItem, project: (item: RawItem) => RawItem): RawItem | null {
  const row = table.get(keyAlone(table.schema, key));
  return row === null ? null : withOwnBytes(project(row.item));
}

const whole = (item: RawItem): RawItem => item;

export function projectionOf(
  input: RequestBindings & { readonly ProjectionExpression?: string | undefined },
): (item: RawItem) => RawItem {
  const { ProjectionExpression: text } = input;
  const projection = text === undefined ? null : parseProjection(text);
  const bindings = bind(input, projection);
  if (projection === null) return whole;
  const paths = boundPaths(projection.meaning, bindings);
  return (item) => projected(item, paths);
}

export function putItem(store: Store, input: PutItemCommandInput): object {
  const isAsked = asksForBefore(input.ReturnValues);
  const { before } = written(store, putWrite(store, input));
  return answer(isAsked ? (before?.item ?? null) : null);
}

export function deleteItem(store: Store, input: DeleteItemCommandInput): object {
  const isAsked = asksForBefore(input.ReturnValues);
  const { before } = written(store, deleteWrite(store, input));
  return answer(isAsked ? (before?.item ?? null) : null);
}

export function updateItem(store: Store, input: UpdateItemCommandInput): object {
  const write = updateWrite(store, input);
  const { before, after } = written(store, write);
  switch (input.ReturnValues) {
    case undefined:
    case 'NONE':
      return answer(null);
    case 'ALL_OLD':
      return answer(before?.item ?? null);
    case 'ALL_NEW':
      return answer(after?.item ?? null);
    case 'UPDATED_OLD':
      return answer(before === null ? null : partOf(before, write));
    case 'UPDATED_NEW':
      return answer(after === null ? null : partOf(after, write));
  }
}

const partOf = ({ item }: Row, { paths }: Write): RawItem | null => {
  const part = projected(item, paths);
  return Object.keys(part).length === 0 ? null : part;
};

function asksForBefore(returnValues: string | undefined): boolean {
  if (returnValues === undefined || returnValues === 'NONE') return false;
  if (returnValues === 'ALL_OLD') return true;
  throw invalid('Return values set to invalid value');
}

const answer = (attributes: RawItem | null): object =>
  attributes === null ? { $metadata: {} } : { $metadata: {}, Attributes: withOwnBytes(attributes) };

function written(store: Store, write: Write): { before: Row | null; after: Row | null } {
  const before = write.table.get(keyOfWrite(write));
  if (!write.allows(before))
    throw refused(write.showsRefusing && before !== null ? withOwnBytes(before.item) : null);
  const after = write.after(before);
  store.apply([{ table: write.table, before, after }]);
  return { before, after };
}
