import { expect, it } from 'vitest';
import type { Fault } from '../../../chaos/plan.ts';
import {
  BANK_FAULTS,
  CREW,
  LEASE_MS,
  describe as describeFault,
  drawPlan,
  kindOf,
} from '../../../chaos/plan.ts';
import { readArguments } from '../../../chaos/arguments.ts';

const DEFAULT_FAULTS = readArguments(['--seed', '1'])!.faults;

const kindsOf = (seed: number): string[] => [
  ...new Set(drawPlan(seed, DEFAULT_FAULTS).map(({ fault }) => kindOf(fault))),
];

it('has at least a hundred faults, and every kind of them, whatever the seed', () => {
  expect(DEFAULT_FAULTS).toBeGreaterThanOrEqual(100);
  const roles = ['worker', 'bridge', 'scheduler', 'API'];
  const kinds = [
    ...roles.flatMap((role) => [`${role} killed`, `${role} stopped and woken`]),
    ...['Redis killed and restarted', 'Redis flushed', 'DynamoDB paused'],
    ...BANK_FAULTS.map((fault) => `bank: ${fault}`),
  ].sort();
  for (const seed of [0, 1, 2, 4_294_967_295]) {
    expect(drawPlan(seed, DEFAULT_FAULTS)).toHaveLength(DEFAULT_FAULTS);
    expect(kindsOf(seed).sort()).toEqual(kinds);
  }
});

it('is the same for the same seed, and another for another', () => {
  expect(drawPlan(7, 50)).toEqual(drawPlan(7, 50));
  expect(drawPlan(8, 50)).not.toEqual(drawPlan(7, 50));
});

it('has as few faults as somebody wants, no two of one kind while there are others', () => {
  const kinds = drawPlan(3, 8).map(({ fault }) => kindOf(fault));
  expect(new Set(kinds).size).toBe(8);
});

it('strikes processes that there are, each of them some time', () => {
  const struck = drawPlan(5, 1_000).flatMap(({ fault }) => ('role' in fault ? [fault] : []));
  for (const { role, place } of struck)
    expect([1, CREW[role]]).toSatisfy(([least, most]) => place >= least && place <= most);
  const victims = new Set(struck.map(({ role, place }) => `${role} ${place}`));
  expect(victims.size).toBe(Object.values(CREW).reduce((sum, count) => sum + count, 0));
});

it('stops processes for longer than their leases, so that others have taken their work', () => {
  for (const { fault } of drawPlan(9, 500))
    if (fault.what === 'stopped') expect(fault.forMs).toBeGreaterThan(LEASE_MS);
});

it.each<[Fault, string]>([
  [{ what: 'killed', role: 'workers', place: 2 }, 'SIGKILL to worker 2'],
  [{ what: 'stopped', role: 'api', place: 1, forMs: 5_250 }, 'SIGSTOP to API 1 for 5.3 s'],
  [{ what: 'redis-killed', forMs: 900 }, 'SIGKILL to Redis, back after 0.9 s'],
  [{ what: 'redis-flushed' }, 'FLUSHALL'],
  [{ what: 'dynamodb-paused', forMs: 3_000 }, 'SIGSTOP to DynamoDB for 3.0 s'],
  [{ what: 'bank', fault: 'timeout-after', forMs: 3_000 }, 'the bank: timeout-after for 3.0 s'],
])('says what happens to whom: %j', (fault, text) => {
  expect(describeFault(fault)).toBe(text);
});
