/** What a process says of the things that it leans on. */
export interface HealthReport {
  /** Degraded: something is away without which some things are late, and nothing stands still. */
  readonly status: 'ready' | 'degraded' | 'not ready';
  /** By the dependency's name. */
  readonly checks: Readonly<Record<string, 'up' | 'down'>>;
}

/** Answers in bounded time, and may be asked as often as anybody likes. */
export type Health = () => Promise<HealthReport>;

/** How a probe is answered, by HTTP status. */
export const probeStatus = ({ status }: HealthReport): number => (status === 'not ready' ? 503 : 200);
