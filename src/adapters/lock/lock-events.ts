import type { Log } from '../../ports/log.ts';

/** What happened to a lock, for the log and for tests. `contended`: another owner holds it. */
export type LockEventType =
  | 'acquired'
  | 'taken-over'
  | 'contended'
  | 'lost'
  | 'released'
  /** DynamoDB did not take the release. The lock stays busy until its lease is over. */
  | 'release-failed'
  | 'heartbeat-failed';

export interface LockEvent {
  readonly type: LockEventType;
  readonly key: string;
  readonly ownerName?: string;
  readonly reason?: string;
}

export type Report = (event: LockEvent) => void;

/** Who takes over does what the lock is for; whoever reads wants to know whose work went on elsewhere. */
const LEVELS: Record<LockEventType, 'debug' | 'info' | 'warn'> = {
  acquired: 'debug',
  contended: 'debug',
  released: 'debug',
  'taken-over': 'info',
  lost: 'warn',
  'release-failed': 'warn',
  'heartbeat-failed': 'warn',
};

/** One place that logs and counts. A counter that throws must not break a lock. */
export function reporter(log: Log | undefined, onEvent: Report | undefined): Report {
  return (event) => {
    log?.[LEVELS[event.type]]({ lock: event }, `lock ${event.type}`);
    try {
      onEvent?.(event);
    } catch (error) {
      log?.warn({ err: error }, 'lock event hook failed');
    }
  };
}
