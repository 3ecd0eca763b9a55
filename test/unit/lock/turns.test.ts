import { describe, expect, it } from 'vitest';
import { orAborted } from '../../../src/adapters/in-time.ts';
import { Turns } from '../../../src/adapters/lock/turns.ts';
import { nextTurn } from './manual-timer.ts';

const patient = new AbortController().signal;

function signpost(): { passed: Promise<void>; pass: () => void } {
  let pass = (): void => undefined;
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass: () => pass() };
}

describe('turns', () => {
  it('are taken one at a time, in order', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} begins`);
      await nextTurn();
      log.push(`${name} ends`);
    };
    await Promise.all([
      turns.take(work('a'), patient),
      turns.take(work('b'), patient),
      turns.take(work('c'), patient),
    ]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('give the answer of the work, or its error, and go on', async () => {
    const turns = new Turns();
    await expect(turns.take(() => Promise.reject(new Error('no')), patient)).rejects.toThrow('no');
    await expect(turns.take(() => Promise.resolve(7), patient)).resolves.toBe(7);
  });

  it('are not waited for any longer by who gave up, and the next one still waits', async () => {
    const turns = new Turns();
    const first = signpost();
    const log: string[] = [];
    const giveUp = new AbortController();
    const running = turns.take(() => first.passed.then(() => void log.push('first')), patient);
    const impatient = turns.take(() => Promise.resolve(log.push('impatient')), giveUp.signal);
    const last = turns.take(() => Promise.resolve(log.push('last')), patient);
    giveUp.abort(new Error('enough'));
    await expect(impatient).rejects.toThrow('enough');
    await nextTurn();
    expect(log).toEqual([]);
    first.pass();
    await Promise.all([running, last]);
    expect(log).toEqual(['first', 'last']);
  });

  it('are not taken at all under a signal that has aborted', async () => {
    const turns = new Turns();
    let ran = false;
    const work = (): Promise<void> => Promise.resolve(void (ran = true));
    await expect(turns.take(work, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
    expect(ran).toBe(false);
  });
});

describe('waiting or aborted', () => {
  it('passes on what comes first', async () => {
    await expect(orAborted(Promise.resolve(1), patient)).resolves.toBe(1);
    await expect(orAborted(Promise.reject(new Error('own')), patient)).rejects.toThrow('own');
    const stop = new AbortController();
    const waiting = orAborted(new Promise(() => undefined), stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });
});
