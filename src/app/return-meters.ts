import type { AchCounts, ReturnClass, ReturnRate } from '../domain/ach/return-rates.ts';
import { RETURN_RATE_DAYS, classesOf, returnRates } from '../domain/ach/return-rates.ts';
import { addDays, dateOf } from '../domain/calendar-date.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { SubscriptionId } from '../domain/subscription.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { PipelineStore } from '../ports/pipeline.ts';

interface MeterDependencies {
  readonly pipeline: Pick<PipelineStore, 'meters'>;
  readonly clock: Clock;
}

/**
 * A debit counts once its fate is known, a return when it comes. After the write and outside of its transaction: a
 * counter that all members share must not stand in their way, so a crash in between leaves one out. `wasSent`: until now
 * its fate was not known.
 */
export async function countOutcome(
  { pipeline, clock, log }: MeterDependencies & { readonly log?: Pick<Log, 'error'> },
  recordId: SubscriptionId,
  outcome: PaymentOutcome,
  wasSent: boolean,
): Promise<void> {
  const counts = countsOf(outcome, wasSent);
  // What was written stands, whether or not it could be counted.
  await pipeline.meters
    .add(recordId, dateOf(clock.now()), counts)
    .catch((error: unknown) =>
      log?.error(
        { subscriptionId: recordId, err: error },
        'an ACH outcome was not counted in the return rates',
      ),
    );
}

function countsOf(outcome: PaymentOutcome, wasSent: boolean): AchCounts {
  const classes = outcome.result === 'RETURNED' ? classesOf(outcome.returnCode) : [];
  const one = (name: ReturnClass): number => (classes.includes(name) ? 1 : 0);
  return {
    debits: wasSent ? 1 : 0,
    returns: {
      unauthorized: one('unauthorized'),
      administrative: one('administrative'),
      overall: one('overall'),
    },
  };
}

export async function readReturnRates({ pipeline, clock }: MeterDependencies): Promise<ReturnRate[]> {
  const today = dateOf(clock.now());
  return returnRates(await pipeline.meters.total(addDays(today, 1 - RETURN_RATE_DAYS), today));
}

export interface WatchDependencies extends MeterDependencies {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'achReturnRate'>;
}

/** A look at the rates: shows them all, and warns of one that has come to exceed its limit, not at every look. */
export function watchReturnRates(dependencies: WatchDependencies): () => Promise<void> {
  const { log, metrics } = dependencies;
  const exceeded = new Set<ReturnClass>();
  return async () => {
    for (const { class: name, rate, limit, exceeded: isExceeded } of await readReturnRates(dependencies)) {
      metrics.achReturnRate(name, rate);
      if (isExceeded && !exceeded.has(name))
        log.warn({ class: name, rate, limit }, 'too many ACH debits come back: consider freezing the rail');
      if (isExceeded) exceeded.add(name);
      else exceeded.delete(name);
    }
  };
}
