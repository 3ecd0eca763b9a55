import { BatchReader } from '../../src/adapters/dynamodb/batch-reader.ts';
import { DynamoRuns } from '../../src/adapters/dynamodb/runs.ts';
import { NO_LOG } from '../../src/adapters/logging/logger.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import { collectRecord } from '../../src/app/collect-record.ts';
import type { NextStep, RunDependencies } from '../../src/app/run-collections.ts';
import { takePage } from '../../src/app/run-collections.ts';
import { isCollecting } from '../../src/domain/runs.ts';
import type { Log } from '../../src/ports/log.ts';
import type { RecordRef, Run } from '../../src/ports/runs.ts';
import type { World } from './world.ts';

export interface InProcessOptions {
  /** Which jobs get lost. */
  readonly lose?: (pass: number, index: number) => boolean;
  /** Every page that was handed over. */
  readonly handedOver?: RecordRef[][];
  readonly log?: Log;
}

/** Collects what is handed over at once, as workers would, without queues in between. */
export function inProcess(
  here: World,
  { lose = () => false, handedOver = [], log = NO_LOG }: InProcessOptions = {},
): RunDependencies {
  const { client, tables } = here.store;
  const reader = new BatchReader({ client, table: tables.pipeline, timer: systemTimer, random: Math.random });
  return {
    ...here.dependencies,
    runs: new DynamoRuns({ client, table: tables.pipeline, reader, log }),
    async enqueue(run, records) {
      handedOver.push([...records]);
      const kept = records.filter((_, index) => !lose(run.pass, index));
      const { process, runId: triggerId } = run;
      if (!isCollecting(process)) throw new Error(`a ${process} run collects nothing`);
      const ask = (record: RecordRef) =>
        collectRecord(here.dependencies, { ...record, process, triggerId, run });
      const busy = (await Promise.all(kept.map(ask))).filter((result) => 'busy' in result);
      if (busy.length > 0) throw new Error('somebody else works on this member');
    },
    owned: { kind: 'all' },
    forecastOf: () => Promise.resolve(null),
  };
}

/** Page after page, until there is no next. */
export async function drive(dependencies: RunDependencies, run: Run): Promise<Run> {
  let step: NextStep = { then: 'page', at: run };
  while ('at' in step) step = await takePage(dependencies, run.runId, step.at);
  return (await dependencies.runs.get(run.runId))!;
}
