import type { Decision } from './decision.ts';
import type { FloatDecision } from './floats/float-decision.ts';
import type { RecurringDecision } from './recurring/recurring-decision.ts';

type AnyDecision = Decision | FloatDecision | RecurringDecision;

/** What `decide` can say, in one word each. A forecast counts these, and a run is compared with it on these. */
export const PLANS = [
  'charge',
  'resume',
  'refuse',
  'cancel',
  'waive',
  'go-stale',
  'skip-pause',
  'default',
  'uncollectable',
  'give-up-today',
  'no-op',
  'deferred',
  'skipped',
  'blocked',
] as const satisfies readonly AnyDecision['verdict'][];
export type PlanName = (typeof PLANS)[number];

/** A decision without its particulars: what was meant to happen, whatever the bank then said. */
export interface Plan {
  readonly plan: PlanName;
  readonly reason: string;
}

export const planOf = (decision: AnyDecision): Plan => ({
  plan: decision.verdict,
  reason: reasonOf(decision),
});

function reasonOf(decision: AnyDecision): string {
  switch (decision.verdict) {
    case 'charge':
    case 'resume':
      return decision.rail;
    case 'skip-pause':
      return decision.next.status === 'PAUSED' ? 'pause-goes-on' : 'pause-is-over';
    default:
      return decision.reason;
  }
}
