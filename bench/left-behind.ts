import { writeSubscription } from '../src/adapters/dynamodb/subscription-codec.ts';
import type { TableNames } from '../src/adapters/dynamodb/tables.ts';
import { tableDefinitions } from '../src/adapters/dynamodb/tables.ts';
import type { DemoMember } from '../src/demo/population.ts';
import type { Measured } from './figures.ts';
import { median } from './figures.ts';
import { itemBytes } from './item-size.ts';
import type { Exchange } from './recording-proxy.ts';
import type { Put } from './stored.ts';
import { KnownStore, putsIn } from './stored.ts';
import type { WriteUnits } from './write-units.ts';
import { sumOf } from './write-units.ts';

export interface LeftBehind {
  readonly figures: Measured;
  /** Of all these collections, by index. */
  readonly indexUnits: readonly WriteUnits[];
}

/** What the collections of these members have written: how large each kind of item is, what stays, and what went to indexes. */
export function leftBehind(
  exchanges: readonly Exchange[],
  members: readonly DemoMember[],
  names: TableNames,
): LeftBehind {
  const before = members
    .flatMap(({ records }) => records)
    .map((record): Put => ({ table: names.billing, item: writeSubscription(record, null) }));
  const store = new KnownStore(tableDefinitions(names), before);
  // The run itself is one item, whatever the number of its records.
  const puts = putsIn(exchanges).filter(({ item }) => item['pk']?.S !== 'RUNS');
  for (const put of puts) store.put(put);

  const bytes = (table: string, kind = ''): number =>
    median(
      puts.filter((put) => put.table === table && isOfKind(put, kind)).map(({ item }) => itemBytes(item)),
    );
  // A lock is a member's, not a collection's: the next one takes the same row.
  const left = store.since(before).filter(({ table }) => table !== names.locks);
  const perCollection = (some: readonly Put[]): number =>
    some.reduce((sum, put) => sum + store.bytesOf(put), 0) / members.length;
  const indexUnits = store.indexUnits();
  const figures = {
    billing_row_bytes: bytes(names.billing),
    history_row_bytes: bytes(names.history),
    attempt_bytes: bytes(names.pipeline, 'ATTEMPT#'),
    state_bytes: bytes(names.pipeline, 'STATE'),
    verdict_bytes: bytes(names.pipeline, 'VERDICT#'),
    lock_row_bytes: bytes(names.locks),
    kept_bytes_per_collection: perCollection(left.filter((put) => !goesByItself(put))),
    passing_bytes_per_collection: perCollection(left.filter(goesByItself)),
    index_write_units_per_collection: sumOf(indexUnits) / members.length,
    busiest_key_units_per_collection: store.busiestKeyUnits() / members.length,
  };
  return { figures, indexUnits };
}

const isOfKind = ({ item }: Put, kind: string): boolean => (item['sk']?.S ?? '').startsWith(kind);

const goesByItself = ({ item }: Put): boolean => item['expires_at'] !== undefined;
