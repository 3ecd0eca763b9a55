import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/read-config.ts';
import * as sections from '../../../src/config/sections.ts';
import { instantFromMs } from '../../../src/domain/instant.ts';
import { storesOn } from '../../../src/wiring/stores.ts';
import type { Fault } from '../../support/dynamo-faults.ts';
import { fail, injectFaults, throttled } from '../../support/dynamo-faults.ts';
import { notedLog } from '../../support/noted-log.ts';
import { ManualTimer } from '../lock/manual-timer.ts';

/** No server: every request is taken, whatever it says. */
const taken: Fault = () => Promise.resolve({ response: {}, output: { $metadata: {} } });

const KEY = 'subscription-billing:user_id:user-1';
const { dynamodb, lock, janitor } = sections;
const settings = readConfig({}, { dynamodb, lock, janitor });

function stores() {
  const client = new DynamoDBClient({ region: 'us-east-1' });
  const faults = injectFaults(client);
  const timer = new ManualTimer();
  const { log, lines } = notedLog();
  let ids = 0;
  const { locks } = storesOn(
    settings,
    { now: () => instantFromMs(0) },
    { client, timer, random: () => 0, ids: () => `id-${(ids += 1)}`, epochSeconds: () => 0, log },
  );
  const told = () =>
    lines.filter(({ level }) => level !== 'debug').map(({ level, message }) => `${level}: ${message}`);
  return { faults, timer, locks, lines, told };
}

describe('the stores', () => {
  it('tell the log of a heartbeat that failed, and of a lock that is lost', async () => {
    const { faults, timer, locks, lines, told } = stores();
    faults.script('PutItemCommand', taken);
    faults.script('UpdateItemCommand', fail(throttled()), { times: Infinity });
    await locks.acquire(KEY);
    await timer.advance(settings.lock.LOCK_LEASE_MS);
    expect(new Set(told())).toEqual(new Set(['warn: lock heartbeat-failed', 'warn: lock lost']));
    expect(lines.at(-1)?.fields).toMatchObject({
      lock: { key: KEY, reason: 'its lease is nearly over and could not be renewed' },
    });
  });

  it('tell the log who could not give a lock back', async () => {
    const { faults, timer, locks, told } = stores();
    faults.script('PutItemCommand', taken);
    faults.script('UpdateItemCommand', fail(throttled()), { times: Infinity });
    const outcome = await locks.acquire(KEY);
    if (!('lock' in outcome)) throw new Error('busy');
    const released = outcome.lock.release();
    await timer.advance(10_000);
    await released;
    expect(told()).toEqual(['warn: lock release-failed']);
  });

  it('tell the log of a lock that was taken over from somebody dead, and of nothing else that is usual', async () => {
    const { faults, timer, locks, told } = stores();
    const busy = new ConditionalCheckFailedException({
      message: 'refused',
      $metadata: {},
      Item: {
        ownerName: { S: 'dead' },
        recordVersionNumber: { S: 'version' },
        leaseDuration: { S: '20s' },
      },
    });
    faults.script('PutItemCommand', fail(busy), { times: 2 });
    faults.script('PutItemCommand', taken, { times: Infinity });
    faults.script('UpdateItemCommand', taken, { times: Infinity });
    await locks.acquire(KEY);
    await timer.advance(60_000);
    const outcome = await locks.acquire(KEY);
    if (!('lock' in outcome)) throw new Error('busy');
    await outcome.lock.release();
    expect(told()).toEqual(['info: lock taken-over']);
  });
});
