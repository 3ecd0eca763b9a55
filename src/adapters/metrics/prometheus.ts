import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Metrics, QueueDepth } from '../../ports/metrics.ts';
import { systemTimer } from '../system-timer.ts';
import { ReasonLabels } from './reason-label.ts';

/** Redis that is away keeps a question waiting for ever; a scrape gives up after ten seconds and loses everything. */
const QUEUE_DEPTH_LIMIT_MS = 2_000;
const MS_PER_SECOND = 1_000;
/** A run takes seconds on a laptop and hours over millions of members. */
const RUN_SECONDS = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400];

/** From a no-op to a charge that is sent three times and waited for. */
const JOB_SECONDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];
/** From a look at one item to a caller who waits for a payment. */
const HTTP_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.3, 1, 3, 10, 30];

/** What every kind of metric is made with. */
interface Kit {
  readonly registers: Registry[];
  readonly reasons: ReasonLabels;
}

/** One process's metrics, in a registry of their own: a process that runs several roles hands the same one to all. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const kit = { registers: [registry], reasons: new ReasonLabels() };
  return {
    ...chargeMetrics(kit),
    ...workMetrics(kit),
    ...runMetrics(kit),
    ...eventMetrics(kit),
    ...streamMetrics(kit),
    ...attentionMetrics(kit),
    onQueueDepth: queueGauge(registry).readWith,
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** What is decided about money, and what the processor says to it. */
function chargeMetrics({
  registers,
  reasons,
}: Kit): Pick<Metrics, 'verdict' | 'attempt' | 'processorBreaker'> {
  const verdicts = new Counter({
    name: 'collections_verdicts_total',
    help: 'Records considered, by what came of it',
    labelNames: ['path', 'verdict', 'reason'],
    registers,
  });
  const attempts = new Counter({
    name: 'collections_attempts_total',
    help: 'Charges sent to the processor, by its answer',
    labelNames: ['rail', 'result'],
    registers,
  });
  const breaker = new Gauge({
    name: 'collections_processor_breaker_open',
    help: '1 while no charge is sent because the processor fails',
    registers,
  });
  return {
    verdict: (path, verdict, reason) => verdicts.inc({ path, verdict, reason: reasons.label(reason) }),
    attempt: (rail, result) => attempts.inc({ rail, result }),
    processorBreaker: (state) => breaker.set(state === 'open' ? 1 : 0),
  };
}

/** Jobs, requests, and the lock that they wait for. */
function workMetrics({ registers }: Kit): Pick<Metrics, 'job' | 'httpRequest' | 'lockBusy'> {
  const jobs = new Histogram({
    name: 'collections_job_duration_seconds',
    help: 'Goes at jobs, by how they ended',
    labelNames: ['queue', 'end'],
    buckets: JOB_SECONDS,
    registers,
  });
  const httpRequests = new Histogram({
    name: 'collections_http_request_duration_seconds',
    help: 'Requests that were answered, by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: HTTP_SECONDS,
    registers,
  });
  const lockBusy = new Counter({
    name: 'collections_lock_busy_total',
    help: 'Work put off because somebody else held the lock of the user',
    labelNames: ['path'],
    registers,
  });
  return {
    job: (queue, end, seconds) => jobs.observe({ queue, end }, seconds),
    httpRequest: ({ method, route, status }, seconds) =>
      httpRequests.observe({ method, route, status }, seconds),
    lockBusy: (path) => lockBusy.inc({ path }),
  };
}

/** Runs, from their start to their end. */
function runMetrics({ registers }: Kit): Pick<Metrics, 'runStopped' | 'runFinished' | 'runUnderWay'> {
  const runsStopped = new Counter({
    name: 'collections_runs_stopped_total',
    help: 'Runs that were stopped before their end',
    labelNames: ['process'],
    registers,
  });
  const runDuration = new Histogram({
    name: 'collections_run_duration_seconds',
    help: 'From the start of a run to its last record',
    labelNames: ['process'],
    buckets: RUN_SECONDS,
    registers,
  });
  const runUnderWay = new Gauge({
    name: 'collections_run_under_way_seconds',
    help: 'For how long the oldest run has been under way that has not ended',
    labelNames: ['process'],
    registers,
  });
  return {
    runStopped: (process) => runsStopped.inc({ process }),
    runFinished: (process, seconds) => runDuration.observe({ process }, seconds),
    runUnderWay: (process, ms) => runUnderWay.set({ process }, ms / MS_PER_SECOND),
  };
}

