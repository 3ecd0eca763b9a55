import { expect, it } from 'vitest';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import type { ReceiveDependencies } from '../../../src/app/bridge/receive-events.ts';
import { receiveEvents } from '../../../src/app/bridge/receive-events.ts';
import type { InboxEvent } from '../../../src/ports/inbox.ts';
import { at } from '../../support/records.ts';

const NOW = at('2026-11-16T08:00:00Z');
const record = (sequence: string, text: string) => ({
  sequence,
  partitionKey: null,
  data: Buffer.from(text),
  approximateArrival: NOW,
});
const EVENT = JSON.stringify({ id: 'e-1', type: 'CANCEL', source: 'test', data: { user_id: 'user-1' } });

it('a record that cannot be read is of the user whom it names, or else of its key', async () => {
  const kept: unknown[] = [];
  const deliver = receiveEvents(
    {
      inbox: {
        store: () => Promise.resolve(),
        quarantineRaw: async (unreadable, _, reason) => void kept.push([unreadable.userId, reason]),
      },
      clock: { now: () => NOW },
      owned: { kind: 'all' },
      enqueue: () => Promise.resolve(),
      count: () => undefined,
      log: NO_LOG,
    },
    'users',
  );
  const keyed = (partitionKey: string | null, text: string) => ({ ...record('1', text), partitionKey });
  await deliver('shard', [
    keyed('key', '{"type":"CANCEL","data":{"user_id":"named"}}'),
    keyed('key', '{"type":"CANCEL","data":{"user_id":7}}'),
    keyed('key', EVENT.slice(0, -1)),
    keyed('k'.repeat(600), EVENT.slice(0, -1)),
    keyed(null, EVENT.slice(0, -1)),
  ]);
  expect(kept).toEqual([
    ['named', 'not an event: id, source'],
    ['key', 'not an event: id, source, data.user_id'],
    ['key', 'not JSON'],
    [null, 'not JSON'],
    [null, 'not JSON'],
  ]);
});

it.each(['store', 'quarantineRaw'] as const)(
  'a batch is not taken over when `%s` fails: its records must come again',
  async (broken) => {
    const enqueued: InboxEvent[] = [];
    const inbox: ReceiveDependencies['inbox'] = {
      store: () => Promise.resolve(),
      quarantineRaw: () => Promise.resolve(),
      [broken]: () => Promise.reject(new Error('the inbox is away')),
    };
    const deliver = receiveEvents(
      {
        inbox,
        clock: { now: () => NOW },
        owned: { kind: 'all' },
        enqueue: async (events) => void enqueued.push(...events),
        count: () => undefined,
        log: NO_LOG,
      },
      'users',
    );
    const batch = [record('1', 'not an event'), record('2', EVENT)];
    await expect(deliver('shard', batch)).rejects.toThrow('the inbox is away');
    expect(enqueued).toEqual([]);
  },
);
