import type { Instant } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import type { RunId, RunProcess } from '../domain/runs.ts';
import type { Verdict, VerdictName } from '../domain/verdict.ts';
import type { PageKey } from './subscriptions.ts';

/** Where a run stands. It reads its due range page by page, and the whole range again until nothing new turns up. */
export interface RunPosition {
  readonly pass: number;
  readonly page: number;
}

export interface Tally {
  readonly count: number;
  readonly amount: Cents;
  readonly reasons: Readonly<Record<string, number>>;
}

export interface RunReport {
  readonly records: number;
  readonly amount: Cents;
  readonly byVerdict: Readonly<Partial<Record<VerdictName, Tally>>>;
}

export interface Run extends RunPosition {
  readonly runId: RunId;
  readonly process: RunProcess;
  readonly tick: Instant;
  readonly status: 'running' | 'complete';
  /** Where the next page begins. */
  readonly cursor: PageKey | null;
  /** Records handed to workers in this pass, and in all passes. */
  readonly enqueuedInPass: number;
  readonly enqueued: number;
  readonly startedAt: Instant;
  readonly progressAt: Instant;
  readonly finishedAt: Instant | null;
  readonly report: RunReport | null;
}

export interface RunStore {
  /** False when the run exists: then it goes on from where it stands. */
  start(run: Run): Promise<boolean>;
  get(runId: RunId): Promise<Run | null>;
  /** Newest first. */
  list(limit: number): Promise<Run[]>;
  /** False when the run does not stand at `from` any more: somebody else took that page. */
  advance(from: RunPosition, run: Run): Promise<boolean>;
  /** Those of the records that this run has considered. */
  considered(runId: RunId, subscriptionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** What came of each record, a page at a time. */
  verdicts(runId: RunId, key: PageKey | null): Promise<{ verdicts: Verdict[]; nextKey: PageKey | null }>;
}
