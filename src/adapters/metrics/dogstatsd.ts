import { StatsD } from 'hot-shots';
import type { Metrics } from '../../ports/metrics.ts';

/** Where Datadog's agent listens. */
const PORT = 8125;

/** The name that dashboards of the memberships Lambda know. */
const CANCELLED = 'memberships.user.cancelled';

const MS_PER_SECOND = 1_000;

/** What is told as it happens. The others answer a scrape. */
type Told = Omit<Metrics, 'onQueueDepth' | 'text' | 'contentType'>;

/** The same metrics, and to Datadog's agent as well. */
export function alsoToDatadog(
  metrics: Metrics,
  { host, port = PORT }: { host: string; port?: number },
): Metrics {
  // Fire and forget: a lost count does no harm, and an agent that is away must not hold anything up.
  const agent = new StatsD({ host, port, errorHandler: () => undefined });
  agent.socket.unref();
  return { ...metrics, ...both(metrics, toldTo(agent)) };
}

/** Under the names of the registry, with dots. A reason is no tag: each costs money there. */
const toldTo = (agent: StatsD): Told => ({
  verdict: (path, verdict) => agent.increment('collections.verdicts', { path, verdict }),
  attempt: (rail, result) => agent.increment('collections.attempts', { rail, result }),
  job: (queue, end, seconds) =>
    agent.distribution('collections.job.duration_ms', seconds * MS_PER_SECOND, { queue, end }),
  httpRequest: ({ method, route, status }, seconds) =>
    agent.distribution('collections.http.request.duration_ms', seconds * MS_PER_SECOND, {
      method,
      route,
      status: String(status),
    }),
  lockBusy: (path) => agent.increment('collections.lock.busy', { path }),
  processorBreaker: (state) => agent.gauge('collections.processor.breaker.open', state === 'open' ? 1 : 0),
  runStopped: (process) => agent.increment('collections.runs.stopped', { process }),
  runFinished: (process, seconds) =>
    agent.distribution('collections.run.duration_ms', seconds * MS_PER_SECOND, { process }),
  runUnderWay: (process, ms) => agent.gauge('collections.run.under_way_ms', ms, { process }),
  membershipApplied(type, result) {
    agent.increment('collections.membership.events', { type, result });
    if (type === 'CANCEL' && result === 'changed') agent.increment(CANCELLED);
  },
  gatewayEvent: (gateway, result) => agent.increment('collections.gateway.events', { gateway, result }),
  floatOverpaid: () => agent.increment('collections.floats.overpaid', {}),
  subscriptionOverpaid: () => agent.increment('collections.subscriptions.overpaid', {}),
  achReturnRate(name, rate) {
    if (rate !== null) agent.gauge('collections.ach.return_rate', rate, { class: name });
  },
  streamRecord: (stream, fate) => agent.increment('collections.stream.records', { stream, fate }),
  streamLag(stream, shard, lagMs) {
    if (lagMs !== null) agent.gauge('collections.stream.lag_ms', lagMs, { stream, shard });
  },
  inboxOldest: (stream, ms) => agent.gauge('collections.inbox.oldest_ms', ms, { stream }),
  quarantineSize: (events) => agent.gauge('collections.quarantine.events', events),
  refundsRefused: (payments) => agent.gauge('collections.refunds.refused', payments),
});

/** Whatever is told goes to both: nothing can be added to one and be forgotten in the other. */
function both(one: Told, other: Told): Told {
  const names = Object.keys(other) as (keyof Told)[];
  const tell = (name: keyof Told, listener: Told) => listener[name] as (...what: readonly unknown[]) => void;
  const told = names.map((name) => [
    name,
    (...what: readonly unknown[]): void => {
      tell(name, one)(...what);
      tell(name, other)(...what);
    },
  ]);
  return Object.fromEntries(told) as Told;
}
