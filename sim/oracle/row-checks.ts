import { isAllowed } from '../../src/audit/allowed-transitions.ts';
import type { Change, Item } from './items.ts';
import { nanos, text } from './items.ts';
import type { Report } from './verdict.ts';

/** The record by which a member comes back, also one who has closed the account. */
export const isComeBack = (born: Item): boolean =>
  text(born, 'process') === 'REACTIVATION' && text(born, 'billing_status') === 'CANCELLED';

/** Attributes of the history row only. */
const isShared = (name: string): boolean => !name.startsWith('data_');

/**
 * Rules 3 and 4, at each change: a billing row changes together with one history row that says the same, with a stamp that
 * its user has not had before; and only as the transitions allow.
 */
export class RowChecks {
  private readonly report: Report;
  /** By record. Between those of a user a closed account may come, which takes no lock: what was sent before it may arrive after it. */
  private readonly newest = new Map<string, bigint>();
  /** Users of whom a record was closed with their account. */
  private readonly closed = new Set<string>();
  private readonly hasClosed: (userId: string) => boolean;

  constructor(report: Report, hasClosed: (userId: string) => boolean) {
    this.report = report;
    this.hasClosed = hasClosed;
  }

  look(rows: readonly Change[], history: readonly Change[]): void {
    for (const change of history) this.stamp(change);
    const written = new Map<string, Item>();
    for (const { before, after } of history)
      if (before === null && after !== null) written.set(text(after, 'subscription_id'), after);
    const told = new Set<string>();
    for (const { after } of rows) {
      if (after === null) continue;
      const recordId = text(after, 'subscription_id');
      const entry = written.get(recordId);
      told.add(recordId);
      if (entry === undefined) this.wrong('3', after, 'a row changed and no history row tells of it');
      else this.compare(after, entry);
    }
    for (const [recordId, entry] of written)
      if (!told.has(recordId)) this.wrong('3', entry, 'history tells of a change that was not made');
    this.steps(rows, written);
  }

  private steps(rows: readonly Change[], written: ReadonlyMap<string, Item>): void {
    // A row that moves to another date is taken away under one key and put under another.
    const gone = new Map<string, Item>();
    for (const { before, after } of rows)
      if (before !== null && after === null) gone.set(text(before, 'subscription_id'), before);
    for (const { before, after } of rows) {
      if (after === null) continue;
      const recordId = text(after, 'subscription_id');
      const from = before ?? gone.get(recordId) ?? null;
      gone.delete(recordId);
      const cause = text(written.get(recordId) ?? null, 'data_cause');
      if (from === null) {
        if (isComeBack(after)) this.closed.delete(text(after, 'user_id'));
        else if (this.closed.has(text(after, 'user_id')) && this.hasClosed(text(after, 'user_id')))
          this.wrong('7', after, 'a period was opened after the account was closed');
        continue;
      }
      if (cause === 'account-closed') this.closed.add(text(after, 'user_id'));
      if (text(from, 'subscription_id') !== recordId)
        this.wrong('3', after, 'one record took the place of another');
      const [was, is] = [text(from, 'billing_status'), text(after, 'billing_status')];
      if (!isAllowed(was, is, cause)) this.wrong('4', after, `${was} became ${is} by ${cause}`);
    }
    for (const row of gone.values()) this.wrong('3', row, 'a row is gone');
  }

  private stamp({ before, after }: Change): void {
    if (after === null || before !== null) {
      this.wrong('3', after ?? before, 'history was changed');
      return;
    }
    const recordId = text(after, 'subscription_id');
    const at = nanos(text(after, 'last_run_date'));
    if (at <= (this.newest.get(recordId) ?? -1n)) this.wrong('3', after, 'a history stamp does not grow');
    this.newest.set(recordId, at);
  }

  private compare(row: Item, entry: Item): void {
    const names = new Set([...Object.keys(row), ...Object.keys(entry)].filter(isShared));
    for (const name of names)
      if (JSON.stringify(row[name]) !== JSON.stringify(entry[name]))
        this.wrong('3', row, `row and history differ in ${name}`);
  }

  private wrong(rule: string, item: Item | null, detail: string): void {
    this.report({ rule, userId: text(item, 'user_id'), recordId: text(item, 'subscription_id'), detail });
  }
}
