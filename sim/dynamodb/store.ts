import { withOwnBytes } from './admit-value.ts';
import type { RawItem } from './attribute-value.ts';
import { sameItem } from './attribute-value.ts';
import { invalid, noSuchResource } from './errors.ts';
import type { Table } from './table.ts';
import type { Row } from './view.ts';

export interface ItemChange {
  readonly table: string;
  readonly before: RawItem | null;
  readonly after: RawItem | null;
}

/** One item's change, decided and not yet made. */
export interface RowChange {
  readonly table: Table;
  readonly before: Row | null;
  readonly after: Row | null;
}

/** The tables, and the one way to change what is in them. */
export class Store {
  readonly tables = new Map<string, Table>();
  readonly listeners: ((change: ItemChange) => void)[] = [];
  /** Changes that the indexes have not heard of yet. */
  readonly withheld: RowChange[] = [];
  indexesAreHeld = false;

  table(name: string | undefined): Table {
    if (name === undefined || name === '') throw invalid('The parameter TableName is required');
    const table = this.tables.get(name);
    if (table === undefined) throw noSuchResource('Cannot do operations on a non-existent table');
    return table;
  }

  /** All are made before any listener hears of the first. */
  apply(changes: readonly RowChange[]): void {
    const made = changes.filter(isChange);
    for (const change of made) {
      change.table.replace(change.before, change.after);
      if (change.table.indexes.size === 0) continue;
      if (this.indexesAreHeld) this.withheld.push(change);
      else toIndexes(change);
    }
    if (this.listeners.length > 0) for (const change of made) this.tell(change);
  }

  passIndexes(count: number): void {
    for (const change of this.withheld.splice(0, count)) toIndexes(change);
  }

  private tell({ table, before, after }: RowChange): void {
    const change = {
      table: table.name,
      before: before === null ? null : withOwnBytes(before.item),
      after: after === null ? null : withOwnBytes(after.item),
    };
    for (const listener of this.listeners) listener(change);
  }
}

/** As on DynamoDB's streams, a write that leaves everything as it was is no change. */
const isChange = ({ before, after }: RowChange): boolean =>
  before === null || after === null ? before !== after : !sameItem(before.item, after.item);

function toIndexes({ table, before, after }: RowChange): void {
  for (const index of table.indexes.values()) index.follow(before, after);
}
