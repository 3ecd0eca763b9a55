import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../src/adapters/processor-gate/circuit-breaker.ts';
import { SharedProcessorGate } from '../../../src/adapters/processor-gate/processor-gate.ts';
import { TokenBucket } from '../../../src/adapters/processor-gate/token-bucket.ts';
import { freePort } from '../../../src/embedded/free-port.ts';
import { connectRedis } from '../../../queues/connection.ts';
import { ProcessorBusyError, ProcessorDownError } from '../../../src/errors.ts';
import type { Timer } from '../../../src/ports/timer.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';

let redis: PrivateRedis;
beforeAll(async () => {
  redis = await privateRedis();
});
afterAll(() => redis.stop());

const bucket = (key: string, ratePerS: number): TokenBucket =>
  new TokenBucket({ redis: redis.client, key, ratePerS });

describe('the rate that all workers share', () => {
  it('gives places in even steps, whoever asks', async () => {
    const workers = [bucket('even', 1), bucket('even', 1)];
    const startedMs = performance.now();
    const turns = await Promise.all(
      Array.from({ length: 50 }, (_, index) => workers[index % 2]!.take(60_000)),
    );
    const askedForMs = performance.now() - startedMs;
    expect(turns.every(({ granted }) => granted)).toBe(true);
    const waits = turns.map(({ waitMs }) => waitMs).sort((a, b) => a - b);
    // Fifty places at one a second span 49 s, less what passed while they were asked for.
    expect(waits.at(-1)! - waits[0]!).toBeGreaterThanOrEqual(49_000 - askedForMs - 2);
    expect(waits.at(-1)!).toBeLessThanOrEqual(49_001);
  });

  it('takes no place for whoever does not want to wait that long', async () => {
    // A place every thousand seconds: however long this takes, there is no second one meanwhile.
    const slow = bucket('patience', 0.001);
    expect(await slow.take(0)).toEqual({ granted: true, waitMs: 0 });
    for (let time = 0; time < 5; time += 1) expect(await slow.take(100)).toMatchObject({ granted: false });
    const { granted, waitMs } = await slow.take(2_000_000);
    expect(granted).toBe(true);
    expect(waitMs).toBeLessThanOrEqual(1_000_000);
  });
});

describe('the gate', () => {
  const never = new AbortController().signal;
  const waits: number[] = [];
  beforeEach(() => waits.splice(0));
  /** Who waits for their turn has it at once. With another signal it is the time limit of Redis, which never runs out here. */
  const timer: Timer = {
    elapsedMs: () => 0,
    sleep: (ms, signal) =>
      signal === never ? Promise.resolve(void waits.push(ms)) : new Promise<void>(() => undefined),
  };
  const gateWith = (ratePerS: number, key: string) => {
    const breaker = new CircuitBreaker({
      timer,
      failuresToOpen: 1,
      openMs: 60_000,
      probeMs: 1_000,
      onChange: () => undefined,
    });
    return { breaker, gate: new SharedProcessorGate({ breaker, bucket: bucket(key, ratePerS), timer }) };
  };

  it('turns away who would wait too long, and lets an attempt under way wait', async () => {
    // A place every 29 s: all too long for who comes in, and not for who goes on.
    const { gate } = gateWith(1 / 29, 'gate-busy');
    await gate.enter(never);
    await expect(gate.enter(never)).rejects.toThrow(ProcessorBusyError);
    expect(waits).toEqual([]);
    await expect(gate.goOn(never)).resolves.toBeUndefined();
    expect(waits).toEqual([expect.toSatisfy((ms) => ms > 1_000 && ms <= 29_000)]);
  });

  it('turns everybody away while the processor is down, but lets an attempt under way go on', async () => {
    const { gate, breaker } = gateWith(1_000, 'gate-down');
    breaker.record(false);
    const turnedAway = gate.enter(never);
    await expect(turnedAway).rejects.toThrow(ProcessorDownError);
    await expect(turnedAway).rejects.toMatchObject({ retryAfterMs: expect.any(Number) as number });
    await expect(gate.goOn(never)).resolves.toBeUndefined();
  });

  it('asks everybody to come again while Redis refuses, as while it hangs', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    const away = connectRedis({ url, whenDown: 'fail', onError: () => undefined });
    const { breaker } = gateWith(1_000, 'gate-away');
    const rate = new TokenBucket({ redis: away, key: 'gate-away', ratePerS: 1_000 });
    const gate = new SharedProcessorGate({ breaker, bucket: rate, timer });
    for (const ask of [() => gate.glance(), () => gate.enter(never), () => gate.goOn(never)])
      await expect(ask()).rejects.toThrow(ProcessorBusyError);
    away.disconnect();
  });
});