/** What came of the events that others send. */
function eventMetrics({
  registers,
  reasons,
}: Kit): Pick<Metrics, 'membershipApplied' | 'gatewayEvent' | 'achReturnRate'> {
  const memberships = new Counter({
    name: 'collections_membership_events_total',
    help: 'Membership events, by what came of them',
    labelNames: ['type', 'result', 'reason'],
    registers,
  });
  const gatewayEvents = new Counter({
    name: 'collections_gateway_events_total',
    help: 'Events of payment gateways, by what they did',
    labelNames: ['gateway', 'result'],
    registers,
  });
  const returnRates = new Gauge({
    name: 'collections_ach_return_rate',
    help: 'Share of the ACH debits of 60 days that came back, once there are enough to tell',
    labelNames: ['class'],
    registers,
  });
  return {
    membershipApplied: (type, result, reason) =>
      memberships.inc({ type, result, reason: reasons.label(reason) }),
    gatewayEvent: (gateway, result) => gatewayEvents.inc({ gateway, result }),
    achReturnRate(name, rate) {
      if (rate === null) returnRates.remove({ class: name });
      else returnRates.set({ class: name }, rate);
    },
  };
}

/** Streams and the inbox: what was read, and what waits. */
function streamMetrics({ registers }: Kit): Pick<Metrics, 'streamRecord' | 'streamLag' | 'inboxOldest'> {
  const streamRecords = new Counter({
    name: 'collections_stream_records_total',
    help: 'Records read from a stream, by what became of them',
    labelNames: ['stream', 'fate'],
    registers,
  });
  const streamLag = new Gauge({
    name: 'collections_stream_lag_seconds',
    help: 'How far reading a shard is behind what arrives',
    labelNames: ['stream', 'shard'],
    registers,
  });
  const inboxOldest = new Gauge({
    name: 'collections_inbox_oldest_seconds',
    help: 'How long the oldest event of a stream has waited in the inbox',
    labelNames: ['stream'],
    registers,
  });
  return {
    streamRecord: (stream, fate) => streamRecords.inc({ stream, fate }),
    streamLag: (stream, shard, lagMs) =>
      lagMs === null
        ? streamLag.remove({ stream, shard })
        : streamLag.set({ stream, shard }, lagMs / MS_PER_SECOND),
    inboxOldest: (stream, ms) => inboxOldest.set({ stream }, ms / MS_PER_SECOND),
  };
}

/** What waits for a person. */
function attentionMetrics({
  registers,
}: Kit): Pick<Metrics, 'floatOverpaid' | 'subscriptionOverpaid' | 'quarantineSize' | 'refundsRefused'> {
  const floatsOverpaid = new Counter({
    name: 'collections_floats_overpaid_total',
    help: 'Payments for floats that were not owed',
    registers,
  });
  const subscriptionsOverpaid = new Counter({
    name: 'collections_subscriptions_overpaid_total',
    help: 'Payments for periods that another payment had paid for',
    registers,
  });
  const quarantineSize = new Gauge({
    name: 'collections_quarantine_events',
    help: 'Events that wait in quarantine for somebody',
    registers,
  });
  const refundsRefused = new Gauge({
    name: 'collections_refunds_refused',
    help: 'Payments whose refund was refused; each waits for somebody',
    registers,
  });
  return {
    floatOverpaid: () => floatsOverpaid.inc(),
    subscriptionOverpaid: () => subscriptionsOverpaid.inc(),
    quarantineSize: (events) => quarantineSize.set(events),
    refundsRefused: (payments) => refundsRefused.set(payments),
  };
}

function queueGauge(registry: Registry): { readWith: Metrics['onQueueDepth'] } {
  let read: () => Promise<readonly QueueDepth[]> = async () => [];
  new Gauge({
    name: 'collections_queue_jobs',
    help: 'Jobs by queue and state',
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      // Without an answer there is no figure: yesterday's would hide that the queues cannot be seen.
      const depths = await withinLimit(read()).catch(() => []);
      this.reset();
      for (const { queue, state, count } of depths) this.set({ queue, state }, count);
    },
  });
  return {
    readWith: (how) => {
      read = how;
    },
  };
}

async function withinLimit<T>(answer: Promise<T>): Promise<T> {
  const answered = new AbortController();
  const limit = systemTimer.sleep(QUEUE_DEPTH_LIMIT_MS, answered.signal).then(() => {
    throw new Error('the queues do not answer');
  });
  return Promise.race([answer, limit]).finally(() => answered.abort());
}
