import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plusMs } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';

let system: Pipeline;

beforeAll(async () => {
  system = await pipeline({ COLLECTION_CONCURRENCY: '2' });
});
afterAll(() => system.close());

/** Everything that is stored about a member, as it is. */
const everything = async (
  { userId, subscriptionId }: StoredSubscription,
  triggerId: string,
): Promise<string> => {
  const query = { userId, subscriptionId, triggerId, accountId: null };
  const { state, ...background } = await system.here.dependencies.pipeline.readBackground(query);
  const rows = (await system.here.partition(userId)).map(({ row }) => row);
  const history = await system.here.store.historyRows(userId);
  // When it was asked for is all that may differ.
  return inspect([rows, history, background, { ...state, askedAtMs: 0 }], { depth: null });
};

/** The times of day of two tests must differ: a run is its process and its tick. */
let ticks = 0;

describe.each([
  ['before it sends the charge', 'intent-written'],
  ['after it sent the charge', 'charged'],
] as const)('a worker that falls asleep past its lease %s', (_, step) => {
  it('finds on waking that another has finished, and none of its writes is accepted', async () => {
    const [record] = await system.members(1);
    const { userId } = record!;
    const sleeper = await system.worker({ crashPoints: [{ step, userId, signal: 'SIGSTOP' }] });
    const { runId } = await system.start('scheduled', plusMs(TICK, (ticks += 1) * 1_000));
    await sleeper.reached;

    const other = await system.worker();
    const { report } = await system.over(runId);
    expect(report).toMatchObject({ records: 1, byVerdict: { collected: { count: 1 } } });
    const before = await everything(record!, runId);

    sleeper.signal('SIGCONT');
    await eventually('the sleeper finds out', () => /lock-lost|lease-too-short/.test(sleeper.output()));
    expect(await sleeper.stop()).toBe(0);
    expect(await other.stop()).toBe(0);

    expect(await everything(record!, runId)).toBe(before);
    expect(await debitsOf(system.here, [record!])).toEqual([1]);
    expect(await system.audit()).toEqual([]);
  });
});
