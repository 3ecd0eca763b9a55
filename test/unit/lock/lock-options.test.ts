import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { createLockClient } from '../../../src/adapters/lock/lock-client.ts';
import { lockPolicy, randomId, type LockClientOptions } from '../../../src/adapters/lock/lock-options.ts';
import { instantFromMs } from '../../../src/domain/instant.ts';
import { ConfigurationError } from '../../../src/errors.ts';
import { ManualTimer } from './manual-timer.ts';

const base: LockClientOptions = {
  client: new DynamoDBClient({ region: 'us-east-1' }),
  table: 'locks',
  clock: { now: () => instantFromMs(0) },
  timer: new ManualTimer(),
};

describe('lock options', () => {
  it('default to the lease and heartbeat of the Go service', () => {
    expect(lockPolicy(base)).toEqual({
      leaseMs: 60_000,
      heartbeatMs: 1_000,
      takeoverGraceMs: 5_000,
      requestTimeoutMs: 5_000,
      keepRowMs: 3_600_000,
    });
  });

  it('refuse a lease shorter than two heartbeats, and say so', () => {
    const attempt = (): unknown => createLockClient({ ...base, leaseMs: 1999, heartbeatMs: 1000 });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow('leaseMs (1999) must be at least twice heartbeatMs (1000)');
    expect(() => createLockClient({ ...base, leaseMs: 2000, heartbeatMs: 1000 })).not.toThrow();
  });

  it('refuse what is no time, and name all of it', () => {
    expect(() =>
      createLockClient({ ...base, leaseMs: 0, heartbeatMs: 0.5, requestTimeoutMs: Number.NaN }),
    ).toThrow(/leaseMs.*heartbeatMs.*requestTimeoutMs/);
    expect(() => createLockClient({ ...base, takeoverGraceMs: 0 })).not.toThrow();
  });

  it('make ids that do not repeat', () => {
    expect(new Set(Array.from({ length: 1000 }, randomId)).size).toBe(1000);
  });
});
