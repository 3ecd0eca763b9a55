import type { Instant } from '../../src/domain/instant.ts';
import type { Cents } from '../../src/domain/money.ts';
import { ZERO, addMoney } from '../../src/domain/money.ts';
import type { Rail } from '../../src/domain/subscription.ts';
import type { Month } from './months.ts';
import { monthOf } from './months.ts';

export const KINDS = ['SUBSCRIPTION', 'FLOAT', 'RECURRING'] as const;
export type Kind = (typeof KINDS)[number];

/** Money that moved, as the bank has it. */
export interface Movement {
  readonly effect: 'debit' | 'credit';
  readonly at: Instant;
  readonly confirmationId: string;
  readonly kind: Kind;
  readonly rail: Rail;
  readonly amount: Cents;
}

export interface MonthOfMoney {
  readonly month: Month;
  /** Debited in this month, and there to stay as far as is known. */
  readonly kept: Readonly<Record<Rail, Cents>>;
  /** Debited in this month and given back since: returned, charged back or refunded. */
  readonly givenBack: Cents;
  readonly keptByKind: Readonly<Record<Kind, Cents>>;
}

/** By the month of the debit: what came back weeks later was never earned. */
export function moneyByMonth(movements: readonly Movement[], months: readonly Month[]): MonthOfMoney[] {
  // A payment's money goes back once and whole, or not at all.
  const credits = movements.filter(({ effect }) => effect === 'credit');
  const wentBack = new Set(credits.map(({ confirmationId }) => confirmationId));
  const debits = movements.filter(({ effect }) => effect === 'debit');
  return months.map((month) => {
    const own = debits.filter(({ at }) => monthOf(at) === month);
    const kept = own.filter(({ confirmationId }) => !wentBack.has(confirmationId));
    const sumWhere = (counts: (debit: Movement) => boolean): Cents => sum(kept.filter(counts));
    return {
      month,
      kept: {
        PINLESS: sumWhere(({ rail }) => rail === 'PINLESS'),
        ACH: sumWhere(({ rail }) => rail === 'ACH'),
      },
      givenBack: sum(own.filter(({ confirmationId }) => wentBack.has(confirmationId))),
      keptByKind: {
        SUBSCRIPTION: sumWhere(({ kind }) => kind === 'SUBSCRIPTION'),
        FLOAT: sumWhere(({ kind }) => kind === 'FLOAT'),
        RECURRING: sumWhere(({ kind }) => kind === 'RECURRING'),
      },
    };
  });
}

export const keptIn = ({ kept }: MonthOfMoney): Cents => addMoney(kept.PINLESS, kept.ACH);

const sum = (movements: readonly Movement[]): Cents =>
  movements.reduce((total, { amount }) => addMoney(total, amount), ZERO);

export const sumOf = (amounts: readonly Cents[]): Cents => amounts.reduce(addMoney, ZERO);
