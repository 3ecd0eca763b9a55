import { describe, expect, it } from 'vitest';
import { SignInGuard } from '../../../dashboard/sign-in-guard.ts';
import type { Timer } from '../../../src/ports/timer.ts';

/** Time that passes only by sleeping. */
function someTimer(): Timer & { readonly slept: number[] } {
  const slept: number[] = [];
  let nowMs = 0;
  return {
    slept,
    elapsedMs: () => nowMs,
    sleep: (ms) => {
      slept.push(ms);
      nowMs += ms;
      return Promise.resolve();
    },
  };
}

describe('signing in', () => {
  it('slows down whoever guesses, and nobody else', async () => {
    const timer = someTimer();
    const guard = new SignInGuard(timer);
    for (let guess = 0; guess < 8; guess += 1) await guard.guard('10.0.0.1', () => null);
    expect(timer.slept).toEqual([0, 0, 0, 250, 500, 1_000, 2_000, 4_000]);
    await guard.guard('10.0.0.2', () => null);
    expect(timer.slept.at(-1)).toBe(0);
  });

  it('waits at most five seconds, and forgets failures after a success', async () => {
    const timer = someTimer();
    const guard = new SignInGuard(timer);
    for (let guess = 0; guess < 20; guess += 1) await guard.guard('a', () => null);
    expect(timer.slept.at(-1)).toBe(5_000);
    expect(await guard.guard('a', () => 'jane')).toEqual({ result: 'jane' });
    await guard.guard('a', () => null);
    expect(timer.slept.at(-1)).toBe(0);
  });

  it('forgets after ten minutes', async () => {
    const timer = someTimer();
    const guard = new SignInGuard(timer);
    for (let guess = 0; guess < 6; guess += 1) await guard.guard('a', () => null);
    await timer.sleep(600_000);
    await guard.guard('a', () => null);
    expect(timer.slept.at(-1)).toBe(0);
  });

  it('answers guesses from one address one at a time, and refuses a crowd', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const guard = new SignInGuard({ elapsedMs: () => 0, sleep: () => held });
    const waiting = Array.from({ length: 5 }, () => guard.guard('a', () => null));
    expect(await guard.guard('a', () => 'jane')).toBeNull();
    release();
    await Promise.all(waiting);
    expect(await guard.guard('a', () => 'jane')).toEqual({ result: 'jane' });
  });
});
