import {
  DynamoDBServiceException,
  type ConditionCheck,
  type DeleteItemCommandInput,
  type PutItemCommandInput,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { admitItem } from './admit-value.ts';
import type { RawItem } from './attribute-value.ts';
import type { Bindings, RequestBindings } from './bindings.ts';
import { bind, boundName, boundPath } from './bindings.ts';
import { checkActions, checkCondition } from './check-operands.ts';
import { checkPaths } from './document-paths.ts';
import { invalid, isInvalid } from './errors.ts';
import { holds } from './evaluate.ts';
import type { Action, Condition, Parsed, Path } from './expression.ts';
import type { Key } from './key-schema.ts';
import { keyAlone } from './key-schema.ts';
import { parseCondition } from './parse-condition.ts';
import { parseUpdate } from './parse-update.ts';
import type { Store } from './store.ts';
import type { Table } from './table.ts';
import { updated } from './update.ts';
import type { Row } from './view.ts';

/**
 * A write that was understood and found valid, without a look at the item: what it asks for can still be refused by its
 * condition, or prove impossible on the item as it is.
 */
export interface Write {
  readonly table: Table;
  /** Or why there is none: what names or makes up the item does not fit the table. */
  readonly key: Key | DynamoDBServiceException;
  readonly allows: (before: Row | null) => boolean;
  readonly showsRefusing: boolean;
  readonly after: (before: Row | null) => Row | null;
  /** What an update speaks of. */
  readonly paths: readonly Path[];
}

interface Conditional extends RequestBindings {
  readonly ConditionExpression?: string | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
}

export function putWrite(store: Store, input: Omit<PutItemCommandInput, 'ReturnValues'>): Write {
  const table = store.table(input.TableName);
  const item = admitItem(input.Item ?? {});
  const condition = conditionOf(input);
  const bindings = bind(input, condition);
  const row = unlessInvalid(() => table.row(item));
  if (row instanceof DynamoDBServiceException)
    return write(table, row, input, condition, bindings, () => null);
  const key = { partition: row.partitionKey, sort: row.key };
  return write(table, key, input, condition, bindings, () => row);
}

export function deleteWrite(store: Store, input: Omit<DeleteItemCommandInput, 'ReturnValues'>): Write {
  const { table, key } = addressed(store, input);
  const condition = conditionOf(input);
  return write(table, key, input, condition, bind(input, condition), () => null);
}

export function checkOnly(store: Store, input: ConditionCheck): Write {
  const { table, key } = addressed(store, input);
  const condition = conditionOf(input);
  if (condition === null) throw invalid('The parameter ConditionExpression is required');
  return write(table, key, input, condition, bind(input, condition), (before) => before);
}

export function updateWrite(store: Store, input: Omit<UpdateItemCommandInput, 'ReturnValues'>): Write {
  const { table, key } = addressed(store, input);
  const condition = conditionOf(input);
  const update = input.UpdateExpression === undefined ? null : parseUpdate(input.UpdateExpression);
  const bindings = bind(input, condition, update);
  const actions = update?.meaning ?? [];
  checkUpdate(table, actions, bindings);
  const fresh = admitItem(input.Key ?? {});
  const after = (before: Row | null): Row | null =>
    table.row(updated(before?.item ?? fresh, actions, bindings));
  const paths = actions.map(({ path }) => boundPath(bindings, path));
  return { ...write(table, key, input, condition, bindings, after), paths };
}

function checkUpdate(table: Table, actions: readonly Action[], bindings: Bindings): void {
  checkActions(actions, bindings);
  checkPaths(actions.map(({ path }) => boundPath(bindings, path)));
  for (const { path } of actions) {
    const name = boundName(bindings, path[0] as string);
    if (table.schema.attributes.some((attribute) => attribute.name === name))
      throw invalid(`Cannot update attribute ${name}. This attribute is part of the key`);
  }
}

function addressed(
  store: Store,
  { TableName, Key }: { TableName: string | undefined; Key: RawItem | undefined },
): Pick<Write, 'table' | 'key'> {
  const table = store.table(TableName);
  return { table, key: unlessInvalid(() => keyAlone(table.schema, Key ?? {})) };
}

function unlessInvalid<T>(found: () => T): T | DynamoDBServiceException {
  try {
    return found();
  } catch (error) {
    if (isInvalid(error)) return error;
    throw error;
  }
}

/** The key of a write that is alone in its request, which fails as a whole if it has none. */
export function keyOfWrite({ key }: Write): Key {
  if (key instanceof DynamoDBServiceException) throw key;
  return key;
}

function write(
  table: Table,
  key: Write['key'],
  input: Conditional,
  condition: Parsed<Condition> | null,
  bindings: Bindings,
  after: Write['after'],
): Write {
  if (condition !== null) checkCondition(condition.meaning, bindings);
  return {
    table,
    key,
    allows: (before) => condition === null || holds(condition.meaning, before?.item ?? null, bindings),
    showsRefusing: input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD',
    after,
    paths: [],
  };
}

const conditionOf = ({ ConditionExpression: text }: Conditional): Parsed<Condition> | null =>
  text === undefined ? null : parseCondition(text);
