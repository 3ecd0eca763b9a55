import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { systemTimer } from '../../../src/adapters/system-timer.ts';

describe('the system timer', () => {
  it('never wakes up early', async () => {
    const startMs = systemTimer.elapsedMs();
    await systemTimer.sleep(15);
    expect(systemTimer.elapsedMs() - startMs).toBeGreaterThanOrEqual(15);
  });

  it('wakes up with the reason when aborted, and leaves no listener', async () => {
    const stop = new AbortController();
    const sleeping = systemTimer.sleep(3_600_000, stop.signal);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    stop.abort(new Error('stop'));
    await expect(sleeping).rejects.toThrow('stop');
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  it('leaves no listener after an ordinary end', async () => {
    const stop = new AbortController();
    await systemTimer.sleep(1, stop.signal);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  it('does not begin to sleep under a signal that has aborted', async () => {
    await expect(systemTimer.sleep(3_600_000, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
  });

  it('sleeps longer than one timeout can', async () => {
    const stop = new AbortController();
    const sleeping = systemTimer.sleep(2 ** 32, stop.signal);
    const first = await Promise.race([
      sleeping.catch(() => 'woke'),
      systemTimer.sleep(20).then(() => 'asleep'),
    ]);
    expect(first).toBe('asleep');
    stop.abort(new Error('stop'));
    await expect(sleeping).rejects.toThrow('stop');
  });
});
