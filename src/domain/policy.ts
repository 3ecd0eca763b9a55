import type { Cents } from './money.ts';
import { cents } from './money.ts';

/** The numbers of the rules. Each is configuration; its reason stands beside it. */
export interface CollectionPolicy {
  /** Older debts are written off: people dispute charges that they no longer recognise. */
  readonly oldSubscriptionDays: number;
  /** What must be left in the account after the charge, so that we do not push anybody into an overdraft. */
  readonly balanceBuffer: Cents;
  /** Over a record's whole life and all automatic paths. A card network fines endless retries. */
  readonly retryMaxAttempts: number;
  /** Income and balance signals come in bursts. */
  readonly webhookMaxPerDay: number;
  /** NACHA: a returned entry may be presented again at most twice … */
  readonly achRepresentMax: number;
  /** … within 180 days of the first … */
  readonly achRepresentWindowDays: number;
  /** … and not before the return of the one before can have arrived (two banking days after settlement). */
  readonly achRepresentMinBankingDays: number;
}

export const DEFAULT_POLICY: CollectionPolicy = {
  oldSubscriptionDays: 30,
  balanceBuffer: cents(0),
  retryMaxAttempts: 20,
  webhookMaxPerDay: 2,
  achRepresentMax: 2,
  achRepresentWindowDays: 180,
  achRepresentMinBankingDays: 3,
};
