import type { Item } from './items.ts';
import { cents, text } from './items.ts';
import type { Report } from './verdict.ts';

export interface Money {
  readonly effect: 'debit' | 'credit';
  readonly key: string;
  readonly userId: string;
  readonly reference: string;
  readonly rail: string;
  readonly cents: number;
  readonly atMs: number;
  readonly confirmationId: string;
  readonly refundKey: string | null;
}

/** What the bank has moved for one record. */
export interface MoneyOf {
  standing: number;
  debits: number;
  keptCents: number;
  /** Entries that were sent to the member's bank account. */
  presented: number;
  lastMs: number;
}

/** An entry may be presented again twice. */
const MOST_PRESENTED = 3;

/** Rules 1, 2 and 5, at the moment at which the bank moves money. */
export class MoneyChecks {
  private readonly report: Report;
  private readonly attemptOf: (recordId: string, attemptId: string) => Item | null;
  private readonly records = new Map<string, MoneyOf>();
  private readonly givenBack = new Set<string>();
  debits = 0;

  constructor(report: Report, attemptOf: (recordId: string, attemptId: string) => Item | null) {
    this.report = report;
    this.attemptOf = attemptOf;
  }

  of(reference: string): MoneyOf {
    const known = this.records.get(reference) ?? {
      standing: 0,
      debits: 0,
      keptCents: 0,
      presented: 0,
      lastMs: 0,
    };
    this.records.set(reference, known);
    return known;
  }

  look(money: Money): void {
    const account = this.of(money.reference);
    const sign = money.effect === 'debit' ? 1 : -1;
    account.standing += sign;
    account.keptCents += sign * money.cents;
    account.lastMs = money.atMs;
    if (account.standing > 1) this.wrong('1', money, `${account.standing} debits stand`);
    if (account.keptCents < 0)
      this.wrong('5', money, `${-account.keptCents} cents more were given back than taken`);
    if (money.effect === 'debit') return this.intended(money, account);
    this.givenBack.add(money.confirmationId);
    if (money.refundKey !== null) this.refundIntended(money, money.refundKey);
  }

  isGivenBack(confirmationId: string): boolean {
    return this.givenBack.has(confirmationId);
  }

  private refundIntended(money: Money, key: string): void {
    const refund = this.attemptOf(money.reference, key);
    if (refund === null) return this.wrong('2', money, `a refund under ${key}, which is no attempt`);
    if (text(refund, 'refundOf') !== money.confirmationId)
      this.wrong('2', money, `refund ${key} gave back another payment than it should`);
    if (refund['resolution']?.M !== undefined)
      this.wrong('2', money, `a refund under ${key}, which had its answer`);
  }

  private intended(money: Money, account: MoneyOf): void {
    this.debits += 1;
    account.debits += 1;
    if (money.rail === 'ACH') account.presented += 1;
    if (account.presented > MOST_PRESENTED)
      this.wrong('6', money, `an entry was presented ${account.presented} times`);
    const attempt = this.attemptOf(money.reference, money.key);
    if (attempt === null) return this.wrong('2', money, `a debit under ${money.key}, which is no attempt`);
    if (attempt['resolution']?.M !== undefined)
      this.wrong('2', money, `a debit under ${money.key}, which had its answer`);
    if (text(attempt, 'rail') !== money.rail)
      this.wrong('2', money, 'the debit is on another rail than its attempt');
    const due = cents(text(attempt, 'amount'));
    if (account.keptCents > due)
      this.wrong('5', money, `${account.keptCents} cents were taken, ${due} were due`);
  }

  private wrong(rule: string, { userId, reference }: Money, detail: string): void {
    this.report({ rule, userId, recordId: reference, detail });
  }
}
