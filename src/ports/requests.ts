import type { Instant } from '../domain/instant.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { PageKey } from './subscriptions.ts';

/** The paths that somebody asks for. Runs have a record of their own. */
export const REQUEST_PATHS = [
  'MANUAL_REPAYMENT',
  'BATCH',
  'WEBHOOK',
  'WEBHOOK_BALANCE',
  'FLOAT_PAYBACK',
  'FLOAT_WEBHOOK',
] as const;
export type RequestPath = (typeof REQUEST_PATHS)[number];

/** What somebody wants collected. The id is the trigger of whatever is attempted for it. */
export interface CollectionOrder {
  readonly requestId: string;
  readonly path: RequestPath;
  readonly userId: UserId;
  /** The record that it is about, also where that is a float: then with its kind in front. */
  readonly subscriptionId: SubscriptionId;
  /** The person or program that asked. */
  readonly by: string;
}

export type RequestOutcome = Pick<Verdict, 'verdict' | 'reason'>;

/** An order that we have promised to carry out. `failed`: the job gave up, and its reason is the outcome. */
export interface CollectionRequest extends CollectionOrder {
  readonly acceptedAt: Instant;
  /** How often it was handed to the workers anew. A job is named by the request and this. */
  readonly generation: number;
  readonly status: 'accepted' | 'done' | 'failed';
  readonly outcome: RequestOutcome | null;
}

export interface RequestPage {
  readonly requests: readonly CollectionRequest[];
  /** Items that cannot be read. They are reported and the sweep goes on. */
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** Accepted requests: the record of what was promised. Jobs are only hints that can be written again from it. */
export interface RequestStore {
  /** False when there is one by that id. */
  add(request: CollectionRequest): Promise<boolean>;
  /** Consistent. */
  get(requestId: string): Promise<CollectionRequest | null>;
  /** Stores how it ended, once. False when it has ended already. */
  close(
    request: CollectionRequest,
    end: { readonly status: 'done' | 'failed'; readonly outcome: RequestOutcome; readonly at: Instant },
  ): Promise<boolean>;
  /** Accepted requests that should have been carried out by then. Eventually consistent. */
  due(asOf: Instant, key: PageKey | null): Promise<RequestPage>;
  /** The next generation, for one sweeper only: null when another took it or the request has ended. */
  handOverAgain(request: CollectionRequest, now: Instant): Promise<CollectionRequest | null>;
}
