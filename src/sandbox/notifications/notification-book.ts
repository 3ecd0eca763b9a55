import type { LedgerEntry } from '../ledger/entry.ts';

/** Which dedupe keys were accepted before. */
export class NotificationBook {
  readonly #accepted = new Set<string>();

  has(dedupeKey: string): boolean {
    return this.#accepted.has(dedupeKey);
  }

  apply(entry: LedgerEntry): void {
    if (entry.type === 'notification.accepted') this.#accepted.add(entry.dedupe_key);
  }
}
