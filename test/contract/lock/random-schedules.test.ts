import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lock, PastSighting } from '../../../src/ports/lock.ts';
import { fail, loseAnswer, throttled, timedOut } from '../../support/dynamo-faults.ts';
import { lockBench, newKey, type Bench, type Contender } from './lock-bench.ts';

const bench = lockBench();
const LEASE_MS = 6_000;
const GRACE_MS = 5_000;
const STEP_MS = 500;
const ACTORS = 3;

/** One process of the schedule, and what it remembers. */
class Actor {
  readonly contender: Contender;
  lock: Lock | null = null;
  /** Every owner name it ever had: a stale one must never write again. */
  readonly owners: string[] = [];
  seen: { readonly version: string; readonly atMs: number } | null = null;
  isStopped = false;

  constructor(on: Bench) {
    this.contender = on.contender({ leaseMs: LEASE_MS, heartbeatMs: 1_000, takeoverGraceMs: GRACE_MS });
  }

  believesToHold(): boolean {
    return this.lock !== null && !this.lock.signal.aborted && this.lock.remainingMs() > 0;
  }

  async pass(ms: number): Promise<void> {
    if (this.isStopped) this.contender.timer.stall(ms);
    else await this.contender.timer.advance(ms);
  }

  past(): PastSighting | undefined {
    if (this.seen === null) return undefined;
    return { version: this.seen.version, elapsedMs: this.contender.timer.elapsedMs() - this.seen.atMs };
  }
}

type Step =
  | { readonly do: 'acquire' | 'release' | 'write' | 'write-stale' | 'stop' | 'wake'; readonly actor: number }
  | {
      readonly do: 'break';
      readonly actor: number;
      readonly command: string;
      readonly applied: boolean;
      readonly times: number;
    }
  | { readonly do: 'pass'; readonly steps: number };

const actor = fc.integer({ min: 0, max: ACTORS - 1 });
const simple = (
  ...verbs: ('acquire' | 'release' | 'write' | 'write-stale' | 'stop' | 'wake')[]
): fc.Arbitrary<Step> => fc.record({ do: fc.constantFrom(...verbs), actor });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: simple('acquire') },
  { weight: 4, arbitrary: simple('release', 'write', 'write-stale', 'stop', 'wake') },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), steps: fc.integer({ min: 1, max: 26 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('break' as const),
      actor,
      command: fc.constantFrom('PutItemCommand', 'UpdateItemCommand'),
      applied: fc.boolean(),
      times: fc.integer({ min: 1, max: 40 }),
    }),
  },
);

class Schedule {
  readonly key = newKey();
  readonly actors = Array.from({ length: ACTORS }, () => new Actor(bench));

  async take(next: Step): Promise<void> {
    if (next.do === 'pass') return this.passTime(next.steps);
    const who = this.actors[next.actor]!;
    if (next.do === 'wake') return this.wake(who);
    if (who.isStopped) return;
    switch (next.do) {
      case 'acquire':
        return this.acquire(who);
      case 'release':
        if (who.lock !== null) await this.run(who.lock.release());
        who.lock = null;
        return;
      case 'write':
        return this.write(who);
      case 'write-stale':
        return this.writeStale(who);
      case 'stop':
        who.isStopped = true;
        return;
      case 'break': {
        const fault = next.applied ? loseAnswer(timedOut()) : fail(throttled());
        who.contender.faults.script(next.command, fault, { times: next.times });
        return;
      }
    }
  }

  async passTime(steps: number): Promise<void> {
    for (let each = 0; each < steps; each += 1) await this.tick(STEP_MS);
  }

  /** Everybody's clock goes equally fast: it is all that the lock asks of clocks. */
  async tick(ms: number): Promise<void> {
    for (const who of this.actors) await who.pass(ms);
    this.expectOneHolderAtMost();
  }

  /** Time goes on until the work is done. */
  async run<T>(work: Promise<T>): Promise<T> {
    const progress = { done: false };
    const watched = work.finally(() => (progress.done = true));
    watched.catch(() => undefined);
    while (!progress.done) await this.tick(25);
    return watched;
  }

  async wake(who: Actor): Promise<void> {
    who.isStopped = false;
    this.expectOneHolderAtMost();
    await who.contender.timer.catchUp();
  }

  async acquire(who: Actor): Promise<void> {
    if (who.believesToHold()) return;
    const outcome = await this.run(who.contender.locks.acquire(this.key, who.past())).catch(() => null);
    if (outcome === null) return;
    if ('lock' in outcome) {
      who.lock = outcome.lock;
      who.owners.push(outcome.lock.fence.ownerName);
      who.seen = null;
    } else if (who.seen?.version !== outcome.busy.version) {
      who.seen = { version: outcome.busy.version, atMs: who.contender.timer.elapsedMs() };
    }
  }

  /** Who believes to hold the lock can write. */
  async write(who: Actor): Promise<void> {
    if (!who.believesToHold() || who.lock === null) return;
    const { fence } = who.lock;
    await fence.exclusively(() => bench.fencedWrite(this.key, fence.ownerName));
  }

  /** The store itself refuses everybody but the owner in the row, whatever they believe. */
  async writeStale(who: Actor): Promise<void> {
    const row = await bench.row(this.key);
    for (const ownerName of who.owners) {
      const isOwner = row?.['ownerName']?.S === ownerName && row['isReleased'] === undefined;
      if (isOwner) await bench.fencedWrite(this.key, ownerName);
      else await expect(bench.fencedWrite(this.key, ownerName)).rejects.toThrow('ConditionalCheckFailed');
    }
  }

  expectOneHolderAtMost(): void {
    const holders = this.actors.filter((who) => !who.isStopped && who.believesToHold());
    expect(holders.length).toBeLessThanOrEqual(1);
  }

  /** Faults end, everybody lets go or is dead: somebody new gets the lock within one lease and grace. */
  async expectRecovery(): Promise<void> {
    for (const who of this.actors) who.contender.faults.clear();
    for (const who of this.actors)
      if (!who.isStopped && who.lock !== null) await this.run(who.lock.release());
    const fresh = bench.contender({ leaseMs: LEASE_MS, takeoverGraceMs: GRACE_MS });
    const first = await fresh.locks.acquire(this.key);
    if ('lock' in first) return;
    await fresh.lock(this.key, { version: first.busy.version, elapsedMs: LEASE_MS + GRACE_MS + 1 });
  }

  async end(): Promise<void> {
    for (const { contender } of this.actors) {
      contender.faults.clear();
      await contender.locks.close();
    }
  }
}

describe('any schedule of stops, losses and takeovers', () => {
  it('has at most one holder at any time, and recovers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
        const schedule = new Schedule();
        try {
          for (const next of steps) {
            await schedule.take(next);
            schedule.expectOneHolderAtMost();
          }
          await schedule.expectRecovery();
        } finally {
          await schedule.end();
        }
      }),
      { numRuns: 20 },
    );
  });
});
