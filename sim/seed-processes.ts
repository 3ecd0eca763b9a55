import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { SeedResult, SimulationOptions } from './simulate.ts';

const CHILD = fileURLToPath(new URL('./seed-child.js', import.meta.url));

export interface SeedProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly execArgv?: readonly string[];
}

/** The simulation threw. A process that is gone without a word throws another error: that says nothing about the seed. */
export class SeedCrash extends Error {
  readonly seed: number;
  /** What was thrown. */
  readonly reason: string;

  constructor(seed: number, reason: string) {
    super(`seed ${seed} crashed: ${reason}`);
    this.seed = seed;
    this.reason = reason;
  }
}

type Answer = { readonly result: SeedResult } | { readonly crashed: string };

/**
 * A world leaves behind what its processes were waiting for when they died or the world ended: Node keeps a signal made of
 * others for as long as somebody listens to it, and the dead never stop listening. After so many a fresh process goes on, so
 * that memory does not grow with the seeds.
 */
const WORLDS_OF_A_PROCESS = 10;

/** A process that simulates one seed at a time. */
class SeedProcess {
  private readonly child: ChildProcess;
  private readonly ended: Promise<never>;
  private worlds = 0;

  constructor({ env = {}, execArgv = [] }: SeedProcessOptions) {
    this.child = fork(CHILD, {
      env: { ...process.env, ...env },
      execArgv: [...execArgv],
      serialization: 'advanced',
    });
    this.ended = once(this.child, 'exit').then(([code, signal]) => {
      throw new Error(`a process of the simulation ended with ${String(code ?? signal)}`);
    });
    this.ended.catch(() => undefined);
  }

  get isWornOut(): boolean {
    return this.worlds >= WORLDS_OF_A_PROCESS;
  }

  async simulate(options: SimulationOptions): Promise<SeedResult> {
    this.worlds += 1;
    const answered = new Promise<Answer>((resolve) => this.child.once('message', resolve));
    this.child.send(options);
    const answer = await Promise.race([answered, this.ended]);
    if ('crashed' in answer) throw new SeedCrash(options.seed, answer.crashed);
    return answer.result;
  }

  stop(): void {
    if (this.child.connected) this.child.disconnect();
  }
}

/**
 * Simulates every seed, as many at once as there are cores. What is made of the results happens in the order of the seeds, so
 * that the same seeds give the same, on any machine. `onResult` answers false when it has seen enough. Throws where a seed has
 * no result, when its turn comes.
 */
export async function simulateAll(
  wanted: readonly SimulationOptions[],
  onResult: (result: SeedResult) => boolean,
  options: SeedProcessOptions = {},
): Promise<void> {
  const results = new Map<number, SeedResult>();
  const errors = new Map<number, unknown>();
  let [next, told, isEnough] = [0, 0, false];
  const tell = (): void => {
    for (let result = results.get(told); result !== undefined && !isEnough; result = results.get(told)) {
      results.delete(told);
      told += 1;
      isEnough = !onResult(result);
    }
  };
  const work = async (): Promise<void> => {
    let process = new SeedProcess(options);
    try {
      for (let at = next++; at < wanted.length && !isEnough; at = next++) {
        if (process.isWornOut) {
          process.stop();
          process = new SeedProcess(options);
        }
        await process.simulate(wanted[at] as SimulationOptions).then(
          (result) => results.set(at, result),
          (error: unknown) => errors.set(at, error),
        );
        // Those before it are under way and have their turn first; nobody wants those after it.
        if (errors.has(at)) next = wanted.length;
        tell();
      }
    } finally {
      process.stop();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), wanted.length) }, work));
  if (!isEnough && errors.has(told)) throw errors.get(told);
}
