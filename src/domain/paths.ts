import type { AttemptLimit } from './limits.ts';
import type { AttemptProcess } from './attempt.ts';
import type { BillingStatus, Process } from './subscription.ts';
import { PROCESSES } from './subscription.ts';

/** The ways by which a record comes up for collection. All but STALE are also the row's `process`. */
export const PATH_NAMES = [
  'INITIAL',
  'RETRY',
  'PAUSE',
  'BATCH',
  'WEBHOOK',
  'WEBHOOK_BALANCE',
  'MANUAL_REPAYMENT',
  'STALE',
] as const;
export type Path = (typeof PATH_NAMES)[number];

/** What sets one path apart from another. Everything else about collecting is the same for all. */
export interface PathRules {
  /** What the path writes into `process`; null leaves it. */
  readonly process: Process | null;
  readonly collects: readonly BillingStatus[];
  /** Also the SCHEDULED records whose members asked to be charged on resuming. */
  readonly collectsPendingResume: boolean;
  readonly dueOnly: boolean;
  readonly limit: AttemptLimit;
  readonly cardOnly: boolean;
  /**
   * A run, a signal or a batch, not a payment by hand. Such a path checks the balance, may cancel, waive or write off
   * the record, and resumes whatever attempt is open. A member who pays by hand chooses to, and gets an answer that
   * leaves the record as it is.
   */
  readonly automatic: boolean;
  /** Closes records but never charges. */
  readonly onlyCloses: boolean;
}

const RUN: PathRules = {
  process: null,
  collects: [],
  collectsPendingResume: false,
  dueOnly: true,
  limit: 'in-all',
  cardOnly: false,
  automatic: true,
  onlyCloses: false,
};

export const PATHS: Record<Path, PathRules> = {
  INITIAL: { ...RUN, process: 'INITIAL', collects: ['SCHEDULED'], limit: 'one-initial-per-user-and-day' },
  RETRY: { ...RUN, process: 'RETRY', collects: ['ERROR'], limit: 'one-retry-per-day' },
  PAUSE: { ...RUN, process: 'PAUSE', collects: ['PAUSED'], collectsPendingResume: true },
  BATCH: { ...RUN, process: 'BATCH', collects: ['SCHEDULED', 'ERROR'] },
  WEBHOOK: { ...RUN, process: 'WEBHOOK', collects: ['ERROR'], limit: 'webhooks-per-day' },
  WEBHOOK_BALANCE: { ...RUN, process: 'WEBHOOK_BALANCE', collects: ['ERROR'], limit: 'webhooks-per-day' },
  MANUAL_REPAYMENT: {
    ...RUN,
    process: 'MANUAL_REPAYMENT',
    collects: ['SCHEDULED', 'ERROR'],
    dueOnly: false,
    limit: 'none',
    cardOnly: true,
    automatic: false,
  },
  STALE: { ...RUN, collects: ['ERROR'], onlyCloses: true },
};

/**
 * The rules under which an attempt was made, from what it wrote into `process`. What no path writes was asked for by hand
 * and made its own record: a reactivation, a proration.
 */
export function rulesOf(process: AttemptProcess): PathRules {
  const rules = Object.values(PATHS).find((path) => path.process === process);
  if (rules !== undefined) return rules;
  if (!isProcess(process)) throw new Error(`${process} is a stage of floats and no process of billing`);
  return { ...PATHS.MANUAL_REPAYMENT, process, collects: [] };
}

const isProcess = (process: AttemptProcess): process is Process =>
  (PROCESSES as readonly AttemptProcess[]).includes(process);
