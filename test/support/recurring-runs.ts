import { collectRecurring } from '../../src/app/recurring/collect-recurring.ts';
import { remindRecurring } from '../../src/app/recurring/remind-recurring.ts';
import type { RunDependencies } from '../../src/app/run-collections.ts';
import { startRun } from '../../src/app/run-collections.ts';
import { recurringOf } from '../../src/domain/recurring/record-id.ts';
import type { RecurringProcess } from '../../src/domain/recurring/runs.ts';
import type { RecordRef, Run } from '../../src/ports/runs.ts';
import { drive, inProcess } from './in-process-run.ts';
import type { RecurringDesk } from './recurring-desk.ts';
import type { World } from './world.ts';

/** Considers what is handed over at once, as workers would: accounts side by side, an account's own one after the other. */
export function recurringRuns(
  here: World,
  desk: RecurringDesk,
  other: Partial<RunDependencies> = {},
): RunDependencies {
  return {
    ...inProcess(here),
    async enqueue({ process, runId: triggerId }, records) {
      const consider = process === 'recurring-payments' ? collectRecurring : remindRecurring;
      const accounts = new Map<string, RecordRef[]>();
      for (const record of records)
        accounts.set(record.userId, [...(accounts.get(record.userId) ?? []), record]);
      await Promise.all(
        [...accounts.values()].map(async (ofAccount) => {
          for (const { subscriptionId } of ofAccount) {
            const result = await consider(desk.dependencies, { ...recurringOf(subscriptionId)!, triggerId });
            if ('busy' in result) throw new Error('somebody else works on this account');
          }
        }),
      );
    },
    ...other,
  };
}

/** A run at this very moment, to its end. */
export async function runRecurring(
  here: World,
  desk: RecurringDesk,
  process: RecurringProcess,
  other: Partial<RunDependencies> = {},
): Promise<Run> {
  const dependencies = recurringRuns(here, desk, other);
  return drive(dependencies, await startRun(dependencies, process, here.now));
}
