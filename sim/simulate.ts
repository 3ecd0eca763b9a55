import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { DynamoAuditTables } from '../src/adapters/dynamodb/audit-source.ts';
import { CLOCKS_AGREE_MS } from './dials.ts';
import type { Item } from './oracle/items.ts';
import { BankTallies, auditUsers } from './oracle/audit-users.ts';
import { checkLiveness } from './oracle/liveness.ts';
import { Oracle } from './oracle/oracle.ts';
import type { Violation } from './oracle/verdict.ts';
import { CRASHED } from './oracle/verdict.ts';
import type { Random } from './random.ts';
import { randomOf } from './random.ts';
import { CrystalBall } from './roles/crystal-ball.ts';
import { ApiDesk } from './roles/api-desk.ts';
import { startBridges } from './roles/bridges.ts';
import { MembershipDesk } from './roles/membership-desk.ts';
import { SupervisedRole } from './roles/role.ts';
import { startScheduler } from './roles/scheduler.ts';
import { SETTINGS } from './roles/settings.ts';
import { startWorkers } from './roles/workers.ts';
import { Acts } from './scenario/acts.ts';
import { populate } from './scenario/population.ts';
import { Storm } from './scenario/storm.ts';
import { Wishes } from './scenario/wishes.ts';
import type { BillingRun } from './scenario/windows.ts';
import { windowsOf } from './scenario/windows.ts';
import { TABLES, World } from './world/world.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly days: number;
  readonly users: number;
  /** Also where nothing is wrong. */
  readonly keepTrace?: boolean;
}

export interface SeedResult {
  readonly seed: number;
  readonly steps: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly debits: number;
  /** Runs that were compared with what had been forecast for them. */
  readonly foretold: number;
  readonly violations: readonly Violation[];
  readonly digest: string;
  /** Kept where something is wrong. */
  readonly trace: readonly string[];
  /** Where the world threw. It names files of this machine, so the trace, which is the same on all of them, has it not. */
  readonly stack: string | null;
}

/** Long enough for the janitor, for what an ACH entry takes, and for a few runs. */
const QUIET_DAYS = 8;
/** Of these, until operators have lifted what was frozen and every process has caught up. */
const SETTLING_DAYS = 3;
const WINDOW_MS = 30_000;
/** Where a window does not become quiet: a fault may put work off for an hour, and the next window goes on with it. */
const LONGEST_WINDOW_MS = 20 * 60_000;
const DAY_MS = 86_400_000;
const STEPS_BETWEEN_LOOKS = 25;

/**
 * One seed: a world, its weather, and the life of its members, until something is wrong or it is over. A world that
 * throws is wrong too, and what led there is of as much interest.
 */
export async function simulate(options: SimulationOptions): Promise<SeedResult> {
  const realNow = Date.now;
  const simulation = new Simulation(options);
  // BullMQ wants delays as wall clock time, so code that asks for that gets the simulated one.
  Date.now = () => Math.floor(simulation.world.timeline.nowMs);
  // Thrown where no caller awaits it.
  process.on('uncaughtException', simulation.crash);
  try {
    await simulation.run().catch(simulation.crash);
    // Node tells of unawaited promises when nothing else is to be done: those of the last steps only now.
    await setImmediate();
    return simulation.result();
  } finally {
    process.off('uncaughtException', simulation.crash);
    Date.now = realNow;
  }
}

/** What a day is like. */
interface Weather {
  /** Null: no member or operator does anything by themselves. */
  readonly people: { readonly acts: Acts; readonly wishes: Wishes } | null;
  readonly afterStep: () => void;
  /** Nothing changes but by what the house does: then it can be foretold. */
  readonly isSettled?: boolean;
}

class Simulation {
  readonly world: World;
  private readonly options: SimulationOptions;
  private readonly oracle: Oracle;
  private readonly tallies = new BankTallies();
  private readonly tables: DynamoAuditTables;
  private readonly startMs: number;
  private readonly crystalBall: CrystalBall;
  private readonly expiry: Random;
  private lastScheduledMs = 0;
  private foretold = 0;
  private stack: string | null = null;

  constructor(options: SimulationOptions) {
    this.options = options;
    this.startMs = firstDay(options.seed);
    this.world = new World(options.seed, this.startMs, {
      onStoreOperation: ({ changes, process, sentMs }) => this.oracle.stored(changes, process.name, sentMs),
      onLedger: (entry) => {
        this.oracle.moved(entry);
        this.tallies.add(entry);
      },
      onKeyReused: (key, { userId, reference }) => this.oracle.keyReused(key, userId, reference),
      onRefundedAgain: (key, { userId, reference }) => this.oracle.refundedAgain(key, userId, reference),
      onPublished: (stream, { id, type, userId, isMalformed }) => {
        const identity = stream === 'users' ? `users#${id}` : `payments#${id}#${type}`;
        const { promises } = this.oracle;
        promises.publish(identity, this.world.timeline.nowMs);
        if (isMalformed) promises.malformed(identity);
        if (type === 'CLOSEACCOUNT') promises.closing(identity, { userId, atMs: this.world.timeline.nowMs });
      },
    });
    this.oracle = new Oracle({
      nowMs: () => this.world.timeline.nowMs,
      neighboursOf: (userId) => this.world.members.of(userId),
      attemptOf: (recordId, attemptId) => this.attempt(recordId, attemptId),
      rowsOf: (userId) => this.rowsOf(userId),
      tables: TABLES,
    });
    this.expiry = this.world.random('expiry');
    this.crystalBall = new CrystalBall(this.world);
    this.tables = new DynamoAuditTables({ client: this.world.directClient(), tables: TABLES, pageSize: 500 });
  }

