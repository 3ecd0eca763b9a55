import type { AchOutcome } from './ach/settlement.ts';
import type { BillingStatus } from './subscription.ts';
import type { Cause } from './transitions.ts';
import { TRANSITIONS } from './transitions.ts';

export interface ChargeBack {
  readonly result: 'CHARGED_BACK';
  readonly code: string | null;
  readonly message: string | null;
}

/** What became of a payment after it was made, from an event or from the janitor. */
export type PaymentOutcome = AchOutcome | { readonly result: 'REFUNDED' } | ChargeBack;

export const CAUSE_OF_OUTCOME = {
  COMPLETED: 'ach-completed',
  RETURNED: 'ach-returned',
  REFUNDED: 'refunded',
  CHARGED_BACK: 'charged-back',
} as const satisfies Record<PaymentOutcome['result'], Cause>;

/** Told twice, or after something that outweighs it, a word changes nothing: the table has no way for it then. */
export const changesRecord = (status: BillingStatus, { result }: PaymentOutcome): boolean =>
  Object.values(TRANSITIONS[status]).some((causes) => causes.includes(CAUSE_OF_OUTCOME[result]));
