import type { Instant } from '../../src/domain/instant.ts';
import type { Change } from './changes.ts';
import { byMember } from './changes.ts';
import type { Month } from './months.ts';

export const STANDINGS = ['active', 'leaving', 'paused', 'gone'] as const;
export type Standing = (typeof STANDINGS)[number];

export type MonthOfMembers = { readonly month: Month } & Readonly<Record<Standing, number>>;

export interface MonthEnd {
  readonly month: Month;
  /** The first moment that is no more of it. */
  readonly end: Instant;
}

/** How the members stood at the end of each month, as far as their billing records tell. */
export function membersByMonth(changes: readonly Change[], ends: readonly MonthEnd[]): MonthOfMembers[] {
  const members = [...byMember(changes).values()];
  return ends.map(({ month, end }) => {
    const standings = members.map((history) => standingAt(history, end));
    const count = (wanted: Standing): number => standings.filter((standing) => standing === wanted).length;
    return {
      month,
      active: count('active'),
      leaving: count('leaving'),
      paused: count('paused'),
      gone: count('gone'),
    };
  });
}

/** Null: not a member yet. */
function standingAt(history: readonly Change[], end: Instant): Standing | null {
  const newest = new Map<string, Change>();
  for (const change of history) if (change.at < end) newest.set(change.subscriptionId, change);
  const records = [...newest.values()];
  if (records.length === 0) return null;
  const upcoming = records.find(({ status }) => status === 'SCHEDULED' || status === 'PAUSED');
  if (upcoming === undefined) return 'gone';
  if (upcoming.updatedEvent === 'PENDING_CANCELLATION') return 'leaving';
  return upcoming.status === 'PAUSED' ? 'paused' : 'active';
}
