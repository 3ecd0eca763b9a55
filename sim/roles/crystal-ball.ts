import { NO_LOG } from '../../src/adapters/logging/logger.ts';
import { forecastRun } from '../../src/app/forecast-run.ts';
import { instantFromMs } from '../../src/domain/instant.ts';
import type { RunProcess } from '../../src/domain/runs.ts';
import { runId } from '../../src/domain/runs.ts';
import type { ForecastDependencies } from '../../src/app/forecast-run.ts';
import { floatRules } from '../../src/wiring/float-rules.ts';
import type { Stores } from '../../src/wiring/stores.ts';
import { storesOn } from '../../src/wiring/stores.ts';
import type { BillingRun } from '../scenario/windows.ts';
import type { World } from '../world/world.ts';
import { SETTINGS } from './settings.ts';
import { factsOf } from './sim-services.ts';

type ByPlan = Readonly<Record<string, { readonly count: number; readonly amount: number }>>;

/** The production forecast, made in one moment: nothing happens while it is made. */
export class CrystalBall {
  private readonly world: World;
  private readonly stores: Stores;

  constructor(world: World) {
    this.world = world;
    const clock = { now: () => instantFromMs(Math.floor(world.timeline.nowMs)) };
    this.stores = storesOn(SETTINGS, clock, {
      client: world.directClient(),
      timer: AT_ONCE,
      random: () => 0,
      ids: () => 'nobody writes here',
      epochSeconds: () => 0,
      log: NO_LOG,
    });
  }

  async foretell(process: BillingRun, atMs: number): Promise<ByPlan> {
    const { stores, world } = this;
    const dependencies: ForecastDependencies = {
      ...stores,
      ...factsOf(world, (look) => Promise.resolve(look())),
      ...floatRules(SETTINGS.floats),
      policy: SETTINGS.policy,
      recurringPolicy: SETTINGS.recurring,
      owned: SETTINGS.ownership.OWNED_USERS,
      clock: { now: () => instantFromMs(Math.floor(world.timeline.nowMs)) },
      timer: AT_ONCE,
      ratePerS: 1_000_000,
    };
    const request = { process, asOf: instantFromMs(atMs) };
    return figuresOf((await forecastRun(dependencies, request, () => undefined)).byPlan);
  }

  /** What the run of that tick has decided. Null: it is not over. */
  async decided(process: BillingRun, atMs: number): Promise<ByPlan | null> {
    const run = await this.stores.runs.get(runId(process satisfies RunProcess, instantFromMs(atMs)));
    return run?.status === 'complete' && run.report !== null ? figuresOf(run.report.byPlan) : null;
  }
}

const AT_ONCE = { elapsedMs: () => 0, sleep: () => Promise.resolve() };

const figuresOf = (byPlan: object): ByPlan =>
  Object.fromEntries(
    Object.entries(byPlan as ByPlan)
      .map(([plan, { count, amount }]) => [plan, { count, amount }] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
