import type { Instant } from '../calendar/new-york-time.ts';
import { centsFrom, type Cents } from '../money.ts';
import type { BalanceScript } from './user-script.ts';

/** Money that the ledger took from (negative) or gave back to (positive) the account. */
export interface Movement {
  readonly at: Instant;
  readonly cents: Cents;
}

/** A script whose starting instant is settled. */
export type AnchoredBalance = BalanceScript & { readonly at: string };

const DAY_MS = 86_400_000;

/** What changes the account at the end of its n-th day: pay comes before the spending of that day. */
function dayEnd(script: AnchoredBalance): (balance: Cents, day: number) => Cents {
  const { paydays } = script;
  const spending = centsFrom(script.daily_spending ?? '0.00');
  const pay = centsFrom(paydays?.amount ?? '0.00');
  const every = paydays?.every_days ?? Number.POSITIVE_INFINITY;
  const first = paydays?.first_after_days ?? every;
  return (balance, day) => {
    const isPayday = day >= first && (day - first) % every === 0;
    return Math.max(0, balance + (isPayday ? pay : 0) - spending);
  };
}

/**
 * The balance at `instant`: a pure function of the script, the ledger's movements (in order of time) and the time.
 * It never falls below zero, so spending takes only what is there.
 */
export function balanceAt(script: AnchoredBalance, movements: readonly Movement[], instant: Instant): Cents {
  const start = Date.parse(script.at);
  const endDay = dayEnd(script);
  let balance = centsFrom(script.amount);
  let day = 0;
  const liveUntil = (until: Instant) => {
    for (; start + (day + 1) * DAY_MS <= until; day += 1) balance = endDay(balance, day + 1);
  };
  for (const movement of movements) {
    if (movement.at > instant) break;
    liveUntil(movement.at);
    balance = Math.max(0, balance + movement.cents);
  }
  liveUntil(instant);
  return balance;
}
