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

/** The part of a pino logger that the lock needs. */
export interface LockLogger {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export type Report = (event: LockEvent) => void;

const WORRYING: readonly LockEventType[] = ['taken-over', 'lost', 'release-failed', 'heartbeat-failed'];

/** One place that logs and counts. A counter that throws must not break a lock. */
export function reporter(logger: LockLogger | undefined, onEvent: Report | undefined): Report {
  return (event) => {
    const level = WORRYING.includes(event.type) ? 'warn' : 'debug';
    logger?.[level]({ lock: event }, `lock ${event.type}`);
    try {
      onEvent?.(event);
    } catch (error) {
      logger?.warn({ err: error }, 'lock event hook failed');
    }
  };
}
