import type { AttemptLimit } from './limits.ts';
import type { BillingStatus, Process } from './subscription.ts';

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
  /** Members who pay by hand choose to; the bank is the judge of their balance. */
  readonly checksBalance: boolean;
  readonly cardOnly: boolean;
  /** May cancel, waive or write off the record. A member who asks to pay gets an answer and keeps the record as it is. */
  readonly mayClose: boolean;
  /** Closes records but never charges. */
  readonly onlyCloses: boolean;
  /** Resumes only an attempt that its own trigger opened. */
  readonly resumesOwnOnly: boolean;
}

const RUN: PathRules = {
  process: null,
  collects: [],
  collectsPendingResume: false,
  dueOnly: true,
  limit: 'in-all',
  checksBalance: true,
  cardOnly: false,
  mayClose: true,
  onlyCloses: false,
  resumesOwnOnly: false,
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
    checksBalance: false,
    cardOnly: true,
    mayClose: false,
    resumesOwnOnly: true,
  },
  STALE: { ...RUN, collects: ['ERROR'], onlyCloses: true },
};
