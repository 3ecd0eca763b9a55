import type {
  AttributeDefinition,
  CreateTableCommandInput,
  GlobalSecondaryIndex,
  StreamSpecification,
} from '@aws-sdk/client-dynamodb';
import type { RawItem } from './attribute-value.ts';
import { attributeOf } from './attribute-value.ts';
import { invalid, resourceInUse } from './errors.ts';
import { ExpiryHeap } from './expiry-heap.ts';
import { IndexView, noSuchIndex } from './index-view.ts';
import { itemBytes } from './item-size.ts';
import type { Key, KeySchema } from './key-schema.ts';
import { keyOf, keySchema } from './key-schema.ts';
import type { Row } from './view.ts';
import { View } from './view.ts';

const MAX_ITEM_BYTES = 400 * 1024;
/** DynamoDB leaves alone what claims to have expired longer ago. */
const MAX_OVERDUE_SECONDS = 5 * 365 * 86_400;

export class Table {
  readonly name: string;
  readonly items: View;
  readonly indexes = new Map<string, IndexView>();
  attributeDefinitions: readonly AttributeDefinition[];
  stream: StreamSpecification | null;
  itemCount = 0;
  ttlAttribute: string | null = null;
  private expiries = new ExpiryHeap();

  constructor(input: CreateTableCommandInput) {
    this.name = input.TableName ?? '';
    this.attributeDefinitions = input.AttributeDefinitions ?? [];
    this.items = new View(keySchema(input.KeySchema, input.AttributeDefinitions));
    this.stream = input.StreamSpecification ?? null;
    for (const index of input.GlobalSecondaryIndexes ?? []) this.addIndex(index);
  }

  get schema(): KeySchema {
    return this.items.schema;
  }

  get(key: Key): Row | null {
    const entry = this.items.partition(key.partition)?.entries.get({ key: key.sort, tie: '' });
    return (entry as Row | undefined) ?? null;
  }

  /** An admitted item, if it fits into this table and its indexes. */
  row(item: RawItem): Row {
    const key = keyOf(this.schema, item);
    for (const index of this.indexes.values()) index.check(item);
    const bytes = itemBytes(item);
    if (bytes > MAX_ITEM_BYTES) throw invalid('Item size has exceeded the maximum allowed size');
    return { key: key.sort, tie: '', partitionKey: key.partition, id: this.idOf(key), item, bytes };
  }

  /** A text for each key, in this table only one's. */
  idOf({ partition, sort }: Key): string {
    return this.schema.sort === null ? partition : `${partition.length}:${partition}${sort}`;
  }

  replace(before: Row | null, after: Row | null): void {
    if (after !== null) this.items.put(after.partitionKey, after);
    else if (before !== null) this.items.remove(before.partitionKey, before);
    this.itemCount += Number(after !== null) - Number(before !== null);
    if (after !== null && this.expiryOf(after) !== (before === null ? null : this.expiryOf(before)))
      this.noteExpiry(after);
  }

  index(name: string): IndexView {
    const index = this.indexes.get(name);
    if (index === undefined) throw noSuchIndex(name);
    return index;
  }

  /** Filled with what is there. */
  addIndex(definition: GlobalSecondaryIndex): void {
    const name = definition.IndexName ?? '';
    if (this.indexes.has(name))
      throw resourceInUse(`Attempting to create an index which already exists: ${name}`);
    const schema = keySchema(definition.KeySchema, this.attributeDefinitions);
    const index = new IndexView(definition, schema, this.schema);
    for (const row of this.rows()) if (fits(index, row)) index.follow(null, row);
    this.indexes.set(name, index);
  }

  *rows(): Generator<Row> {
    for (const { entries } of this.items.partitions) for (const entry of entries) yield entry as Row;
  }

  expireBy(attribute: string | null): void {
    this.ttlAttribute = attribute;
    this.expiries = new ExpiryHeap();
    for (const row of this.rows()) this.noteExpiry(row);
  }

  /** The rows that TTL would remove by now, one after the other: each is gone before the next one is looked for. */
  hasOverdue(epochSeconds: number): boolean {
    return this.expiries.hasBefore(epochSeconds);
  }

  *overdue(epochSeconds: number): Generator<Row> {
    for (;;) {
      const expiry = this.expiries.takeBefore(epochSeconds);
      if (expiry === undefined) return;
      const row = this.get(expiry.key);
      const isCurrent = row !== null && this.expiryOf(row) === expiry.seconds;
      if (isCurrent && expiry.seconds >= epochSeconds - MAX_OVERDUE_SECONDS) yield row;
    }
  }

  private noteExpiry(row: Row): void {
    const seconds = this.expiryOf(row);
    if (seconds !== null) this.expiries.note(seconds, { partition: row.partitionKey, sort: row.key });
  }

  private expiryOf({ item }: Row): number | null {
    if (this.ttlAttribute === null) return null;
    const text = attributeOf(item, this.ttlAttribute)?.N;
    return text === undefined ? null : Number(text);
  }
}

/** A new index passes over what cannot stand in its key. */
function fits(index: IndexView, { item }: Row): boolean {
  try {
    index.check(item);
    return true;
  } catch {
    return false;
  }
}
