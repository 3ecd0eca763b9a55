import type { Random } from '../random.ts';
import type { SimProcess } from './sim-process.ts';
import type { Timeline } from './timeline.ts';

/**
 * What can become of a request. `refused`: never taken, and the caller is told. `lost`: never taken, and the caller hears
 * nothing. `answer-lost`: done, and the caller hears nothing. `late`: the caller has given up by the time it is done.
 * `sent-twice`: done, and because the first answer was lost a client below the caller sends it again; the caller hears the
 * second answer, which may be that a condition does not hold any more.
 */
export type Fate = 'good' | 'refused' | 'lost' | 'answer-lost' | 'late' | 'sent-twice';

/** How likely each is; the rest is good. */
export type FateDial = Readonly<Partial<Record<Exclude<Fate, 'good'>, number>>>;

/** The way from a process to something that answers. */
export interface Link {
  readonly name: string;
  /** There and back. */
  readonly latencyMs: readonly [least: number, most: number];
  /** After so long without an answer the caller gives up. */
  readonly patienceMs: number;
  /** How late a request can be that its caller has given up. */
  readonly latestMs: number;
  readonly dial: () => FateDial;
  readonly onRefused: () => Error;
  readonly onSilence: () => Error;
}

/** Calls back when a request would do the most harm. */
export type WorstMoment = (callback: () => void) => void;

/** Share of a dead process's requests that are delayed in transit. */
const ORPHAN_DELAYED = 0.4;
/** Share of late requests held until the worst moment, and how soon after it they arrive. */
const LATE_AT_WORST = 0.5;
const AFTER_WORST_MS = 150;

const FATES = ['refused', 'lost', 'answer-lost', 'late', 'sent-twice'] as const;

/** Requests that cross the simulated network. `apply` is what happens at the other end, in one moment. */
export class Network {
  private readonly timeline: Timeline;
  private readonly random: Random;
  private readonly onFault: (process: SimProcess, link: string, fate: Fate) => void;

  constructor(
    timeline: Timeline,
    random: Random,
    onFault: (process: SimProcess, link: string, fate: Fate) => void,
  ) {
    this.timeline = timeline;
    this.random = random;
    this.onFault = onFault;
  }

  call<T>(process: SimProcess, link: Link, apply: () => T, worst: WorstMoment | null = null): Promise<T> {
    const fate = this.fateOf(link);
    if (fate !== 'good') this.onFault(process, link.name, fate);
    const [least, most] = link.latencyMs;
    const thereMs = least + this.random.next() * (most - least);
    const backMs = least + this.random.next() * (most - least);
    const latestAtMs = this.timeline.nowMs + link.latestMs;
    return new Promise<T>((resolve, reject) => {
      const giveUp = (): void => void process.deliver(link.patienceMs, () => reject(link.onSilence()));
      const arrive = (delayMs: number, then: (outcome: Outcome<T>) => void): void =>
        void this.timeline.arriving(delayMs, () => {
          const leftMs = latestAtMs - this.timeline.nowMs;
          const isOrphan = !process.isAlive && leftMs > 0 && this.random.chance(ORPHAN_DELAYED);
          if (isOrphan) hang(leftMs, then);
          else then(outcomeOf(apply));
        });
      const hang = (longestMs: number, then: (outcome: Outcome<T>) => void): void => {
        if (worst === null || !this.random.chance(LATE_AT_WORST))
          return arrive(Math.min(longestMs, this.lateness(link)), then);
        let hasCome = false;
        const come = (): void => {
          if (!hasCome) then(outcomeOf(apply));
          hasCome = true;
        };
        this.timeline.arriving(longestMs, come);
        worst(() => void this.timeline.arriving(this.random.next() * AFTER_WORST_MS, come));
      };
      const answer = (outcome: Outcome<T>): void =>
        void process.deliver(backMs, () =>
          'error' in outcome ? reject(outcome.error) : resolve(outcome.value),
        );
      switch (fate) {
        case 'good':
          return arrive(thereMs, answer);
        case 'refused':
          return void process.deliver(thereMs + backMs, () => reject(link.onRefused()));
        case 'lost':
          return giveUp();
        case 'answer-lost':
          arrive(thereMs, () => undefined);
          return giveUp();
        case 'late':
          this.timeline.arriving(link.patienceMs * 0.8, () => hang(link.latestMs, () => undefined));
          return giveUp();
        case 'sent-twice':
          return arrive(thereMs, () => arrive(link.patienceMs / 4, answer));
      }
    });
  }

  /** Mostly a little. */
  private lateness({ latestMs }: Link): number {
    return this.random.next() ** 2 * latestMs;
  }

  private fateOf({ dial }: Link): Fate {
    const odds = dial();
    let left = this.random.next();
    for (const fate of FATES) {
      left -= odds[fate] ?? 0;
      if (left < 0) return fate;
    }
    return 'good';
  }
}

type Outcome<T> = { readonly value: T } | { readonly error: Error };

function outcomeOf<T>(apply: () => T): Outcome<T> {
  try {
    return { value: apply() };
  } catch (error) {
    return { error: error as Error };
  }
}