  async run(): Promise<void> {
    const { world, oracle } = this;
    await world.makeTables();
    await populate(world, this.options.users);
    const desk = new ApiDesk(world, {
      onPromise: (requestId) => oracle.promises.promise(requestId, world.timeline.nowMs),
      onFrozen: (target) => oracle.intents.freeze(nameOf(target)),
      onLifting: (target) => oracle.intents.lift(nameOf(target)),
    });
    const roles = [
      new SupervisedRole(world, 'workers-a', startWorkers),
      new SupervisedRole(world, 'workers-b', startWorkers),
      new SupervisedRole(world, 'scheduler-a', startScheduler),
      new SupervisedRole(world, 'bridges-a', startBridges),
      new SupervisedRole(world, 'bridges-b', startBridges),
      new SupervisedRole(world, 'api', desk.start),
    ];
    const acts = new Acts(world, desk);
    const wishes = new Wishes(world, this.membershipDesk(desk), acts);
    const storm = new Storm(world, roles);

    for (let day = 0; day < this.options.days && this.isRight(); day += 1)
      await this.live(day, { people: { acts, wishes }, afterStep: () => storm.afterStep() });
    world.becomeCalm();
    world.trace.write('world', 'quiet');
    for (let day = 0; day < QUIET_DAYS && this.isRight(); day += 1) {
      desk.unfreezeAll();
      desk.clearQuarantine();
      await this.live(this.options.days + day, {
        people: null,
        afterStep: () => undefined,
        isSettled: day >= SETTLING_DAYS,
      });
    }
    if (this.isRight()) await this.judge();
  }

  private membershipDesk(desk: ApiDesk): MembershipDesk {
    const { world, oracle } = this;
    const { asked } = oracle;
    return new MembershipDesk(world, desk, {
      onRefundAsked: (recordId, key) => asked.note('refund', recordId, key),
      onRefundAnswered: (recordId, refundId, isTaken) => oracle.refundAnswered(recordId, refundId, isTaken),
      onComeBackAsked: (userId, key) => asked.note('come-back', userId, key),
      onCameBack: (userId, recordId) => oracle.cameBack(userId, recordId),
      onUpgradeAsked: (userId, key) => asked.note('upgrade', userId, key),
      onPlanAsked: (userId, tierName) => asked.note('plan', userId, tierName),
    });
  }

  /** The world ends with the step that is under way. */
  readonly crash = (error: unknown): void => {
    this.stack ??= error instanceof Error ? (error.stack ?? null) : null;
    this.oracle.report({ rule: CRASHED, userId: null, recordId: null, detail: String(error) });
  };

  /** One day: a window for each time at which something starts, and nothing in between. */
  private async live(day: number, { people, afterStep, isSettled = false }: Weather): Promise<void> {
    const dayMs = this.startMs + day * DAY_MS;
    const windows = windowsOf(dayMs);
    for (const { atMs, run } of windows) {
      if (!this.isRight()) return;
      const { timeline } = this.world;
      const foretold = isSettled ? await this.foretell(run, atMs) : null;
      await timeline.leap(atMs);
      if (run === 'scheduled') this.lastScheduledMs = atMs;
      this.letExpire();
      people?.acts.plan(1 / windows.length, WINDOW_MS);
      people?.wishes.plan(1 / windows.length, WINDOW_MS);
      if (run === 'scheduled') people?.acts.planLastMinute();
      await this.untilQuiet(afterStep);
      await this.look(10 * DAY_MS);
      await foretold?.();
    }
  }

  /** TTL takes its time: AWS promises days, not minutes. */
  private letExpire(): void {
    const { timeline, dynamo, dials } = this.world;
    if (dials.ttlNever) return;
    const nowSeconds = Math.floor(timeline.nowMs / 1_000);
    if (!dynamo.hasOverdue(nowSeconds)) return;
    if (this.expiry.chance(dials.ttlLate)) this.world.noteFault('ttl-late');
    else dynamo.expire(nowSeconds);
  }

