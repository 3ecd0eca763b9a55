import { dateOf, daysBetween } from '../calendar-date.ts';
import type { AccountFacts } from '../decision.ts';
import type { Instant } from '../instant.ts';
import type { AchModel, Float, LogEntry } from './float.ts';
import { failedAch } from './limits.ts';

/** What is asked about, by the names under which it is written to the log. */
export type RouteFeatures = Readonly<
  Record<'failed_ach' | 'balance_cents' | 'amount_cents' | 'days_past_due', number>
>;

/** Whether an ACH debit is worth the fee that its return would cost, and which model says so. */
export interface RouteAdvice extends AchModel {
  readonly useAch: boolean;
}

export const ACH_OVERRIDES = ['always', 'never', 'off'] as const;
export type AchOverride = (typeof ACH_OVERRIDES)[number];

const VERSION = 'rule-1';

/** Nearly every first debit is paid. */
const FIRST_DEBIT = 0.95;
/** An account that sent one back is likely to send the next one back as well. */
const AFTER_EACH_RETURN = 0.6;
/** The balance of this morning says little about that of tomorrow, yet it says something. */
const WHEN_NOT_COVERED = 0.5;
/** Below this a return, which costs us a fee and the member often another, is four times as likely as the money. */
const THRESHOLD = 0.2;

/** The balance is unknown. No account covers anything with it, so the rule need not tell it from a real one. */
const UNKNOWN_BALANCE = -1;

export function routeFeatures(
  { amount, dueDate }: Pick<Float, 'amount' | 'dueDate'>,
  log: readonly LogEntry[],
  account: Pick<AccountFacts, 'availableBalance'> | null,
  now: Instant,
): RouteFeatures {
  return {
    failed_ach: failedAch(log),
    balance_cents: account?.availableBalance ?? UNKNOWN_BALANCE,
    amount_cents: amount,
    days_past_due: daysBetween(dueDate, dateOf(now)),
  };
}

export function adviseByRule(features: RouteFeatures, override: AchOverride = 'off'): RouteAdvice {
  const probability =
    FIRST_DEBIT *
    AFTER_EACH_RETURN ** features.failed_ach *
    (features.balance_cents < features.amount_cents ? WHEN_NOT_COVERED : 1);
  return {
    useAch: override === 'off' ? probability >= THRESHOLD : override === 'always',
    version: VERSION,
    probability,
    features,
    override: override !== 'off',
  };
}

/** What an attempt keeps of the advice that it followed. */
export const achModelOf = ({ override, version, features, probability }: RouteAdvice): AchModel => ({
  override,
  version,
  features,
  probability,
});
