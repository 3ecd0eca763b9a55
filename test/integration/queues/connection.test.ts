import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { becomesReady, connectRedis } from '../../../queues/connection.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import type { TcpGate } from '../../support/tcp-gate.ts';
import { tcpGate } from '../../support/tcp-gate.ts';

let server: PrivateRedis;
let gate: TcpGate;
let redis: Redis;
beforeAll(async () => {
  server = await privateRedis();
});
afterAll(() => server.stop());
afterEach(async () => {
  redis.disconnect();
  await gate.cut();
});

const connected = async (prepare: (gate: TcpGate) => unknown = () => undefined): Promise<Redis> => {
  gate = await tcpGate(server.url);
  await prepare(gate);
  redis = connectRedis({ url: gate.url, whenDown: 'fail', onError: () => undefined });
  return redis;
};

describe('a new connection', () => {
  it('takes commands once it is ready, and none before', async () => {
    const fresh = await connected();
    await expect(fresh.ping()).rejects.toThrow('enableOfflineQueue');
    expect(await becomesReady(fresh)).toBe(true);
    expect(await fresh.ping()).toBe('PONG');
    expect(await becomesReady(fresh)).toBe(true);
  });

  it('is not ready where nobody listens', async () => {
    expect(await becomesReady(await connected((each) => each.cut()))).toBe(false);
  });

  it('is not ready where nobody answers, and that is known soon', async () => {
    expect(await becomesReady(await connected((each) => each.hang()))).toBe(false);
  });
});
