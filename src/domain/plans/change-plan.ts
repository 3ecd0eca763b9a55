import type { Cents } from '../money.ts';
import type { Subscription, Term } from '../subscription.ts';

export interface Plan {
  readonly tierName: string;
  readonly amount: Cents;
}

/** What a period is to be billed as. */
export interface Terms extends Plan {
  readonly term: Term;
}

export const termsOf = ({ term, receiptTierName, billingAmount }: Subscription): Terms => ({
  term,
  tierName: receiptTierName,
  amount: billingAmount,
});

/** Nothing was agreed on since: no other term, which has another price, and no other tier. */
export const isStillIn = (record: Subscription, { term, tierName, amount }: Terms): boolean =>
  record.term === term && record.receiptTierName === tierName && record.billingAmount === amount;

/** The period as it will be billed in the other plan. A downgrade is pending until the period is first tried. */
export const inPlan = <S extends Subscription>(
  record: S,
  { tierName, amount }: Plan,
  isDowngrade: boolean,
): S => ({
  ...record,
  process: record.process ?? 'NOT_IDENTIFIED',
  receiptTierName: tierName,
  billingAmount: amount,
  isPendingDowngrade: isDowngrade,
});
