import type { Decision } from '../domain/decision.ts';
import {
  closed,
  closingOpensNextPeriod,
  opened,
  pauseSkipped,
  periodAfterPause,
  refused,
} from '../domain/outcomes.ts';
import type { PathRules } from '../domain/paths.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Considered } from './collection-case.ts';
import { nextPeriodOf } from './collection-case.ts';

/** The user's records as a decision would leave them, and the period that it would open. */
export interface Aftermath {
  readonly partition: readonly Subscription[];
  readonly opens: Subscription;
}

/**
 * What carrying out a decision would open, without carrying it out. Null when that is nothing. A member who is months
 * behind gets a period that is due at once, and the run considers it in its next pass: a forecast has to as well.
 */
export function whatFollows(decision: Decision, considered: Considered, rules: PathRules): Aftermath | null {
  const { record, partition, now } = considered;
  const change = changeOf(decision, considered, rules);
  if (change === null) return null;
  const [next] = nextPeriodOf(considered, change);
  if (next === undefined) return null;
  const opens =
    decision.verdict === 'skip-pause' ? periodAfterPause(record, decision.next, partition, now) : next;
  const others = partition.filter(({ subscriptionId }) => subscriptionId !== record.subscriptionId);
  return { partition: [...others, { ...change, lastRunDate: now }, opens], opens };
}

/** The record after it, for decisions that open the next period. */
function changeOf(decision: Decision, { record, now }: Considered, rules: PathRules): Subscription | null {
  switch (decision.verdict) {
    case 'charge':
      return opened(record, rules, now);
    case 'refuse':
      return refused(record, rules, decision, now);
    case 'skip-pause':
      return pauseSkipped(record, rules, now);
    case 'cancel':
    case 'waive':
    case 'go-stale':
      return closingOpensNextPeriod(decision.reason) ? closed(record, rules, decision.verdict, now) : null;
    case 'resume':
    case 'no-op':
    case 'deferred':
    case 'skipped':
    case 'blocked':
      return null;
  }
}
