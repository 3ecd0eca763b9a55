import { roundOfChores } from '../../workers/chores.ts';
import { SimQueueSet } from '../world/sim-queues.ts';
import type { StartRole } from './role.ts';
import { NO_METRICS, simStores } from './role.ts';
import { SETTINGS } from './settings.ts';

const ROUND_MS = 60_000;

export const startScheduler: StartRole = (world, process) => {
  const round = roundOfChores({
    ...simStores(world, process),
    clock: process.clock,
    queues: new SimQueueSet(world.wire(process, 'wait')),
    concurrency: SETTINGS.workers.COLLECTION_CONCURRENCY,
    log: world.log(process),
    metrics: NO_METRICS,
  });
  const rounds = async (): Promise<never> => {
    for (;;) {
      await round();
      await process.timer.sleep(ROUND_MS);
    }
  };
  void rounds();
};
