import { describe, expect, it } from 'vitest';
import { Turns } from '../../../workers/turns.ts';

const deferred = () => {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
};

describe('turns', () => {
  it('are taken one after the other by one user, and at once by two', async () => {
    const turns = new Turns();
    const seen: string[] = [];
    const first = deferred();
    const one = turns.take('a', async () => {
      seen.push('a1');
      await first.promise;
    });
    const two = turns.take('a', async () => void seen.push('a2'));
    await turns.take('b', async () => void seen.push('b1'));
    expect(seen).toEqual(['a1', 'b1']);
    first.resolve();
    await Promise.all([one, two]);
    expect(seen).toEqual(['a1', 'b1', 'a2']);
  });

  it('go on after one that failed, who alone hears of it', async () => {
    const turns = new Turns();
    const failing = turns.take('a', () => Promise.reject(new Error('mine')));
    const next = turns.take('a', () => Promise.resolve('fine'));
    await expect(failing).rejects.toThrow('mine');
    expect(await next).toBe('fine');
  });
});
