import type { Instant } from '../instant.ts';
import { compareInstants } from '../instant.ts';
import type { GatewayStatus } from './status.ts';

/** Where a word stands in the order of a subscription's words: by the gateway's clock, never by when it came here. */
export interface Mark {
  readonly at: Instant;
  /** Where the word leads. */
  readonly status: GatewayStatus;
  /** The event's identity. */
  readonly by: string;
}

/** Of words of the same moment the later one in a subscription's life counts. */
const RANK: Readonly<Record<GatewayStatus, number>> = {
  pending: 0,
  trial: 1,
  active: 2,
  past_due: 3,
  cancelled: 4,
  expired: 5,
};

/** A total order: whatever order events come in, the same one is the newest. */
function compareMarks(a: Mark, b: Mark): number {
  const byTime = compareInstants(a.at, b.at) || RANK[a.status] - RANK[b.status];
  if (byTime !== 0) return byTime;
  return a.by < b.by ? -1 : a.by > b.by ? 1 : 0;
}

export const isOlder = (mark: Mark, than: Mark | null | undefined): boolean =>
  than !== null && than !== undefined && compareMarks(mark, than) < 0;
