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
