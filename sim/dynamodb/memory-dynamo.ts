import { withOwnBytes } from './admit-value.ts';
import type { RawItem } from './attribute-value.ts';
import { OPERATIONS } from './operations.ts';
import type { ItemChange } from './store.ts';
import { Store } from './store.ts';
import { Tokens } from './transactions.ts';

export type { RawItem } from './attribute-value.ts';
export type { ItemChange } from './store.ts';

export interface MemoryDynamoOptions {
  /** Only for how long a ClientRequestToken is remembered. */
  readonly nowMs: () => number;
}

/**
 * DynamoDB in memory, at the level of the SDK's commands. Synchronous and deterministic: no clock but the one it is
 * given, no randomness, and no order that depends on either. What comes out is frozen and shared.
 */
export class MemoryDynamo {
  private readonly store = new Store();
  private readonly tokens: Tokens;

  constructor({ nowMs }: MemoryDynamoOptions) {
    this.tokens = new Tokens(nowMs);
  }

  /**
   * `operation` is the command's name without `Command`. Returns what the SDK's `send` would resolve with, or throws
   * what it would reject with.
   */
  execute(operation: string, input: object): object {
    const known = OPERATIONS.get(operation);
    if (known === undefined) throw new Error(`the simulated store knows no ${operation}`);
    for (const [parameter, value] of Object.entries(input))
      if (value !== undefined && !known.parameters.has(parameter))
        throw new Error(`the simulated store knows no ${parameter} of ${operation}`);
    return known.run(this.store, input, this.tokens);
  }

  /**
   * Called after each change that was made, also by TTL, in the order in which they were made. A transaction's come one
   * after the other when the whole transaction is in. A write that changes nothing is not a change, as on a stream.
   */
  onChange(listener: (change: ItemChange) => void): void {
    this.store.listeners.push(listener);
  }

  /** From now on the indexes hear of no change until it is let through: they are behind. */
  holdIndexes(): void {
    this.store.indexesAreHeld = true;
  }

  /** Lets so many of the oldest withheld changes through, all when not said; further ones are still held. */
  passIndexes(count = this.withheld): void {
    this.store.passIndexes(count);
  }

  resumeIndexes(): void {
    this.passIndexes();
    this.store.indexesAreHeld = false;
  }

  get withheld(): number {
    return this.store.withheld.length;
  }

  /** What TTL does: removes what has expired before this second, and says how many items that were. */
  expire(epochSeconds: number): number {
    let removed = 0;
    for (const table of this.store.tables.values())
      for (const before of table.overdue(epochSeconds)) {
        this.store.apply([{ table, before, after: null }]);
        removed += 1;
      }
    return removed;
  }

  /** Something has expired before this second and is still there. */
  hasOverdue(epochSeconds: number): boolean {
    return [...this.store.tables.values()].some((table) => table.hasOverdue(epochSeconds));
  }

  /** All items of a table, for the checks: no request is made for it. */
  *items(table: string): Generator<RawItem> {
    for (const { item } of this.store.table(table).rows()) yield withOwnBytes(item);
  }
}
