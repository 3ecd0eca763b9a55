import { describe, expect, it } from 'vitest';
import { waitForRequest } from '../../../src/app/wait-for-request.ts';
import type { CollectionRequest } from '../../../src/ports/requests.ts';
import { at } from '../../support/records.ts';

const accepted: CollectionRequest = {
  requestId: 'pay.1',
  path: 'MANUAL_REPAYMENT',
  userId: 'user-1' as never,
  subscriptionId: 'sub-1' as never,
  by: 'a test',
  acceptedAt: at('2026-11-16T08:00:00Z'),
  generation: 0,
  status: 'accepted',
  outcome: null,
};
const ended: CollectionRequest = {
  ...accepted,
  status: 'done',
  outcome: { verdict: 'collected', reason: 'PINLESS' },
};

/** A worker that is done after so many looks, and time that passes only while somebody sleeps. */
function waiting(looksUntilDone: number, onSleep: (sleeps: number) => void = () => undefined) {
  const slept: number[] = [];
  let looks = 0;
  const dependencies = {
    requests: { get: () => Promise.resolve((looks += 1) >= looksUntilDone ? ended : accepted) },
    pipeline: { readBackground: () => Promise.reject(new Error('nobody asks')) },
    timer: {
      elapsedMs: () => slept.reduce((sum, ms) => sum + ms, 0),
      sleep: (ms: number, signal?: AbortSignal) => {
        slept.push(ms);
        onSleep(slept.length);
        return signal?.aborted === true ? Promise.reject(new Error('gone')) : Promise.resolve();
      },
    },
  };
  const wait = (request: CollectionRequest, forMs: number, gone = new AbortController().signal) =>
    waitForRequest(dependencies, request, { forMs, gone });
  return { wait, slept };
}

describe('waiting for a request', () => {
  it('ends with its outcome, and looks less often as time goes on', async () => {
    const { wait, slept } = waiting(7);
    expect(await wait(accepted, 30_000)).toBe(ended);
    expect(slept).toEqual([50, 100, 200, 400, 500, 500, 500]);
  });

  it('ends when the time is over, to the millisecond', async () => {
    const { wait, slept } = waiting(Infinity);
    expect(await wait(accepted, 1_000)).toBe(accepted);
    expect(slept).toEqual([50, 100, 200, 400, 250]);
  });

  it.each([
    [accepted, 0],
    [ended, 10_000],
  ])('is over at once where there is nothing to wait for', async (request, forMs) => {
    const { wait, slept } = waiting(Infinity);
    expect(await wait(request, forMs)).toBe(request);
    expect(slept).toEqual([]);
  });

  it('ends when nobody waits any more', async () => {
    const gone = new AbortController();
    const { wait, slept } = waiting(Infinity, (sleeps) => sleeps === 2 && gone.abort());
    expect(await wait(accepted, 30_000, gone.signal)).toBe(accepted);
    expect(slept).toHaveLength(2);
  });
});
