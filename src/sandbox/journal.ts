import type { Books } from './books.ts';
import type { Instant } from './calendar/new-york-time.ts';
import { instantText } from './clock/instant-text.ts';
import type { EntryBody, LedgerEntry } from './ledger/entry.ts';
import type { LedgerFile } from './ledger/ledger-file.ts';

type Listener = (entry: LedgerEntry) => void;

/** The one way to change anything: write it to the ledger first, then to the books. */
export class Journal {
  readonly ledger: LedgerFile;
  readonly books: Books;
  readonly #listeners: Listener[] = [];

  constructor(ledger: LedgerFile, books: Books) {
    this.ledger = ledger;
    this.books = books;
  }

  record(at: Instant, ...bodies: readonly EntryBody[]): void {
    const entries = this.ledger.append(instantText(at), bodies);
    for (const entry of entries) this.books.apply(entry);
    for (const entry of entries) this.#tell(entry);
  }

  /** Called after each new entry, never for those that were replayed at start. */
  onRecorded(listener: Listener): void {
    this.#listeners.push(listener);
  }

  #tell(entry: LedgerEntry): void {
    for (const listener of this.#listeners) listener(entry);
  }
}
