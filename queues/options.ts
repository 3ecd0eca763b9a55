import type { DefaultJobOptions } from 'bullmq';
import type { QueueName } from './queue-names.ts';

/** Kept for people. A kept job blocks its id: `ensurePage`, `ensureEvent` and `ensureGatewayEvent` remove it first. */
const LAST_DONE = { count: 1_000 } as const;

/** What goes wrong unexpectedly is tried again for about five minutes before an operator has to look. */
export const TRIES = 8;
const LONGEST_BACKOFF_MS = 60_000;

/** BullMQ's own doubles without end. */
export const backoffMs = (triesMade: number): number =>
  Math.min(LONGEST_BACKOFF_MS, 1_000 * 2 ** Math.max(0, triesMade - 1));

/** A failed job keeps its data and reason until an operator acts on it. */
const KEPT_WHEN_FAILED: DefaultJobOptions = {
  attempts: TRIES,
  backoff: { type: 'custom' },
  removeOnComplete: LAST_DONE,
  removeOnFail: false,
};

export const JOB_OPTIONS: Record<QueueName, DefaultJobOptions> = {
  'collection-pages': KEPT_WHEN_FAILED,
  'collections-scheduled': KEPT_WHEN_FAILED,
  'collections-retry': KEPT_WHEN_FAILED,
  'collections-pause': KEPT_WHEN_FAILED,
  'collections-webhook': KEPT_WHEN_FAILED,
  'collections-webhook-balance': KEPT_WHEN_FAILED,
  'collections-batch': KEPT_WHEN_FAILED,
  'manual-repayments': KEPT_WHEN_FAILED,
  'float-pages': KEPT_WHEN_FAILED,
  'float-collections': KEPT_WHEN_FAILED,
  'recurring-pages': KEPT_WHEN_FAILED,
  'recurring-payments': KEPT_WHEN_FAILED,
  'recurring-reminders': KEPT_WHEN_FAILED,
  'membership-events': KEPT_WHEN_FAILED,
  'ach-events': KEPT_WHEN_FAILED,
  'gateway-events': KEPT_WHEN_FAILED,
  notifications: KEPT_WHEN_FAILED,
  // The next round comes by itself in a minute.
  janitor: { attempts: 1, removeOnComplete: { count: 100 }, removeOnFail: { count: 100 } },
};
