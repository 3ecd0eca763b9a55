import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LiveHub } from '../../../dashboard/live.ts';
import { ManualTimer } from '../lock/manual-timer.ts';

const LOOK_MS = 2_000;
const SESSION_MS = 5_000;

/** A response of the real kind that has no connection: nobody reads what is written, so it never closes. */
const unread = (): Response => new ServerResponse(new IncomingMessage(new Socket())) as unknown as Response;

function stage(text: () => string = () => 'x') {
  const timer = new ManualTimer();
  const failures: unknown[] = [];
  const render = vi.fn(() => Promise.resolve({ part: text() }));
  const hub = new LiveHub({ timer, render, onFailure: (error) => failures.push(error) });
  return { timer, failures, render, hub };
}

afterEach(() => void vi.useRealTimers());

describe('who listens and does not read', () => {
  it('is written to no more once the session has ended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { timer, failures, hub } = stage();
    const response = unread();
    const write = vi.spyOn(response, 'write');
    hub.listen(response, ['today'], SESSION_MS);
    await timer.advance(LOOK_MS);
    expect(write.mock.calls.length).toBeGreaterThan(1);
    vi.advanceTimersByTime(SESSION_MS);
    write.mockClear();
    await timer.advance(2 * LOOK_MS);
    expect(write).not.toHaveBeenCalled();
    expect(failures).toEqual([]);
  });

  it('is let go with all that it has not read, and makes room for others', async () => {
    const { timer, render, hub } = stage(() => 'x'.repeat(1_100_000));
    const response = unread();
    hub.listen(response, ['today'], SESSION_MS);
    await timer.advance(2 * LOOK_MS);
    expect(response.destroyed).toBe(true);
    const looks = render.mock.calls.length;
    await timer.advance(2 * LOOK_MS);
    // Nobody listens any more.
    expect(render.mock.calls.length).toBe(looks);
  });

  it('ends no process by an error of its connection', () => {
    const { failures, hub } = stage();
    const response = unread();
    hub.listen(response, ['today'], SESSION_MS);
    const error = new Error('broken');
    response.emit('error', error);
    expect(failures).toEqual([error]);
    hub.close();
  });
});
