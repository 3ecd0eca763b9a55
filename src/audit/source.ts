/**
 * An item as it is stored, in plain JavaScript values. Numbers that JavaScript cannot hold exactly come as text. The
 * audit reads the attributes itself: code that it shared with the writers would share their mistakes.
 */
export type PlainItem = Readonly<Record<string, unknown>>;

export interface UserRows {
  readonly userId: string;
  readonly rows: readonly PlainItem[];
}

export interface AccountItems {
  readonly accountId: string;
  /** Everything that the table of recurring payments has of it. */
  readonly items: readonly PlainItem[];
}

export type RowKey =
  | {
      readonly table: 'billing' | 'history';
      readonly userId: string;
      /** `billing_date` or `last_run_date`, as it is spelled in the row. */
      readonly sortKey: string;
    }
  | { readonly table: 'floats'; readonly floatId: string }
  | { readonly table: 'recurring'; readonly pk: string; readonly sk: string };

/** What the audit reads of the tables. All of it is consistent. */
export interface AuditTables {
  /** About how many records, floats and items of accounts there are, for a progress bar. */
  estimate(): Promise<number>;
  /** The whole billing table, a user at a time. */
  users(): AsyncIterable<UserRows>;
  rowsOf(userId: string): Promise<readonly PlainItem[]>;
  historyOf(userId: string): Promise<readonly PlainItem[]>;
  attemptsOf(subscriptionId: string): Promise<readonly PlainItem[]>;
  freezeLog(): AsyncIterable<PlainItem>;
  /** The whole table of floats: each float, and for each user which of them are open. */
  floats(): AsyncIterable<PlainItem>;
  floatOf(floatId: string): Promise<PlainItem | undefined>;
  openFloatsOf(userId: string): Promise<PlainItem | undefined>;
  /** The rows of `collection-history`. */
  logOf(floatId: string): Promise<readonly PlainItem[]>;
  /** The whole table of recurring payments, an account at a time. */
  accounts(): AsyncIterable<AccountItems>;
  itemsOfAccount(accountId: string): Promise<readonly PlainItem[]>;
  /** From which day on recurring payments and reminders are looked for. Null: no run has looked yet. */
  dueSince(): Promise<{ readonly payments: string | null; readonly reminders: string | null }>;
  /** All at one moment, in the order asked, at most 100. Null: another process was writing one of them just now. */
  readTogether(keys: readonly RowKey[]): Promise<readonly (PlainItem | undefined)[] | null>;
}

/** Money that moved, as the processor has it. */
export interface LedgerEntry {
  readonly effect: 'debit' | 'credit';
  readonly userId: string;
  /**
   * What it was for: a billing record, a float by the name that its attempts have (`float.` and its id), or a period of a
   * recurring payment (the name that its attempts have, and the day).
   */
  readonly recordId: string;
  readonly idempotencyKey: string;
  readonly cents: number;
  readonly at: bigint;
}

export interface AuditLedger {
  /** False: this processor does not show its ledger. */
  isReadable(): Promise<boolean>;
  /** What moved for whatever is audited up to the moment of the call: debits first, then what was given back. */
  entries(): AsyncIterable<LedgerEntry>;
}
