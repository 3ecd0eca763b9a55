import type { OwnedUsers } from '../domain/ownership.ts';
import type { Instant } from '../domain/instant.ts';
import type { InboxEvent, Quarantined } from '../ports/inbox.ts';
import { readEvent } from './bridge/read-event.ts';

/** An event, or why it is still none. */
export type ReadAgain = { readonly event: InboxEvent } | { readonly event: null; readonly reason: string };

/** Reads what is in quarantine as the bridge would if it came now: our reading of it may have been mended meanwhile. */
export function readAgain(
  { event, raw, cut, stream, shardId, sequence }: Quarantined,
  now: { readonly owned: OwnedUsers; readonly receivedAt: Instant },
): ReadAgain {
  if (event !== null) return { event };
  if (raw === null || cut) return { event: null, reason: 'it was too large to be kept whole' };
  const read = readEvent({ stream, shardId, sequence }, Buffer.from(raw, 'base64'), now);
  if (read.fate === 'stored') return { event: read.event };
  return { event: null, reason: read.fate === 'quarantined' ? read.reason : read.fate };
}
