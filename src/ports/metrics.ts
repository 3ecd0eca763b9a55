import type { Path } from '../domain/paths.ts';
import type { RunProcess } from '../domain/runs.ts';
import type { Rail } from '../domain/subscription.ts';
import type { VerdictName } from '../domain/verdict.ts';
import type { Payment } from './services.ts';

/** What the processor said to a charge: a payment's status, nothing at all, or that it takes none now. */
export type AttemptResult = Payment['status'] | 'UNKNOWN' | 'NOT_TAKEN';

export interface QueueDepth {
  readonly queue: string;
  /** BullMQ's word: `waiting`, `active`, `delayed`, `failed`. */
  readonly state: string;
  readonly count: number;
}

/** What is counted, and its text for whoever scrapes it. */
export interface Metrics {
  verdict(path: Path, verdict: VerdictName, reason: string): void;
  attempt(rail: Rail, result: AttemptResult): void;
  /** Somebody else held the user's lock: the work was put off. */
  lockBusy(path: Path): void;
  processorBreaker(state: 'open' | 'closed'): void;
  runStopped(process: RunProcess): void;
  runFinished(process: RunProcess, seconds: number): void;
  /** How to learn the depths; asked at each scrape. */
  onQueueDepth(read: () => Promise<readonly QueueDepth[]>): void;
  text(): Promise<string>;
  readonly contentType: string;
}
