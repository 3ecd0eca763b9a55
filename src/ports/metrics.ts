import type { ReturnClass } from '../domain/ach/return-rates.ts';
import type { Stage } from '../domain/floats/float.ts';
import type { MembershipEventType } from '../domain/memberships/membership-event.ts';
import type { Path } from '../domain/paths.ts';
import type { RunProcess } from '../domain/runs.ts';
import type { Rail } from '../domain/subscription.ts';
import type { VerdictName } from '../domain/verdict.ts';
import type { GatewayResult } from './gateways.ts';
import type { EventOutcome, EventStream } from './inbox.ts';
import type { Payment } from './services.ts';

/** What the processor said to a charge: a payment's status, nothing at all, or that it takes none now. */
export type AttemptResult = Payment['status'] | 'UNKNOWN' | 'NOT_TAKEN';

/** Stored in the inbox, dropped because it is not for us, or kept for somebody to look at. */
export type RecordFate = 'stored' | 'other-type' | 'not-owned' | 'quarantined';

/**
 * What became of a change of a billing record or gateway subscription: told to others, not for them or not by us, or it
 * cannot be told.
 */
export type ChangeFate = 'published' | 'removed' | 'not-owned' | 'without-ids' | 'too-large';

/** What is read record by record, and what may become of a record: events that come in, and changes that go out. */
export type Fates = Readonly<Record<EventStream, RecordFate> & Record<'billing' | 'gateways', ChangeFate>>;

/** As what a record was considered: for a collection, or for a notice about it. */
export type ConsideredAs = Path | Stage | 'NOTICE' | 'RECURRING' | 'REMINDER';

/** `put-off`: nothing went wrong, it comes again later. */
export type JobEnd = 'done' | 'put-off' | 'failed';

export interface HttpRequestEnd {
  readonly method: string;
  /** As the route is written, never as the request came: anything may stand in there. */
  readonly route: string;
  readonly status: number;
}

export interface QueueDepth {
  readonly queue: string;
  /** BullMQ's word: `waiting`, `active`, `delayed`, `failed`. */
  readonly state: string;
  readonly count: number;
}

/** What is counted, and its text for whoever scrapes it. */
export interface Metrics {
  verdict(path: ConsideredAs, verdict: VerdictName, reason: string): void;
  attempt(rail: Rail, result: AttemptResult): void;
  /** One go at a job. */
  job(queue: string, end: JobEnd, seconds: number): void;
  httpRequest(request: HttpRequestEnd, seconds: number): void;
  /** Somebody else held the user's lock: the work was put off. */
  lockBusy(path: ConsideredAs): void;
  processorBreaker(state: 'open' | 'closed'): void;
  runStopped(process: RunProcess): void;
  runFinished(process: RunProcess, seconds: number): void;
  /** For how long the oldest run of a process has been under way. 0: none is. */
  runUnderWay(process: RunProcess, ms: number): void;
  /** What came of a membership event. One that comes again counts once. */
  membershipApplied(type: MembershipEventType, result: EventOutcome['result'], reason: string): void;
  /** What an event of a payment gateway did. */
  gatewayEvent(gateway: string, result: GatewayResult): void;
  /** A member has paid for a float what was not owed. */
  floatOverpaid(): void;
  /** A member has paid twice for a period. */
  subscriptionOverpaid(): void;
  /** How much of what is debited comes back. Null: too few debits to tell. */
  achReturnRate(returnClass: ReturnClass, rate: number | null): void;
  /** What became of a record of a stream. */
  streamRecord<S extends keyof Fates>(stream: S, fate: Fates[S]): void;
  /** How far reading a shard is behind what arrives. Null: it is no longer read here. */
  streamLag(stream: keyof Fates, shardId: string, lagMs: number | null): void;
  /** How long the oldest event of a stream has waited in the inbox. 0: none waits that should not. */
  inboxOldest(stream: EventStream, ms: number): void;
  quarantineSize(events: number): void;
  /** How many payments were to go back, and nobody sends back any more. */
  refundsRefused(payments: number): void;
  /** How to learn the depths; asked at each scrape. */
  onQueueDepth(read: () => Promise<readonly QueueDepth[]>): void;
  text(): Promise<string>;
  readonly contentType: string;
}
