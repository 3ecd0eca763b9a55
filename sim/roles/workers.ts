import { registryOf } from '../../workers/processors.ts';
import { workerContext } from '../../workers/context.ts';
import { openCharging } from '../../src/wiring/charging.ts';
import { SimQueueSet, simRedis } from '../world/sim-queues.ts';
import { SimWorker } from '../world/sim-worker.ts';
import type { StartRole } from './role.ts';
import { NO_METRICS, simStores } from './role.ts';
import { SETTINGS } from './settings.ts';
import { simServices } from './sim-services.ts';

/** Every queue's processor, as `npm run start:workers` has them. */
export const startWorkers: StartRole = (world, process) => {
  const { timer, clock } = process;
  const log = world.log(process);
  const services = simServices(world, process);
  const wire = world.wire(process, 'wait');
  const redis = simRedis(wire);
  const charging = openCharging(
    services.processor,
    { processor: SETTINGS.processor, ratePerS: undefined },
    { redis, keyPrefix: '', timer, metrics: NO_METRICS, log },
  );
  const context = workerContext({
    config: SETTINGS,
    stores: simStores(world, process),
    services,
    charging,
    clock,
    timer,
    queues: new SimQueueSet(wire),
    redis,
    forecastOf: () => Promise.resolve(null),
    onStep: () => undefined,
    log,
    metrics: NO_METRICS,
  });
  for (const registration of registryOf(context, SETTINGS.workers).select(undefined))
    new SimWorker(wire, registration, (what) => world.trace.write(process.name, what));
};
