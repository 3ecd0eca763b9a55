import { dropQuarantined, listQuarantine } from '../../src/app/quarantine.ts';
import { orderRun } from '../../src/app/order-run.ts';
import type { DeskDependencies } from '../../src/app/desk/desk.ts';
import { requestPayment } from '../../src/app/request-payment.ts';
import { takeSignal } from '../../src/app/take-signal.ts';
import { dayInChicago } from '../../src/domain/signals.ts';
import { cents } from '../../src/domain/money.ts';
import type { SubscriptionId, UserId } from '../../src/domain/subscription.ts';
import type { FreezeTarget } from '../../src/ports/freezes.ts';
import type { Stores } from '../../src/wiring/stores.ts';
import type { SimProcess } from '../world/sim-process.ts';
import { SimQueueSet } from '../world/sim-queues.ts';
import type { World } from '../world/world.ts';
import { membershipTools } from './membership-tools.ts';
import type { StartRole } from './role.ts';
import { simStores } from './role.ts';
import { SETTINGS } from './settings.ts';

/** What was promised or acknowledged to whoever asked: the oracle holds the house to it. */
export interface DeskHooks {
  readonly onPromise: (requestId: string) => void;
  readonly onFrozen: (target: FreezeTarget) => void;
  /** Asked for: from here on it may or may not hold any more. */
  readonly onLifting: (target: FreezeTarget) => void;
}

type Call = (tools: Tools) => Promise<void>;

/** What the API works with, in one of its processes. */
export interface Tools {
  readonly process: SimProcess;
  readonly stores: Stores;
  readonly queues: SimQueueSet;
  readonly memberships: DeskDependencies;
}

interface Lift {
  readonly target: FreezeTarget;
  readonly process: SimProcess;
  isOver: boolean;
}

/** Who got no answer asks again, as callers of an API do. */
const ASK_AGAIN_MS = 45_000;
const MOST_ASKED = 6;

/** The API as members, services and operators use it. */
export class ApiDesk {
  private readonly world: World;
  private readonly hooks: DeskHooks;
  private readonly lifts: Lift[] = [];
  private tools: Tools | null = null;

  constructor(world: World, hooks: DeskHooks) {
    this.world = world;
    this.hooks = hooks;
  }

  readonly start: StartRole = (world, process) => {
    const stores = simStores(world, process);
    const wire = world.wire(process, 'fail');
    const memberships = membershipTools(world, process, stores, wire);
    this.tools = { process, stores, queues: new SimQueueSet(wire), memberships };
  };

  /** A member pays by hand. The key is the caller's: asked again it is the same request. */
  pay(userId: string, subscriptionId: string, requestId: string): void {
    this.ask(`pay ${userId} ${subscriptionId} ${requestId}`, async (tools) => {
      const result = await requestPayment(this.requestTools(tools), {
        requestId,
        userId: userId as UserId,
        subscriptionId: subscriptionId as SubscriptionId,
        by: 'member',
      });
      if ('accepted' in result) this.hooks.onPromise(result.accepted.requestId);
      else this.world.trace.write('member', `refused ${requestId} ${result.refused.reason}`);
    });
  }

  signal(userId: string, signalId: string, kind: 'income' | 'balance'): void {
    this.ask(`signal ${userId} ${kind} ${signalId}`, async (tools) => {
      const base = { signalId, userId: userId as UserId };
      const signal =
        kind === 'balance'
          ? { ...base, kind, isPrimary: true }
          : { ...base, kind, amount: cents(200_00), date: dayInChicago(tools.process.clock.now()) };
      const taken = await takeSignal(this.requestTools(tools), signal, 'signals');
      if ('requests' in taken) for (const { requestId } of taken.requests) this.hooks.onPromise(requestId);
    });
  }

  /** `then` is called when the operator has been told that it holds. */
  freeze(target: FreezeTarget, then: () => void): void {
    this.ask(`freeze ${JSON.stringify(target)}`, async ({ stores, process }) => {
      const at = process.clock.now();
      const isLifted = this.watchLifts(target);
      await stores.freezes.freeze({ target, reason: 'simulated', who: 'operator', at, until: null });
      if (!isLifted()) this.hooks.onFrozen(target);
      then();
    });
  }

  unfreeze(target: FreezeTarget): void {
    this.ask(`unfreeze ${JSON.stringify(target)}`, (tools) => this.lift(tools, target));
  }

  /** An operator ends whatever is frozen: also what somebody tried to end, and got no answer. */
  unfreezeAll(): void {
    this.ask('unfreeze all', async (tools) => {
      for (const { target } of await tools.stores.freezes.list()) await this.lift(tools, target);
    });
  }

  private async lift({ stores, process }: Tools, target: FreezeTarget): Promise<void> {
    const lift: Lift = { target, process, isOver: false };
    this.lifts.push(lift);
    this.hooks.onLifting(target);
    try {
      await stores.freezes.unfreeze(target, { who: 'operator', at: process.clock.now() });
    } finally {
      lift.isOver = true;
    }
  }

  /** Tells later whether somebody has lifted the same at the same time: of the two orders either may have come last. */
  private watchLifts(target: FreezeTarget): () => boolean {
    const name = JSON.stringify(target);
    const isSame = (lift: Lift): boolean => JSON.stringify(lift.target) === name;
    const known = this.lifts.length;
    const isUnderWay = this.lifts.some((lift) => isSame(lift) && !lift.isOver && lift.process.isAlive);
    return () => isUnderWay || this.lifts.slice(known).some(isSame);
  }

  /** An operator wants a run now, beside those of the schedule. */
  run(process: 'retry' | 'scheduled'): void {
    this.ask(`run ${process}`, async (tools) => {
      const { stores, queues } = tools;
      const { clock } = tools.process;
      const log = this.world.log(tools.process);
      await orderRun({ runs: stores.runs, clock, log, wake: (run) => queues.ensurePage(run) }, process, null);
    });
  }

  /** An operator gives up whatever waits in quarantine. */
  clearQuarantine(): void {
    this.ask('clear quarantine', async ({ stores, process }) => {
      for await (const { items } of listQuarantine(stores)) {
        for (const { quarantineId } of items)
          await dropQuarantined({ ...stores, clock: process.clock }, quarantineId, {
            who: 'operator',
            reason: 'simulated',
          });
      }
    });
  }

  ask(what: string, call: Call, asked = 1): void {
    const { world, tools } = this;
    world.trace.write('caller', what);
    let isAnswered = false;
    // Not bound to the process: the caller lives on when the API dies.
    world.timeline.after(ASK_AGAIN_MS, () => {
      if (!isAnswered && asked < MOST_ASKED) this.ask(what, call, asked + 1);
    });
    if (tools === null || !tools.process.isAlive) return;
    tools.process.deliver(1, () => {
      call(tools).then(
        () => {
          isAnswered = true;
        },
        (error: Error) => world.trace.write('caller', `${what} failed: ${error.name} ${error.message}`),
      );
    });
  }

  private requestTools({ stores, process, queues }: Tools) {
    return {
      ...stores,
      clock: process.clock,
      log: this.world.log(process),
      owned: SETTINGS.ownership.OWNED_USERS,
      enqueue: queues.addRequest.bind(queues),
    };
  }
}
