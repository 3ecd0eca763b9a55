import { StatsD } from 'hot-shots';
import type { Metrics } from '../../ports/metrics.ts';

/** Where Datadog's agent listens. */
const PORT = 8125;

/** The name that dashboards of the memberships Lambda know. */
const CANCELLED = 'memberships.user.cancelled';

const MS_PER_SECOND = 1_000;

/** The same metrics, and those that people watch in Datadog to its agent as well. */
export function alsoToDatadog(
  metrics: Metrics,
  { host, port = PORT }: { host: string; port?: number },
): Metrics {
  // Fire and forget: a count that is lost harms nobody, and an agent that is away must not hold anything up.
  const agent = new StatsD({ host, port, errorHandler: () => undefined });
  agent.socket.unref();
  return {
    ...metrics,
    verdict(path, verdict, reason) {
      metrics.verdict(path, verdict, reason);
      agent.increment('collections.verdicts', { path, verdict });
    },
    attempt(rail, result) {
      metrics.attempt(rail, result);
      agent.increment('collections.attempts', { rail, result });
    },
    job(queue, end, seconds) {
      metrics.job(queue, end, seconds);
      agent.distribution('collections.job.duration_ms', seconds * MS_PER_SECOND, { queue, end });
    },
    membershipApplied(type, result, reason) {
      metrics.membershipApplied(type, result, reason);
      if (type === 'CANCEL' && result === 'changed') agent.increment(CANCELLED);
    },
  };
}
