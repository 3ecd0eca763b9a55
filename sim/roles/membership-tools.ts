import type { DeskDependencies } from '../../src/app/desk/desk.ts';
import { openCharging } from '../../src/wiring/charging.ts';
import type { Stores } from '../../src/wiring/stores.ts';
import type { SimProcess } from '../world/sim-process.ts';
import type { BrokerWire } from '../world/sim-queues.ts';
import { simRedis } from '../world/sim-queues.ts';
import type { World } from '../world/world.ts';
import { NO_METRICS } from './role.ts';
import { SETTINGS } from './settings.ts';
import { simServices } from './sim-services.ts';

/** What the API's routes about memberships work with, as production puts it together. */
export function membershipTools(
  world: World,
  process: SimProcess,
  stores: Stores,
  wire: BrokerWire,
): DeskDependencies {
  const services = simServices(world, process);
  const { clock, timer } = process;
  const charging = openCharging(
    services.processor,
    { processor: SETTINGS.processor, ratePerS: undefined },
    { redis: simRedis(wire), keyPrefix: '', timer, metrics: NO_METRICS, log: world.log(process) },
  );
  return {
    ...stores,
    ...services,
    ...charging,
    clock,
    timer,
    policy: SETTINGS.policy,
    owned: SETTINGS.ownership.OWNED_USERS,
    tiers: SETTINGS.tiers,
    processorTimeoutMs: SETTINGS.processor.PROCESSOR_TIMEOUT_MS,
    onStep: () => undefined,
  };
}
