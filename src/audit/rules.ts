import { oneDebitPerPeriod } from './rules/1-one-debit-per-period.ts';
import { noDebitWithoutIntent } from './rules/2-no-debit-without-intent.ts';
import { historyIsComplete } from './rules/3-history-is-complete.ts';
import { onlyAllowedTransitions } from './rules/4-only-allowed-transitions.ts';
import { neverMoreThanDue } from './rules/5-never-more-than-due.ts';
import { noForbiddenIntent } from './rules/6-no-forbidden-intent.ts';
import { everyChainGoesOn } from './rules/7-every-chain-goes-on.ts';
import type { Circumstances, Rule, UserCase } from './user-case.ts';
import type { RuleNumber, Violation } from './violation.ts';

const RULES: readonly (readonly [RuleNumber, Rule])[] = [
  [1, oneDebitPerPeriod],
  [2, noDebitWithoutIntent],
  [3, historyIsComplete],
  [4, onlyAllowedTransitions],
  [5, neverMoreThanDue],
  [6, noForbiddenIntent],
  [7, everyChainGoesOn],
];

export const violationsOf = (user: UserCase, circumstances: Circumstances): Violation[] =>
  RULES.flatMap(([rule, check]) =>
    [...check(user, circumstances)].map(({ subscriptionId, detail }) => ({
      rule,
      user_id: user.userId,
      subscription_id: subscriptionId,
      detail,
    })),
  );
