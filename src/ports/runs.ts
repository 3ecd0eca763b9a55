import type { Instant } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import type { PlanName } from '../domain/plan.ts';
import type { CollectingProcess, RunId, RunProcess } from '../domain/runs.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
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

/** Counts and amounts of what was decided. */
export type PlanTallies = Readonly<Partial<Record<PlanName, Tally>>>;

export interface RunReport {
  readonly records: number;
  readonly amount: Cents;
  readonly byVerdict: Readonly<Partial<Record<VerdictName, Tally>>>;
  readonly byPlan: PlanTallies;
}

/** What a run would decide, had it been started at that moment. */
export interface Forecast {
  readonly process: CollectingProcess;
  readonly asOf: Instant;
  readonly records: number;
  readonly amount: Cents;
  readonly byPlan: PlanTallies;
  /** Records that are due now. The rest of `records` would be opened, and be due, in the run itself. */
  readonly due: number;
  /** Rows that cannot be read, and records of their users: the run reports them and goes on. */
  readonly malformed: number;
  /** Records about whose members a service could not be asked. */
  readonly unreachable: number;
}

/** A record as it travels: whoever works on it reads the rest under the user's lock. */
export interface RecordRef {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
}

export interface Run extends RunPosition {
  readonly runId: RunId;
  readonly process: RunProcess;
  readonly tick: Instant;
  /** `stopped`: too many of its users were missing or inactive to be believed. */
  readonly status: 'running' | 'complete' | 'stopped';
  /** Where the next page begins. */
  readonly cursor: PageKey | null;
  /** Records that the first pass found due, and handed over. */
  readonly due: number;
  /** Records handed to workers in this pass, and in all passes. */
  readonly enqueuedInPass: number;
  readonly enqueued: number;
  /** Due records of users that belong to the older service. */
  readonly notOwned: number;
  readonly startedAt: Instant;
  readonly progressAt: Instant;
  readonly finishedAt: Instant | null;
  readonly report: RunReport | null;
  readonly forecast: Forecast | null;
}

export interface RunningRuns {
  readonly runs: readonly Run[];
  /** Items that cannot be read. They are reported and do not hide the others. */
  readonly unreadable: readonly Error[];
}

export interface RunStore {
  /** False when the run exists: then it goes on from where it stands. */
  start(run: Run): Promise<boolean>;
  get(runId: RunId): Promise<Run | null>;
  /** Those of them that were started, in no order. */
  getAll(runIds: readonly RunId[]): Promise<Run[]>;
  /** Newest first. */
  list(limit: number): Promise<Run[]>;
  /** Every run that is under way. Eventually consistent. */
  running(): Promise<RunningRuns>;
  /** Since when runs have been started here: earlier ticks were not missed. */
  since(now: Instant): Promise<Instant>;
  /** False when the run does not stand at `from` any more: somebody else took that page. */
  advance(from: RunPosition, run: Run): Promise<boolean>;
  /** How many of the run's users were found missing or inactive. */
  doubtful(runId: RunId): Promise<number>;
  /** Records whose members want to be charged at once on resuming, whatever the date. */
  resumes(key: PageKey | null): Promise<{ records: RecordRef[]; nextKey: PageKey | null }>;
  /** Those of the records that this run has considered for good. */
  considered(runId: RunId, subscriptionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** What came of each record, a page at a time. */
  verdicts(runId: RunId, key: PageKey | null): Promise<{ verdicts: Verdict[]; nextKey: PageKey | null }>;
}
