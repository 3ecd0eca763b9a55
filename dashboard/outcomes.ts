import type { Cents } from '../src/domain/money.ts';
import { ZERO, addMoney } from '../src/domain/money.ts';
import type { VerdictName } from '../src/domain/verdict.ts';
import type { RunReport } from '../src/ports/runs.ts';

/** What people ask about a run, and which verdicts answer it. */
export const OUTCOMES = {
  collected: ['collected'],
  sent: ['sent'],
  unpaid: ['declined', 'refused', 'unknown', 'given-up'],
  closed: ['cancelled', 'waived', 'stale', 'pause-skipped', 'defaulted', 'notified'],
  later: ['no-op', 'deferred', 'skipped', 'uncollectable', 'blocked', 'held', 'locked'],
  trouble: ['failed', 'malformed'],
} as const satisfies Record<string, readonly VerdictName[]>;

export type Outcome = keyof typeof OUTCOMES;

export const OUTCOME_NAMES = Object.keys(OUTCOMES) as Outcome[];

export const OUTCOME_LABELS: Record<Outcome, string> = {
  collected: 'Collected',
  sent: 'Sent by ACH',
  unpaid: 'Not paid',
  closed: 'Closed or told',
  later: 'Left for later',
  trouble: 'Needs a look',
};

export const outcomeOf = (verdict: VerdictName): Outcome =>
  OUTCOME_NAMES.find((name) => (OUTCOMES[name] as readonly VerdictName[]).includes(verdict)) ?? 'later';

export interface Sum {
  readonly count: number;
  readonly amount: Cents;
}

export type OutcomeSums = Readonly<Record<Outcome, Sum>>;

export function sumOutcomes(reports: readonly Pick<RunReport, 'byVerdict'>[]): OutcomeSums {
  const sum = (outcome: Outcome): Sum =>
    reports
      .flatMap(({ byVerdict }) => OUTCOMES[outcome].map((name) => byVerdict[name]))
      .reduce<Sum>(
        (total, tally) =>
          tally === undefined
            ? total
            : { count: total.count + tally.count, amount: addMoney(total.amount, tally.amount) },
        { count: 0, amount: ZERO },
      );
  return Object.fromEntries(OUTCOME_NAMES.map((name) => [name, sum(name)])) as Record<Outcome, Sum>;
}
