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

const JANE = { address: '10.0.0.1', name: 'jane' };

describe('signing in', () => {
  it('slows down whoever guesses, and nobody else', async () => {
    const timer = someTimer();
    const guard = new SignInGuard(timer);
    for (let guess = 0; guess < 8; guess += 1) await guard.guard(JANE, () => null);
    expect(timer.slept).toEqual([0, 0, 0, 250, 500, 1_000, 2_000, 4_000]);
    for (const other of [
      { ...JANE, address: '10.0.0.2' },
      { ...JANE, name: 'john' },
    ]) {
      await guard.guard(other, () => null);
      expect(timer.slept.at(-1)).toBe(0);
    }
  });

  it('slows down who tries many names from one address, and who tries one name from many', async () => {
    const timer = someTimer();
    const guard = new SignInGuard(timer);
    for (let guess = 0; guess < 40; guess += 1)
      await guard.guard({ address: 'a', name: `name-${guess}` }, () => null);
    expect(timer.slept.slice(28, 33)).toEqual([0, 0, 250, 500, 1_000]);
    expect(timer.slept.at(-1)).toBe(5_000);
    timer.slept.length = 0;
    for (let guess = 0; guess < 40; guess += 1)
      await guard.guard({ address: `address-${guess}`, name: 'jane' }, () => null);
    expect(timer.slept.slice(28, 33)).toEqual([0, 0, 250, 500, 1_000]);
    expect(timer.slept.at(-1)).toBe(2_000);
  });

  it('takes names of any length, and tells them apart by what they begin with', async () => {
    const timer = someTimer();
    const guard = new SignInGuard(timer);
    for (let guess = 0; guess < 4; guess += 1)
      await guard.guard({ address: 'a', name: 'x'.repeat(300 + guess) }, () => null);
    expect(timer.slept).toEqual([0, 0, 0, 250]);
  });

  it('waits at most five seconds, and forgets failures after a success', async () => {
    const timer = someTimer();
    const guard = new SignInGuard(timer);
    for (let guess = 0; guess < 20; guess += 1) await guard.guard(JANE, () => null);
    expect(timer.slept.at(-1)).toBe(5_000);
    expect(await guard.guard(JANE, () => 'jane')).toEqual({ result: 'jane' });
    await guard.guard(JANE, () => null);
    expect(timer.slept.at(-1)).toBe(0);
  });

  it('forgets after ten minutes', async () => {
    const timer = someTimer();
    const guard = new SignInGuard(timer);
    for (let guess = 0; guess < 6; guess += 1) await guard.guard(JANE, () => null);
    await timer.sleep(600_000);
    await guard.guard(JANE, () => null);
    expect(timer.slept.at(-1)).toBe(0);
  });

  it('answers guesses of one name from one address one at a time, and refuses a crowd', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const guard = new SignInGuard({ elapsedMs: () => 0, sleep: () => held });
    const waiting = Array.from({ length: 5 }, () => guard.guard(JANE, () => null));
    expect(await guard.guard(JANE, () => 'jane')).toBeNull();
    const john = guard.guard({ ...JANE, name: 'john' }, () => 'john');
    release();
    await Promise.all(waiting);
    expect(await john).toEqual({ result: 'john' });
    expect(await guard.guard(JANE, () => 'jane')).toEqual({ result: 'jane' });
  });

  it('refuses a crowd of many names from one address, and takes one name from many addresses', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const guard = new SignInGuard({ elapsedMs: () => 0, sleep: () => held });
    const names = Array.from({ length: 25 }, (_, i) =>
      guard.guard({ address: 'a', name: `${i}` }, () => null),
    );
    expect(await guard.guard({ address: 'a', name: 'jane' }, () => 'jane')).toBeNull();
    const addresses = Array.from({ length: 50 }, (_, i) =>
      guard.guard({ address: `address-${i}`, name: 'jane' }, () => 'jane'),
    );
    release();
    expect(await Promise.all(addresses)).toEqual(Array.from({ length: 50 }, () => ({ result: 'jane' })));
    await Promise.all(names);
  });
});
