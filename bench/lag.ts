/** An event that the stream has taken. */
export interface SentEvent {
  readonly shardId: string;
  readonly sequence: string;
  readonly answeredAtMs: number;
}

/** An event that the bridge has stored; its job is made right after. */
export interface StoredEvent {
  readonly shardId: string;
  readonly sequence: string;
  readonly storedAtMs: number;
}

const placeOf = ({ shardId, sequence }: Pick<SentEvent, 'shardId' | 'sequence'>): string =>
  `${shardId}/${sequence}`;

/** How long each took to be stored, in the order in which they were sent. */
export function lagsOf(sent: readonly SentEvent[], stored: readonly StoredEvent[]): number[] {
  const storedAtMs = new Map(stored.map((event) => [placeOf(event), event.storedAtMs]));
  return sent.map((event) => {
    const atMs = storedAtMs.get(placeOf(event));
    if (atMs === undefined) throw new Error(`${placeOf(event)} was sent and is not stored`);
    return atMs - event.answeredAtMs;
  });
}

/** How many were sent to each shard. */
export function countByShard(sent: readonly SentEvent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { shardId } of sent) counts[shardId] = (counts[shardId] ?? 0) + 1;
  return counts;
}
