import type { AchPolicy } from '../ach/gate.ts';
import type { Cents } from '../money.ts';
import { cents } from '../money.ts';
import { DEFAULT_POLICY } from '../policy.ts';

/** The numbers of the rules for floats. Each is configuration; its reason stands beside it. */
export interface FloatPolicy extends AchPolicy {
  /** Each return costs the member a fee at their bank; after the third there is nothing to hope for. */
  readonly maxFailedAch: number;
  /** Signals of income come in bursts. */
  readonly webhookPerDay: number;
  /** Still tried on this day, given up on the next: the older a debt, the likelier a dispute instead of a payment. */
  readonly maxDaysPastDue: number;
  /** What must be left after a retry, so that we do not push anybody into an overdraft. */
  readonly retryBuffer: Cents;
  /** A signal's balance is a cached one, and income that is hardly there is soon gone. */
  readonly webhookMinBalance: Cents;
  /**
   * 12 CFR 1041.8: after two failed withdrawals in a row, over any rail, none until the member authorises again. Off
   * where the rule does not apply to the advances.
   */
  readonly twoFailuresGate: boolean;
}

export const DEFAULT_FLOAT_POLICY: FloatPolicy = {
  maxFailedAch: 3,
  webhookPerDay: 2,
  maxDaysPastDue: 90,
  retryBuffer: cents(1_000),
  webhookMinBalance: cents(5_000),
  twoFailuresGate: false,
  achRepresentMax: DEFAULT_POLICY.achRepresentMax,
  achRepresentWindowDays: DEFAULT_POLICY.achRepresentWindowDays,
  achRepresentMinBankingDays: DEFAULT_POLICY.achRepresentMinBankingDays,
};
