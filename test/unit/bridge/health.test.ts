import { describe, expect, it } from 'vitest';
import type { ShardProgress } from '../../../src/app/bridge/health.ts';
import { afterRead, beginProgress, bridgeHealth } from '../../../src/app/bridge/health.ts';

const MINUTE = 60_000;

/** Two reads a minute: the lags given, and much more in between, as a batch that has just come in shows it. */
function readings(lags: readonly number[]): ShardProgress {
  return lags.reduce(
    (progress, lagMs, minute) =>
      afterRead(afterRead(progress, lagMs + 100_000, minute * MINUTE), lagMs, minute * MINUTE + 30_000),
    beginProgress(0),
  );
}

const healthAt = (nowMs: number, progress: ShardProgress | null, roundAtMs = nowMs) =>
  bridgeHealth({ shards: new Map(progress === null ? [] : [['shard-1', progress]]), roundAtMs, nowMs });

const afterMinutes = (lags: readonly number[]) => healthAt(lags.length * MINUTE, readings(lags));

describe('a bridge', () => {
  it('that has just begun is well', () => {
    expect(healthAt(0, beginProgress(0))).toEqual({ healthy: true, problems: [] });
  });

  it('that owns no shard is well', () => {
    expect(healthAt(1e9, null).healthy).toBe(true);
  });

  it('that has not read a shard for more than a minute is not well', () => {
    expect(healthAt(60_000, beginProgress(0)).healthy).toBe(true);
    expect(healthAt(60_001, beginProgress(0)).problems).toEqual(['shard-1 could not be read']);
    const read = afterRead(beginProgress(0), 0, 50_000);
    expect(healthAt(110_000, read).healthy).toBe(true);
    expect(healthAt(110_001, read).healthy).toBe(false);
  });

  it('that cannot see the shards for more than a minute is not well', () => {
    expect(healthAt(60_000, null, 0).healthy).toBe(true);
    expect(healthAt(60_001, null, 0).problems).toEqual(['the shards could not be looked at']);
  });

  it('that falls further behind for five minutes is not well', () => {
    expect(afterMinutes([1, 2, 3, 4, 5]).healthy).toBe(true);
    expect(afterMinutes([1, 2, 3, 4, 5, 6]).problems).toEqual(['shard-1 falls behind']);
  });

  it('that is behind but catches up, or keeps its distance, is well', () => {
    expect(afterMinutes([9e6, 8e6, 7e6, 6e6, 5e6, 4e6, 3e6]).healthy).toBe(true);
    expect(afterMinutes([5, 5, 5, 5, 5, 5, 5]).healthy).toBe(true);
    expect(afterMinutes([1, 2, 3, 4, 5, 4, 5, 6, 7]).healthy).toBe(true);
  });

  it('is well again once it catches up', () => {
    expect(afterMinutes([1, 2, 3, 4, 5, 6, 7, 8]).healthy).toBe(false);
    expect(afterMinutes([1, 2, 3, 4, 5, 6, 7, 8, 2]).healthy).toBe(true);
  });
});
