import { UnrecoverableError } from 'bullmq';
import { remindRecurring } from '../src/app/recurring/remind-recurring.ts';
import { recurringOf } from '../src/domain/recurring/record-id.ts';
import type { WorkerContext } from './context.ts';
import type { Processor } from './job.ts';
import { A_DAY_OF_LOOKS } from './put-off.ts';
import { recordProcessor } from './record-processor.ts';
import type { Turns } from './turns.ts';

/** One recurring payment that an account is to be told of. */
export const reminderProcessor = (context: WorkerContext, turns: Turns): Processor =>
  recordProcessor(context, {
    consideredAs: () => 'REMINDER',
    consider({ runId: triggerId, subscriptionId }, seen) {
      const ref = recurringOf(subscriptionId);
      if (ref === null) throw new UnrecoverableError(`${subscriptionId} is no recurring payment`);
      return remindRecurring(context.remind, { ...ref, triggerId, seen });
    },
    mostStarts: A_DAY_OF_LOOKS,
    turns,
  });
