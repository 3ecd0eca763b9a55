import { describe, expect, it } from 'vitest';
import { RememberingLocks } from '../../../src/adapters/lock/remembering-locks.ts';
import { LEASE_MS, lockBench, newKey } from './lock-bench.ts';

const bench = lockBench();
const GRACE_MS = 5_000;

describe('whoever comes by again and again', () => {
  it('takes a lock over whose holder has died, at a later visit', async () => {
    const key = newKey();
    const dead = bench.contender();
    await dead.lock(key);
    const janitor = bench.contender();
    const locks = new RememberingLocks(janitor.locks, janitor.timer);
    expect(await locks.acquire(key)).toHaveProperty('busy');
    await janitor.timer.advance(LEASE_MS + GRACE_MS - 100);
    expect(await locks.acquire(key)).toHaveProperty('busy');
    await janitor.timer.advance(200);
    expect(await locks.acquire(key)).toHaveProperty('lock');
    await locks.close();
  });

  it('leaves a holder alone who gives signs of life', async () => {
    const key = newKey();
    const alive = bench.contender();
    const janitor = bench.contender();
    const locks = new RememberingLocks(janitor.locks, janitor.timer);
    for (let visit = 0; visit < 3; visit += 1) {
      const lock = await alive.lock(key);
      expect(await locks.acquire(key)).toHaveProperty('busy');
      await lock.release();
      await janitor.timer.advance(LEASE_MS + GRACE_MS + 100);
    }
    await alive.lock(key);
    expect(await locks.acquire(key)).toHaveProperty('busy');
    await locks.close();
  });
});
