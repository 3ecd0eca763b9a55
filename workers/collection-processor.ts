import { UnrecoverableError } from 'bullmq';
import type { CollectionJob } from '../queues/jobs.ts';
import { collectRecord, consideredAs } from '../src/app/collect-record.ts';
import type { CollectingProcess } from '../src/domain/runs.ts';
import { isCollecting, parseRunId } from '../src/domain/runs.ts';
import type { WorkerContext } from './context.ts';
import type { Processor } from './job.ts';
import { recordProcessor } from './record-processor.ts';
import type { Turns } from './turns.ts';

/** One due record of a run. */
export function collectionProcessor(context: WorkerContext, turns?: Turns): Processor {
  const { collect } = context;
  return recordProcessor(context, {
    consideredAs: (job) => consideredAs(processOf(job)),
    async consider(job, seen) {
      const { runId, pass, userId, subscriptionId } = job;
      await collect.gate.glance();
      const run = { runId, pass };
      return collectRecord(collect, {
        process: processOf(job),
        userId,
        subscriptionId,
        triggerId: runId,
        run,
        seen,
      });
    },
    ...(turns === undefined ? {} : { turns }),
  });
}

function processOf({ runId }: CollectionJob): CollectingProcess {
  const run = parseRunId(runId);
  if (run === null || !isCollecting(run.process))
    throw new UnrecoverableError(`${runId} is no run that collects`);
  return run.process;
}
