import type { GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';
import type { RawItem, Value } from './attribute-value.ts';
import { attributeOf, sortable } from './attribute-value.ts';
import { invalid } from './errors.ts';
import { itemBytes } from './item-size.ts';
import type { Key, KeySchema } from './key-schema.ts';
import { checkKeyValue } from './key-schema.ts';
import type { Row } from './view.ts';
import { View } from './view.ts';

/** A global secondary index: the items that have its key, with what it holds of each. */
export class IndexView extends View {
  readonly definition: GlobalSecondaryIndex;
  private readonly held: readonly string[] | 'everything';

  constructor(definition: GlobalSecondaryIndex, schema: KeySchema, ofTable: KeySchema) {
    super(schema);
    this.definition = definition;
    const { ProjectionType, NonKeyAttributes = [] } = definition.Projection ?? {};
    const keys = [...schema.attributes, ...ofTable.attributes].map(({ name }) => name);
    const also = ProjectionType === 'INCLUDE' ? NonKeyAttributes : [];
    this.held = ProjectionType === 'ALL' ? 'everything' : [...new Set([...keys, ...also])];
  }

  get holdsEverything(): boolean {
    return this.held === 'everything';
  }

  holds(name: string): boolean {
    return this.held === 'everything' || this.held.includes(name);
  }

  follow(before: Row | null, after: Row | null): void {
    const from = before === null ? null : this.keyOf(before.item);
    const to = after === null ? null : this.keyOf(after.item);
    if (before !== null && from !== null && !(to !== null && isSame(from, to)))
      this.remove(from.partition, { key: from.sort, tie: before.id });
    if (after === null || to === null) return;
    const item = this.projected(after.item);
    const bytes = item === after.item ? after.bytes : itemBytes(item);
    this.put(to.partition, { key: to.sort, tie: after.id, item, bytes });
  }

  /** Where an item stands here; null when it lacks a part of the key. */
  keyOf(item: RawItem): Key | null {
    const partition = attributeOf(item, this.schema.partition.name);
    if (partition === undefined) return null;
    if (this.schema.sort === null) return { partition: sortable(partition), sort: '' };
    const sort = attributeOf(item, this.schema.sort.name);
    return sort === undefined ? null : { partition: sortable(partition), sort: sortable(sort) };
  }

  /** An item whose value cannot stand in this key is refused; one that lacks the attribute is not. */
  check(item: RawItem): void {
    for (const attribute of this.schema.attributes) {
      const value = attributeOf(item, attribute.name);
      if (value !== undefined) checkKeyValue(value, attribute);
    }
  }

  private projected(item: RawItem): RawItem {
    if (this.held === 'everything') return item;
    const part: Record<string, Value> = {};
    for (const name of this.held) {
      const value = attributeOf(item, name);
      if (value !== undefined) part[name] = value;
    }
    return Object.freeze(part);
  }
}

const isSame = (a: Key, b: Key): boolean => a.partition === b.partition && a.sort === b.sort;

export const noSuchIndex = (name: string): Error =>
  invalid(`The table does not have the specified index: ${name}`);
