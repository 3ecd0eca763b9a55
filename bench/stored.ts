import type { PutItemCommandInput, TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import type { TableDefinition } from '../src/adapters/dynamodb/tables.ts';
import type { WireItem } from './item-size.ts';
import { itemBytes } from './item-size.ts';
import type { Exchange } from './recording-proxy.ts';
import { operationOf } from './template.ts';
import type { WriteUnits } from './write-units.ts';
import { byPlace } from './write-units.ts';

/** An item as a request has put it. */
export interface Put {
  readonly table: string;
  readonly item: WireItem;
}

/** What storing an item takes beside its own bytes, in the table and in each index. */
const STORED_WITH_BYTES = 100;
const WRITE_UNIT_BYTES = 1_024;

/** All that was put, whole items in the order in which they were sent; refused requests have put nothing. */
export function putsIn(exchanges: readonly Exchange[]): Put[] {
  return [...exchanges]
    .sort((a, b) => a.sentMs - b.sentMs)
    .filter(({ answer }) => !answer.includes('"__type"'))
    .flatMap(({ headers, body }) => putsOf(operationOf(headers), body));
}

function putsOf(operation: string | null, body: string): Put[] {
  if (operation === 'PutItem') return [asPut(JSON.parse(body) as PutItemCommandInput)];
  if (operation !== 'TransactWriteItems') return [];
  const { TransactItems = [] } = JSON.parse(body) as TransactWriteItemsCommandInput;
  return TransactItems.flatMap(({ Put: put }) => (put === undefined ? [] : [asPut(put)]));
}

function asPut({ TableName, Item }: Pick<PutItemCommandInput, 'TableName' | 'Item'>): Put {
  if (TableName === undefined || Item === undefined) throw new Error('a put has a table and an item');
  return { table: TableName, item: Item };
}

/** Both writes of a transaction, the one that prepares and the one that commits. */
const TRANSACTION_FACTOR = 2;

/**
 * Write units of each table by AWS's rules: one for each KB, twice in a transaction, where a look costs as much as a
 * write. What is only looked at or updated, a lock, is below 1 KB.
 */
export function tableUnitsIn(exchanges: readonly Exchange[]): WriteUnits[] {
  return byPlace(exchanges.flatMap(({ headers, body }) => unitsOfRequest(operationOf(headers), body)));
}

function unitsOfRequest(operation: string | null, body: string): WriteUnits[] {
  switch (operation) {
    case 'PutItem':
    case 'UpdateItem':
      return [unitsOfWrite(JSON.parse(body) as Target)];
    case 'TransactWriteItems': {
      const { TransactItems = [] } = JSON.parse(body) as TransactWriteItemsCommandInput;
      return TransactItems.map(({ Put, Update, Delete, ConditionCheck }) => {
        const { table, units } = unitsOfWrite(Put ?? Update ?? Delete ?? ConditionCheck ?? {});
        return { table, units: TRANSACTION_FACTOR * units };
      });
    }
    default:
      return [];
  }
}

/** What a request, or an item of a transaction, writes to or looks at; only a put has the item. */
type Target = Partial<Pick<PutItemCommandInput, 'TableName' | 'Item'>>;

function unitsOfWrite({ TableName, Item }: Target): WriteUnits {
  if (TableName === undefined) throw new Error('a write has a table');
  return { table: TableName, units: Item === undefined ? 1 : unitsOfItem(Item) };
}

const unitsOfItem = (item: WireItem): number => Math.ceil(itemBytes(item) / WRITE_UNIT_BYTES);

/** The store as far as it is known: what was in it, and what was put since. */
export class KnownStore {
  private readonly tables: ReadonlyMap<string, TableDefinition>;
  private readonly items = new Map<string, Put>();
  private readonly unitsOfKey = new Map<string, WriteUnits>();

  constructor(definitions: readonly TableDefinition[], before: readonly Put[]) {
    this.tables = new Map(definitions.map((definition) => [definition.name, definition]));
    for (const put of before) this.items.set(this.nameOf(put), put);
  }

  put(put: Put): void {
    const name = this.nameOf(put);
    this.countIndexes(put, this.items.get(name)?.item);
    this.items.set(name, put);
  }

  /** What is there now and was not before, in its last shape. */
  since(before: readonly Put[]): Put[] {
    const known = new Set(before.map((put) => this.nameOf(put)));
    return [...this.items].filter(([name]) => !known.has(name)).map(([, put]) => put);
  }

  /** What storing it takes, in its table and in every index in which it is. */
  bytesOf({ table, item }: Put): number {
    const copies = 1 + this.definition(table).indexes.filter(({ key }) => valueOf(item, key) !== null).length;
    return copies * (itemBytes(item) + STORED_WITH_BYTES);
  }

  /** Write units of each index. */
  indexUnits(): WriteUnits[] {
    return byPlace([...this.unitsOfKey.values()]);
  }

  /** Write units of the partition key that has most of them, over all indexes. */
  busiestKeyUnits(): number {
    return Math.max(0, ...[...this.unitsOfKey.values()].map(({ units }) => units));
  }

  /** An entry whose key changes is taken out in one place and put in at another. */
  private countIndexes({ table, item }: Put, before: WireItem | undefined): void {
    for (const { name: index, key } of this.definition(table).indexes) {
      const [now, then] = [valueOf(item, key), before === undefined ? null : valueOf(before, key)];
      const count = (entry: WireItem): void => this.count({ table, index }, entry[key[0]]?.S ?? '', entry);
      if (now !== null) count(item);
      if (before !== undefined && then !== null && then !== now) count(before);
    }
  }

  private count(place: Pick<WriteUnits, 'table' | 'index'>, key: string, entry: WireItem): void {
    const name = `${place.table} ${place.index} ${key}`;
    const units = (this.unitsOfKey.get(name)?.units ?? 0) + unitsOfItem(entry);
    this.unitsOfKey.set(name, { ...place, units });
  }

  private nameOf({ table, item }: Put): string {
    return `${table} ${valueOf(item, this.definition(table).key)}`;
  }

  private definition(table: string): TableDefinition {
    const found = this.tables.get(table);
    if (found === undefined) throw new Error(`nobody knows the table ${table}`);
    return found;
  }
}

/** Null where an item lacks a part of the key: it is not in that index. */
function valueOf(item: WireItem, key: TableDefinition['key']): string | null {
  const parts = key.flatMap((name) => (name === undefined ? [] : [item[name]?.S ?? item[name]?.N]));
  return parts.includes(undefined) ? null : parts.join(' ');
}
