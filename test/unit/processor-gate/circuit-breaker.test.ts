import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../src/adapters/processor-gate/circuit-breaker.ts';

let nowMs: number;
let changes: string[];
let breaker: CircuitBreaker;

beforeEach(() => {
  nowMs = 1_000;
  changes = [];
  breaker = new CircuitBreaker({
    timer: { elapsedMs: () => nowMs, sleep: () => Promise.resolve() },
    failuresToOpen: 3,
    openMs: 10_000,
    probeMs: 2_000,
    onChange: (state) => changes.push(state),
  });
});

const fail = (times: number): void => {
  for (let time = 0; time < times; time += 1) breaker.record(false);
};

describe('the breaker', () => {
  it('lets everybody through while there are answers now and then', () => {
    for (let round = 0; round < 10; round += 1) {
      fail(2);
      breaker.record(true);
    }
    expect(breaker.admit()).toBeNull();
    expect(changes).toEqual([]);
  });

  it('lets nobody through after three charges without an answer, and says how long', () => {
    fail(3);
    expect(breaker.admit()).toBe(10_000);
    nowMs += 9_999;
    expect(breaker.admit()).toBe(1);
    expect(changes).toEqual(['open']);
  });

  it('then sends one to look, and the others wait for what that one finds', () => {
    fail(3);
    nowMs += 10_000;
    expect(breaker.admit()).toBeNull();
    expect(breaker.admit()).toBe(2_000);
    breaker.record(true);
    expect(breaker.admit()).toBeNull();
    expect(breaker.admit()).toBeNull();
    expect(changes).toEqual(['open', 'closed']);
  });

  it('stays open when the one who looked got no answer either', () => {
    fail(3);
    nowMs += 10_000;
    breaker.admit();
    breaker.record(false);
    expect(breaker.admit()).toBe(10_000);
    expect(changes).toEqual(['open']);
  });

  it('sends another when the one who looked never came back', () => {
    fail(3);
    nowMs += 10_000;
    breaker.admit();
    nowMs += 2_000;
    expect(breaker.admit()).toBeNull();
  });

  it('an answer to a charge that was under way closes it', () => {
    fail(3);
    breaker.record(true);
    expect(breaker.admit()).toBeNull();
  });

  it('never shuts anybody out for longer than it says', () => {
    const events = fc.array(fc.oneof(fc.boolean(), fc.nat(15_000), fc.constant('admit' as const)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(events, (happened) => {
        for (const event of happened) {
          if (event === 'admit') breaker.admit();
          else if (typeof event === 'boolean') breaker.record(event);
          else nowMs += event;
        }
        const waitMs = breaker.admit();
        if (waitMs === null) return;
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(10_000);
        nowMs += waitMs;
        expect(breaker.admit()).toBeNull();
      }),
    );
  });
});
