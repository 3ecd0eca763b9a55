import type { RawItem } from './attribute-value.ts';
import type { KeySchema } from './key-schema.ts';
import type { Place } from './sorted-list.ts';
import { SortedList } from './sorted-list.ts';

/** An item at its place within a partition. */
export interface Entry extends Place {
  readonly item: RawItem;
  readonly bytes: number;
}

/** An item as its table holds it. */
export interface Row extends Entry {
  readonly partitionKey: string;
  /** Of this item and no other of the table. */
  readonly id: string;
}

/** Placed by the hash of its key, as DynamoDB scans them. */
export interface Partition extends Place {
  readonly partitionKey: string;
  readonly entries: SortedList<Entry>;
}

/** Items by partition and in the order of a sort key: a table or one of its indexes. */
export class View {
  readonly schema: KeySchema;
  /** In the order of a scan. */
  readonly partitions = new SortedList<Partition>();
  private readonly byKey = new Map<string, Partition>();

  constructor(schema: KeySchema) {
    this.schema = schema;
  }

  partition(key: string): Partition | undefined {
    return this.byKey.get(key);
  }

  put(partitionKey: string, entry: Entry): void {
    (this.byKey.get(partitionKey) ?? this.opened(partitionKey)).entries.put(entry);
  }

  remove(partitionKey: string, place: Place): void {
    const partition = this.byKey.get(partitionKey);
    if (partition === undefined) return;
    partition.entries.remove(place);
    if (!partition.entries.isEmpty) return;
    this.byKey.delete(partitionKey);
    this.partitions.remove(partition);
  }

  private opened(partitionKey: string): Partition {
    const entries = new SortedList<Entry>();
    const partition = { partitionKey, entries, ...scanPlace(partitionKey) };
    this.byKey.set(partitionKey, partition);
    this.partitions.put(partition);
    return partition;
  }
}

/** Where a scan meets a partition, whether there is one or not. */
export const scanPlace = (partitionKey: string): Place => ({
  key: hashOf(partitionKey).toString(16).padStart(8, '0'),
  tie: partitionKey,
});

/** Which part of a scan that is divided into so many meets this partition. */
export const segmentOf = ({ key }: Place, totalSegments: number): number =>
  Math.floor((parseInt(key, 16) / 2 ** 32) * totalSegments);

/** FNV-1a: any hash does that scatters keys and is the same in every run. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
