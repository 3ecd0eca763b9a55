import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { NO_RESULT } from './oracle/verdict.ts';
import type { SeedResult, SimulationOptions } from './simulate.ts';

const CHILD = fileURLToPath(new URL('./seed-child.js', import.meta.url));

export interface SeedProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly execArgv?: readonly string[];
}

/**
 * A world leaves behind what its processes were waiting for when they died or the world ended: Node keeps a signal made
 * of others for as long as it has a listener, and the dead never stop listening. After so many a fresh process goes on,
 * so that memory does not grow with the seeds.
 */
const WORLDS_OF_A_PROCESS = 10;

/** A world makes much that lives shortly: with more room for it a world is done some 7 % sooner. */
const ROOM_FOR_THE_YOUNG = '--max-semi-space-size=64';

/** A process that simulates one seed at a time. */
class SeedProcess {
  private readonly child: ChildProcess;
  private readonly ended: Promise<string>;
  private hasEnded = false;
  private worlds = 0;

  constructor({ env = {}, execArgv = [] }: SeedProcessOptions) {
    this.child = fork(CHILD, {
      env: { ...process.env, ...env },
      execArgv: [ROOM_FOR_THE_YOUNG, ...execArgv],
      serialization: 'advanced',
    });
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.hasEnded = true;
        resolve(String(code ?? signal));
      });
    });
  }

  get isWornOut(): boolean {
    return this.hasEnded || this.worlds >= WORLDS_OF_A_PROCESS;
  }

  simulate(options: SimulationOptions): Promise<SeedResult> {
    this.worlds += 1;
    const answered = new Promise<SeedResult>((resolve) => this.child.once('message', resolve));
    // Where it cannot be sent the process is about to end.
    this.child.send(options, () => undefined);
    return Promise.race([answered, this.ended.then((how) => withoutResult(options, how))]);
  }

  stop(): void {
    if (this.child.connected) this.child.disconnect();
  }
}

const withoutResult = ({ seed }: SimulationOptions, how: string): SeedResult => ({
  seed,
  steps: 0,
  faults: {},
  debits: 0,
  foretold: 0,
  violations: [
    {
      rule: NO_RESULT,
      userId: null,
      recordId: null,
      detail: `a process of the simulation ended with ${how}, and its trace with it`,
    },
  ],
  digest: '',
  trace: [],
  stack: null,
});

/**
 * Simulates every seed, as many at once as there are cores. What is made of the results happens in the order of the seeds, so
 * that the same seeds give the same, on any machine. `onResult` answers false when it has seen enough.
 */
export async function simulateAll(
  wanted: readonly SimulationOptions[],
  onResult: (result: SeedResult) => boolean,
  options: SeedProcessOptions = {},
): Promise<void> {
  const results = new Map<number, SeedResult>();
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
        results.set(at, await process.simulate(wanted[at] as SimulationOptions));
        tell();
      }
    } finally {
      process.stop();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), wanted.length) }, work));
}
