import type { Instant } from '../../src/domain/instant.ts';
import { compareInstants } from '../../src/domain/instant.ts';

/** A row of the history of billing records, as far as it is asked about here. */
export interface Change {
  readonly userId: string;
  readonly subscriptionId: string;
  readonly status: string;
  readonly updatedEvent: string;
  readonly cause: string;
  readonly at: Instant;
}

/** Of each record, oldest first. */
export const byRecord = (changes: readonly Change[]): Map<string, Change[]> =>
  grouped(changes, ({ subscriptionId }) => subscriptionId);

/** Of each member, oldest first. */
export const byMember = (changes: readonly Change[]): Map<string, Change[]> =>
  grouped(changes, ({ userId }) => userId);

function grouped(changes: readonly Change[], keyOf: (change: Change) => string): Map<string, Change[]> {
  const groups = new Map<string, Change[]>();
  for (const change of [...changes].sort((a, b) => compareInstants(a.at, b.at))) {
    const group = groups.get(keyOf(change));
    if (group === undefined) groups.set(keyOf(change), [change]);
    else group.push(change);
  }
  return groups;
}
