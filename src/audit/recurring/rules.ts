import type { RuleNumber, Violation } from '../violation.ts';
import type { AccountCase, RecurringCircumstances, RecurringRule } from './recurring-case.ts';
import { recurringRecordId } from './recurring-record.ts';
import { oneDebitPerPeriod } from './rules/1-one-debit-per-period.ts';
import { noDebitWithoutIntent } from './rules/2-no-debit-without-intent.ts';
import { changesAreComplete } from './rules/3-changes-are-complete.ts';
import { onlyAllowedTransitions } from './rules/4-only-allowed-transitions.ts';
import { neverMoreThanDue } from './rules/5-never-more-than-due.ts';
import { noForbiddenIntent } from './rules/6-no-forbidden-intent.ts';
import { everyChainGoesOn } from './rules/7-every-chain-goes-on.ts';
import { oneReceiptPerPayment } from './rules/10-one-receipt-per-payment.ts';
import { toldBeforePaid } from './rules/11-told-before-paid.ts';
import { nothingIsLost } from './rules/12-nothing-is-lost.ts';
import { noCardNumber } from './rules/13-no-card-number.ts';

/** The same sentence has the same number for whatever is collected. */
const RULES: readonly (readonly [RuleNumber, RecurringRule])[] = [
  [1, oneDebitPerPeriod],
  [2, noDebitWithoutIntent],
  [3, changesAreComplete],
  [4, onlyAllowedTransitions],
  [5, neverMoreThanDue],
  [6, noForbiddenIntent],
  [7, everyChainGoesOn],
  [10, oneReceiptPerPayment],
  [11, toldBeforePaid],
  [12, nothingIsLost],
  [13, noCardNumber],
];

export const accountViolationsOf = (
  account: AccountCase,
  circumstances: RecurringCircumstances,
): Violation[] => [
  ...account.subscriptions.flatMap((subscription) =>
    RULES.flatMap(([rule, check]) =>
      [...check(subscription, circumstances)].map((detail) => ({
        rule,
        user_id: account.userId,
        subscription_id: subscription.subscriptionId,
        detail,
      })),
    ),
  ),
  ...ofTheAccount(account, 3, account.unreadable),
  ...ofTheAccount(account, 10, wrongNumbers(account)),
];

const ofTheAccount = ({ userId }: AccountCase, rule: RuleNumber, details: Iterable<string>): Violation[] =>
  [...details].map((detail) => ({
    rule,
    user_id: userId,
    subscription_id: recurringRecordId(userId, '?'),
    detail,
  }));

/** Receipts are the account's, numbered through, whatever they are for; the oldest have expired. */
function* wrongNumbers({ receipts, counter, subscriptions }: AccountCase): Generator<string> {
  const numbers = receipts.map(({ number }) => number).sort((a, b) => a - b);
  for (const [n, number] of numbers.entries()) {
    if (number > counter) yield `receipt ${number} is beyond the account's count of ${counter}`;
    const before = numbers[n - 1];
    if (before !== undefined && number !== before + 1)
      yield `receipt ${number} comes after receipt ${before}`;
  }
  const last = numbers.at(-1);
  if (last !== undefined && last < counter)
    yield `the account has counted to ${counter}, the last is ${last}`;
  const known = new Set(subscriptions.map(({ row }) => row.recurringId));
  for (const { number, recurringId } of receipts)
    if (!known.has(recurringId)) yield `receipt ${number} is for a subscription that is not there`;
}
