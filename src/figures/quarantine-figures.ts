import { formatInstant } from '../domain/instant.ts';
import type { Quarantined } from '../ports/inbox.ts';

/** An event in quarantine for machines. What could not be read has no type or data, and is in `raw` as base64. */
export const quarantinedFigures = ({
  quarantineId,
  stream,
  userId,
  at,
  reason,
  event,
  raw,
  cut,
}: Quarantined) => ({
  id: quarantineId,
  stream,
  at: formatInstant(at),
  reason,
  user_id: userId,
  type: event?.type ?? null,
  data: event?.data ?? null,
  raw,
  cut,
});
