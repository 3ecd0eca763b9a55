import { beforeEach, describe, expect, it } from 'vitest';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { watchHealth } from '../../../src/wiring/health.ts';
import { ManualTimer } from '../lock/manual-timer.ts';

let timer: ManualTimer;
let asked: number;
let answer: () => Promise<unknown>;

beforeEach(() => {
  timer = new ManualTimer();
  asked = 0;
  answer = async () => 'here';
});

const countedAnswer = (): Promise<unknown> => {
  asked += 1;
  return answer();
};
const health = () => watchHealth({ needed: { store: countedAnswer } }, { log: NO_LOG, timer });

const READY = { status: 'ready', checks: { store: 'up' } };
const NOT_READY = { status: 'not ready', checks: { store: 'down' } };

describe('health', () => {
  it('is asked after once, however many probe within a second', async () => {
    const probe = health();
    expect(await Promise.all(Array.from({ length: 50 }, probe))).toEqual(Array(50).fill(READY));
    await timer.advance(999);
    await probe();
    expect(asked).toBe(1);
    await timer.advance(1);
    await probe();
    expect(asked).toBe(2);
  });

  it('is told in two seconds when nobody answers, and asked after once meanwhile', async () => {
    answer = () => new Promise(() => undefined);
    const probe = health();
    const told = [probe(), probe()];
    await timer.advance(1_500);
    told.push(probe());
    expect(asked).toBe(1);
    await timer.advance(500);
    expect(await Promise.all(told)).toEqual([NOT_READY, NOT_READY, NOT_READY]);
  });

  it('is looked at anew after a failure, and leaves no sleeper behind', async () => {
    answer = () => Promise.reject(new Error('away'));
    const probe = health();
    expect(await probe()).toEqual(NOT_READY);
    answer = async () => 'back';
    expect(await probe()).toEqual(NOT_READY);
    await timer.advance(1_000);
    expect(await probe()).toEqual(READY);
    expect(timer.sleeping).toBe(0);
  });

  it('is degraded without what only helps', async () => {
    const away = () => Promise.reject(new Error('away'));
    const leanings = { needed: { store: countedAnswer }, helpful: { cache: away } };
    expect(await watchHealth(leanings, { log: NO_LOG, timer })()).toEqual({
      status: 'degraded',
      checks: { store: 'up', cache: 'down' },
    });
  });
});
