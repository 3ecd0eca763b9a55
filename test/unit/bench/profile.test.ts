import { expect, it } from 'vitest';
import type { CpuProfile } from '../../../bench/profile.ts';
import { sharesOf } from '../../../bench/profile.ts';

const node = (id: number, url: string, functionName = 'f', children: number[] = []) => ({
  id,
  callFrame: { functionName, url },
  children,
});
const app = 'file:///somewhere/dist/';
const nodes = [
  node(1, '', '(root)', [2, 3, 4, 5, 6, 8, 9, 10]),
  node(2, '', '(idle)'),
  node(3, `${app}src/domain/decide.js`),
  node(4, `${app}src/adapters/lock/claim.js`),
  node(5, 'file:///x/node_modules/@smithy/signature-v4/index.js', 'sign', [7]),
  node(6, 'node:internal/streams/writable'),
  node(7, '', 'toString'),
  node(8, '', '(garbage collector)'),
  node(9, 'file:///x/node_modules/bullmq/dist/worker.js'),
  node(10, `${app}workers/job.js`),
];
const profile = (samples: number[], timeDeltas = samples.map(() => 1_000)): CpuProfile => ({
  nodes,
  samples,
  timeDeltas,
});

it('time is summed by the room of the code that was running, and idle time is apart', () => {
  expect(sharesOf([profile([2, 2, 3, 4, 5, 6, 8, 9, 10, 10])])).toEqual({
    idle_percent: 20,
    busy_percent: {
      workers: 25,
      'src/domain': 12.5,
      'src/adapters/lock': 12.5,
      'AWS SDK: signing': 12.5,
      'Node: HTTP, sockets, streams': 12.5,
      'garbage collection': 12.5,
      'BullMQ and ioredis': 12.5,
    },
  });
});

it('a built-in function works for whoever called it', () => {
  expect(sharesOf([profile([7, 3])]).busy_percent).toEqual({ 'AWS SDK: signing': 50, 'src/domain': 50 });
});

it('looks count by the time between them, over all profiles', () => {
  const shares = sharesOf([profile([3, 4], [3_000, 500]), profile([4], [500])]);
  expect(shares.busy_percent).toEqual({ 'src/domain': 75, 'src/adapters/lock': 25 });
});
