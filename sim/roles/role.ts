import type { Metrics } from '../../src/ports/metrics.ts';
import type { Stores } from '../../src/wiring/stores.ts';
import { storesOn } from '../../src/wiring/stores.ts';
import { SimProcess } from '../world/sim-process.ts';
import type { World } from '../world/world.ts';
import { SETTINGS } from './settings.ts';

/** Meters are read by people; here nobody looks. */
export const NO_METRICS = new Proxy({}, { get: () => () => undefined }) as unknown as Metrics;

/** The production stores as one process has them. */
export function simStores(world: World, process: SimProcess): Stores {
  const random = world.random(`jitter of ${process.name}`);
  return storesOn(SETTINGS, process.clock, {
    client: world.client(process),
    timer: process.timer,
    random: () => random.next(),
    ids: () => world.newId(),
    // AWS's clock, which no simulated jump of ours moves.
    epochSeconds: () => Math.floor(world.timeline.nowMs / 1_000),
    log: world.log(process),
  });
}

/** Starts a role in a process of its own. */
export type StartRole = (world: World, process: SimProcess) => void;

/** A role that is started again, as a new process, whenever it has died. */
export class SupervisedRole {
  private readonly world: World;
  private readonly name: string;
  private readonly start: StartRole;
  private lives = 0;
  process: SimProcess;

  constructor(world: World, name: string, start: StartRole) {
    this.world = world;
    this.name = name;
    this.start = start;
    this.process = this.begin();
  }

  kill(downForMs: number): void {
    const { process, world } = this;
    if (!process.isAlive) return;
    process.die();
    world.broker.noticeSilence(process, Infinity);
    world.timeline.after(downForMs, () => {
      this.process = this.begin();
    });
  }

  putToSleep(forMs: number): void {
    const { process, world } = this;
    process.sleepUntil(world.timeline.nowMs + forMs);
    world.broker.noticeSilence(process, forMs);
  }

  private begin(): SimProcess {
    this.lives += 1;
    const process = new SimProcess(`${this.name}.${this.lives}`, this.world.timeline);
    this.world.trace.write(process.name, 'started');
    process.deliver(0, () => this.start(this.world, process));
    return process;
  }
}
