import { debitsTooMany } from '../rules/1-one-debit-per-period.ts';
import type { RuleNumber, Violation } from '../violation.ts';
import type { FloatCase, FloatCircumstances, FloatRule } from './float-case.ts';
import { noDebitWithoutIntent } from './rules/2-no-debit-without-intent.ts';
import { logIsComplete } from './rules/3-log-is-complete.ts';
import { onlyAllowedTransitions } from './rules/4-only-allowed-transitions.ts';
import { neverMoreThanDue } from './rules/5-never-more-than-due.ts';
import { noForbiddenIntent } from './rules/6-no-forbidden-intent.ts';
import { withinTheLimits } from './rules/8-within-the-limits.ts';
import { openFloatsAreKnown } from './rules/9-open-floats-are-known.ts';

/** The same sentence has the same number for whatever is collected. A float has no period after it, so there is no 7. */
const RULES: readonly (readonly [RuleNumber, FloatRule])[] = [
  [1, debitsTooMany],
  [2, noDebitWithoutIntent],
  [3, logIsComplete],
  [4, onlyAllowedTransitions],
  [5, neverMoreThanDue],
  [6, noForbiddenIntent],
  [8, withinTheLimits],
  [9, openFloatsAreKnown],
];

export const floatViolationsOf = (float: FloatCase, circumstances: FloatCircumstances): Violation[] =>
  RULES.flatMap(([rule, check]) =>
    [...check(float, circumstances)].map((detail) => ({
      rule,
      user_id: float.userId,
      subscription_id: float.subscriptionId,
      detail,
    })),
  );
