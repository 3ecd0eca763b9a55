import type { StormKind } from '../dials.ts';
import { STORM_KINDS } from '../dials.ts';
import type { Random } from '../random.ts';
import type { SupervisedRole } from '../roles/role.ts';
import { SETTINGS } from '../roles/settings.ts';
import type { World } from '../world/world.ts';

const MINUTE_MS = 60_000;
const MOST_AHEAD_MINUTES = 180;

/**
 * Strikes between two steps, wherever anybody happens to wait. Steps are counted, not time: where much is done much goes
 * wrong.
 */
export class Storm {
  private readonly world: World;
  private readonly roles: readonly SupervisedRole[];
  private readonly random: Random;
  private readonly nextAt = new Map<StormKind, number>();

  constructor(world: World, roles: readonly SupervisedRole[]) {
    this.world = world;
    this.roles = roles;
    this.random = world.random('storm');
    for (const kind of STORM_KINDS) this.wait(kind);
  }

  afterStep(): void {
    const { steps } = this.world.timeline;
    for (const kind of STORM_KINDS) {
      if ((this.nextAt.get(kind) ?? Infinity) > steps) continue;
      this.wait(kind);
      const whom = this.strike(kind);
      if (whom === null) continue;
      this.world.noteFault(kind);
      this.world.trace.write('storm', `${kind} ${whom}`);
    }
  }

  private wait(kind: StormKind): void {
    const mean = this.world.dials.every[kind];
    const steps = mean === Infinity ? Infinity : this.random.gap(mean);
    this.nextAt.set(kind, this.world.timeline.steps + steps);
  }

  /** Whom it hit. Null: nothing was there to hit. */
  private strike(kind: StormKind): string | null {
    const { world, random } = this;
    switch (kind) {
      case 'process-killed': {
        const role = random.pick(this.roles);
        const { name, isAlive } = role.process;
        role.kill(random.between(200, 40_000));
        return isAlive ? name : null;
      }
      case 'killed-while-writing':
        return this.ambush('writing');
      case 'killed-while-charging':
        return this.ambush('charging');
      case 'process-asleep': {
        const role = random.pick(this.roles);
        role.putToSleep(random.between(500, 3 * SETTINGS.lock.LOCK_LEASE_MS));
        return role.process.name;
      }
      case 'redis-flushed':
        world.broker.flush();
        return 'everything';
      case 'redis-down':
        world.broker.goDown(random.between(1_000, MINUTE_MS));
        return 'everything';
      case 'job-lost':
        return world.broker.loseOne() ? 'one' : null;
      case 'job-duplicated':
        return world.broker.duplicateOne() ? 'one' : null;
      case 'index-behind':
        return this.letIndexesLag();
      case 'store-brownout':
        world.brownOut('store', random.between(2_000, 20_000));
        return 'store';
      case 'bank-brownout':
        world.brownOut('bank', random.between(5_000, MINUTE_MS));
        return 'bank';
      case 'resharded': {
        const stream = random.pick(['users', 'payments'] as const);
        world.streams[stream].reshard();
        return stream;
      }
      case 'ttl-early':
        return this.expireEarly();
      case 'clock-off': {
        const { process } = random.pick(this.roles);
        const mostMs = world.dials.clockOffMs;
        process.clockOffMs = random.between(-mostMs, mostMs);
        return process.name;
      }
    }
  }

  /** As if the clock of whoever deletes were hours ahead: also a lock that is held may be gone. */
  private expireEarly(): string | null {
    const { dynamo, timeline, dials } = this.world;
    if (dials.ttlNever) return null;
    const aheadMs = this.random.between(10, MOST_AHEAD_MINUTES) * MINUTE_MS;
    const gone = dynamo.expire(Math.floor((timeline.nowMs + aheadMs) / 1_000));
    return gone === 0 ? null : `${gone} items`;
  }

  /** Where a crash hurts most: between what was asked for and what was heard of it. */
  private ambush(what: 'writing' | 'charging'): null {
    this.world.killNext(what, (process) => {
      const role = this.roles.find((one) => one.process === process);
      if (role === undefined) return;
      role.kill(this.random.between(200, 40_000));
      this.world.noteFault(`killed-while-${what}`);
      this.world.trace.write('storm', `killed while ${what} ${process.name}`);
    });
    // It counts when it is sprung.
    return null;
  }

  /** Changes come through one by one, late, and then all at once. */
  private letIndexesLag(): string {
    const { world, random } = this;
    const { dynamo, timeline } = world;
    const forMs = random.between(200, 2 * MINUTE_MS);
    dynamo.holdIndexes();
    const trickle = (): void => {
      if (timeline.nowMs >= endsAtMs) return dynamo.resumeIndexes();
      dynamo.passIndexes(random.between(0, dynamo.withheld));
      timeline.after(random.between(50, 5_000), trickle);
    };
    const endsAtMs = timeline.nowMs + forMs;
    timeline.after(random.between(50, 5_000), trickle);
    return `${forMs} ms`;
  }
}
