/** What is known of a shard that this bridge reads, by elapsed time. */
export interface ShardProgress {
  /** When reading began, then of each successful read. */
  readonly readAtMs: number;
  /** The least lag of each minute in which the shard was read, the oldest first. */
  readonly leastLags: readonly MinuteLag[];
}

interface MinuteLag {
  readonly minute: number;
  readonly leastMs: number;
}

/** After this long without a successful read a shard counts as unread; the same for the bridge's look at the shards. */
const SILENT_MS = 60_000;
/** A burst is caught up with sooner. */
const GROWING_MINUTES = 5;
const MINUTE_MS = 60_000;

export const beginProgress = (nowMs: number): ShardProgress => ({ readAtMs: nowMs, leastLags: [] });

/** The least of a minute, because a lag swings with every batch. */
export function afterRead(before: ShardProgress, lagMs: number, nowMs: number): ShardProgress {
  const minute = Math.floor(nowMs / MINUTE_MS);
  const earlier = before.leastLags.filter((each) => each.minute !== minute);
  const thisMinute = before.leastLags.find((each) => each.minute === minute);
  const leastMs = Math.min(lagMs, thisMinute?.leastMs ?? Infinity);
  return { readAtMs: nowMs, leastLags: [...earlier, { minute, leastMs }].slice(-GROWING_MINUTES - 1) };
}

export interface Health {
  readonly healthy: boolean;
  /** One line for each thing that is wrong. */
  readonly problems: readonly string[];
}

export interface HealthQuestion {
  readonly shards: ReadonlyMap<string, ShardProgress>;
  /** When the bridge last saw the stream's shards and which other bridges read them. */
  readonly roundAtMs: number;
  readonly nowMs: number;
}

/** A bridge that owns nothing is well as long as it can look for shards. */
export function bridgeHealth({ shards, roundAtMs, nowMs }: HealthQuestion): Health {
  const problems: string[] = [];
  if (nowMs - roundAtMs > SILENT_MS) problems.push('the shards could not be looked at');
  for (const [shardId, { readAtMs, leastLags }] of shards) {
    if (nowMs - readAtMs > SILENT_MS) problems.push(`${shardId} could not be read`);
    if (hasGrown(leastLags)) problems.push(`${shardId} falls behind`);
  }
  return { healthy: problems.length === 0, problems };
}

const hasGrown = (lags: readonly MinuteLag[]): boolean =>
  lags.length > GROWING_MINUTES &&
  lags.every(({ leastMs }, index) => index === 0 || leastMs > (lags[index - 1]?.leastMs ?? Infinity));
