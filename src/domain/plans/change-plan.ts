import type { Cents } from '../money.ts';
import type { Subscription } from '../subscription.ts';

export interface Plan {
  readonly tierName: string;
  readonly amount: Cents;
}

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
