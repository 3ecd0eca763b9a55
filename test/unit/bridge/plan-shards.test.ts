import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { departedShards, readyShards, shareOf, startOf } from '../../../src/app/bridge/plan-shards.ts';
import type { Checkpoint } from '../../../src/ports/checkpoints.ts';
import type { Shard } from '../../../src/ports/stream-source.ts';
import { at } from '../../support/records.ts';

const shard = (shardId: string, ...parents: string[]): Shard => ({ shardId, parents });
const known = (entries: Record<string, Checkpoint>) => new Map(Object.entries(entries));
const read = (sequence: string | null, finished = false): Checkpoint => ({ sequence, finished });
const ids = (shards: readonly Shard[]) => shards.map(({ shardId }) => shardId);

describe('the shards that may be read', () => {
  const merged = [shard('a'), shard('b'), shard('c', 'a', 'b')];

  it('are the parents first', () => {
    expect(ids(readyShards(merged, known({})))).toEqual(['a', 'b']);
  });

  it('are a child of a merge only when both parents are finished', () => {
    expect(ids(readyShards(merged, known({ a: read('7', true) })))).toEqual(['b']);
    expect(ids(readyShards(merged, known({ a: read('7', true), b: read('9') })))).toEqual(['b']);
    expect(ids(readyShards(merged, known({ a: read('7', true), b: read(null, true) })))).toEqual(['c']);
  });

  it('are a child whose parent has left the stream', () => {
    expect(ids(readyShards([shard('c', 'a', 'b')], known({})))).toEqual(['c']);
    expect(ids(readyShards([shard('b'), shard('c', 'a', 'b')], known({})))).toEqual(['b']);
  });

  /** Splits and merges of open shards, in any order. */
  const reshardings = fc
    .tuple(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(fc.boolean(), fc.nat(), fc.nat()), { maxLength: 25 }),
    )
    .map(([roots, changes]) => {
      const shards: Shard[] = Array.from({ length: roots }, (_, index) => shard(`s${index}`));
      let open = ids(shards);
      const add = (...parents: string[]): void => {
        shards.push(shard(`s${shards.length}`, ...parents));
        open.push(`s${shards.length - 1}`);
      };
      for (const [isMerge, one, other] of changes) {
        const first = open[one % open.length]!;
        const second = open[other % open.length]!;
        if (isMerge && first === second) continue;
        open = open.filter((each) => each !== first && !(isMerge && each === second));
        if (isMerge) add(first, second);
        else for (let child = 0; child < 2; child += 1) add(first);
      }
      return shards;
    });

  it('lead through every tree, a parent always before its children', () => {
    fc.assert(
      fc.property(
        reshardings,
        fc.infiniteStream(fc.nat()),
        fc.infiniteStream(fc.boolean()),
        (shards, picks, leaves) => {
          const checkpoints = new Map<string, Checkpoint>();
          const over = new Set<string>();
          let listed = shards;
          while (over.size < shards.length) {
            const ready = readyShards(listed, checkpoints);
            // Somebody always has something to read, or the stream would stand still.
            expect(ready.length).toBeGreaterThan(0);
            const next = ready[picks.next().value! % ready.length]!;
            expect(over.has(next.shardId)).toBe(false);
            for (const parent of next.parents) expect(over.has(parent)).toBe(true);
            over.add(next.shardId);
            checkpoints.set(next.shardId, read('1', true));
            // Now and then what was read leaves the stream, and its checkpoint with it.
            if (leaves.next().value === true) {
              listed = listed.filter(({ shardId }) => shardId !== next.shardId);
              for (const gone of departedShards(listed, checkpoints)) checkpoints.delete(gone);
            }
          }
          expect(readyShards(listed, checkpoints)).toEqual([]);
        },
      ),
    );
  });
});

describe('where a shard is read from', () => {
  const since = { timestamp: at('2026-11-16T00:00:00Z') };
  const child = shard('c', 'a', 'b');

  it('is after its checkpoint, whatever its parents are', () => {
    expect(startOf(child, known({ c: read('5'), a: read('4', true) }), since)).toEqual({ after: '5' });
  });

  it('is its beginning when a parent was read', () => {
    expect(startOf(child, known({ a: read('4', true) }), since)).toBe('start');
    expect(startOf(child, known({ b: read('4', true) }), since)).toBe('start');
  });

  it('is where the stream was begun when nothing before it was read', () => {
    expect(startOf(shard('a'), known({}), since)).toEqual(since);
    expect(startOf(child, known({}), since)).toEqual(since);
  });

  it('is where the stream was begun when the parents had nothing for us: they may have ended long before', () => {
    expect(startOf(child, known({ a: read(null, true), b: read(null, true) }), since)).toEqual(since);
  });
});

describe('the share of one bridge', () => {
  it.each([
    [0, 1, 0],
    [4, 1, 4],
    [4, 2, 2],
    [5, 2, 3],
    [1, 3, 1],
    [4, 0, 4],
  ])('of %i shards over %i bridges is %i', (shards, bridges, share) => {
    expect(shareOf(shards, bridges)).toBe(share);
  });

  it('is enough together and never more than one too many each', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.integer({ min: 1, max: 100 }), (shards, bridges) => {
        const share = shareOf(shards, bridges);
        expect(share * bridges).toBeGreaterThanOrEqual(shards);
        expect((share - 1) * bridges).toBeLessThan(Math.max(1, shards));
      }),
    );
  });
});

it('checkpoints of shards that have left the stream are found', () => {
  const checkpoints = known({ a: read('1', true), b: read('2') });
  expect(departedShards([shard('b')], checkpoints)).toEqual(['a']);
});