  private async untilQuiet(afterStep: () => void): Promise<void> {
    const { timeline, broker } = this.world;
    const fromMs = timeline.nowMs;
    for (;;) {
      await timeline.step();
      afterStep();
      if (this.oracle.violations.length > 0) return;
      if (timeline.steps % STEPS_BETWEEN_LOOKS !== 0) continue;
      const spentMs = timeline.nowMs - fromMs;
      if (spentMs > LONGEST_WINDOW_MS) return;
      if (spentMs > WINDOW_MS && broker.isIdleUntil(timeline.nowMs + WINDOW_MS)) return;
    }
  }

  /**
   * What is foretold just before a run is what the run decides, if nothing changed in between. Gives how to compare
   * the two when the run is over.
   */
  private async foretell(process: BillingRun | null, atMs: number): Promise<(() => Promise<void>) | null> {
    if (process === null) return null;
    const { oracle } = this;
    const forecast = await this.crystalBall.foretell(process, atMs);
    const newsBefore = oracle.promises.newsHeard;
    return async () => {
      const decided = await this.crystalBall.decided(process, atMs);
      const hasChanged = oracle.promises.newsHeard !== newsBefore;
      if (hasChanged || decided === null) return;
      this.foretold += 1;
      if (isDeepStrictEqual(forecast, decided)) return;
      oracle.report({
        rule: 'as-foretold',
        userId: null,
        recordId: null,
        detail: `${process}: foretold ${JSON.stringify(forecast)}, decided ${JSON.stringify(decided)}`,
      });
    };
  }

  /** The audit's rules on every user of whom something was stored since the last look. */
  private async look(abandonAfterMs: number): Promise<void> {
    const { world, oracle } = this;
    const userIds = [...oracle.touched].sort();
    oracle.touched.clear();
    await auditUsers(this.tables, userIds, {
      money: this.tallies.all,
      nowMs: world.timeline.nowMs,
      abandonAfterMs,
      doClocksAgree: world.dials.clockOffMs <= CLOCKS_AGREE_MS,
      report: oracle.report,
    });
  }

  private async judge(): Promise<void> {
    const { world, oracle } = this;
    for (const { userId } of world.members.all()) oracle.touched.add(userId);
    await this.look(SETTINGS.janitor.ATTEMPT_ABANDON_AFTER + DAY_MS);
    oracle.promises.atTheEnd(world.timeline.nowMs - 2 * DAY_MS);
    checkLiveness({
      rows: world.dynamo.items(TABLES.billing) as Iterable<Item>,
      pipeline: world.dynamo.items(TABLES.pipeline) as Iterable<Item>,
      openAttempts: oracle.intents.openAttempts,
      moneyOf: (recordId) => oracle.money.of(recordId),
      isGivenBack: (confirmationId) => oracle.money.isGivenBack(confirmationId),
      secondRail: oracle.intents.secondRail,
      hasClosed: (userId) => oracle.promises.hasClosed(userId),
      neighboursOf: (userId) => world.members.of(userId),
      lastRunMs: this.lastScheduledMs,
      nowMs: world.timeline.nowMs,
      report: oracle.report,
    });
  }

  private isRight(): boolean {
    return this.oracle.violations.length === 0;
  }

  private attempt(recordId: string, attemptId: string): Item | null {
    const { Item: item } = this.world.dynamo.execute('GetItem', {
      TableName: TABLES.pipeline,
      Key: { pk: { S: `SUB#${recordId}` }, sk: { S: `ATTEMPT#${attemptId}` } },
      ConsistentRead: true,
    }) as { Item?: Item };
    return item ?? null;
  }

  private rowsOf(userId: string): readonly Item[] {
    const { Items: items = [] } = this.world.dynamo.execute('Query', {
      TableName: TABLES.billing,
      KeyConditionExpression: 'user_id = :u',
      ExpressionAttributeValues: { ':u': { S: userId } },
    }) as { Items?: readonly Item[] };
    return items;
  }

  result(): SeedResult {
    const { world, oracle, options } = this;
    for (const { rule, userId, recordId, detail } of oracle.violations)
      world.trace.write('oracle', `VIOLATION of rule ${rule}: ${userId} ${recordId} ${detail}`);
    return {
      seed: options.seed,
      steps: world.timeline.steps,
      faults: Object.fromEntries([...world.faults].sort(([a], [b]) => (a < b ? -1 : 1))),
      debits: oracle.money.debits,
      foretold: this.foretold,
      violations: oracle.violations,
      digest: world.trace.digest(),
      trace: oracle.violations.length > 0 || options.keepTrace === true ? world.trace.lines : [],
      stack: this.stack,
    };
  }
}

/** Each seed begins on a day of its own, over three years: leap days, month ends, holidays. */
function firstDay(seed: number): number {
  const random = randomOf(seed, 'first day');
  return Date.UTC(2026, 0, 1 + random.between(0, 3 * 365));
}

const nameOf = (target: { readonly scope: string; readonly userId?: string }): string =>
  target.scope === 'user' ? `user:${target.userId}` : target.scope;
