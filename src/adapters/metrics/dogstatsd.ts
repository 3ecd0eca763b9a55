import { createSocket } from 'node:dgram';
import type { Metrics } from '../../ports/metrics.ts';

/** Where Datadog's agent listens. */
const PORT = 8125;

/** The name that dashboards of the memberships Lambda know. */
const CANCELLED = 'memberships.user.cancelled';

/** The same metrics, and those that people watch in Datadog to its agent as well. */
export function alsoToDatadog(metrics: Metrics, agent: { host: string; port?: number }): Metrics {
  const count = dogStatsD(agent);
  return {
    ...metrics,
    membershipApplied(type, result, reason) {
      metrics.membershipApplied(type, result, reason);
      if (type === 'CANCEL' && result === 'changed') count(CANCELLED);
    },
  };
}

/** Fire and forget: a count that is lost harms nobody, and an agent that is away must not hold anything up. */
function dogStatsD({ host, port = PORT }: { host: string; port?: number }): (name: string) => void {
  const socket = createSocket('udp4');
  socket.on('error', () => undefined);
  socket.unref();
  return (name) => socket.send(`${name}:1|c`, port, host, () => undefined);
}
