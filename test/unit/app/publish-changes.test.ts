import { beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/logging/logger.ts';
import type { Deliver } from '../../../src/app/bridge/shard-reader.ts';
import type { ChangeFate } from '../../../src/app/publish-changes.ts';
import { publishChanges } from '../../../src/app/publish-changes.ts';
import type { ChangeEvent, RecordChange, StoredRecord } from '../../../src/domain/change-event.ts';
import type { OwnedUsers } from '../../../src/domain/ownership.ts';
import type { Message } from '../../../src/ports/publisher.ts';
import { at } from '../../support/records.ts';

const SHARD = 'shard-1';
let published: Message[];
let fates: ChangeFate[];
let refuses: boolean;

beforeEach(() => {
  published = [];
  fates = [];
  refuses = false;
});

const publishing = (owned: OwnedUsers = { kind: 'all' }): Deliver<RecordChange> =>
  publishChanges({
    publisher: {
      async publish(messages) {
        if (refuses) throw new Error('injected: the stream is away');
        published.push(...messages);
      },
    },
    owned,
    count: (fate) => void fates.push(fate),
    log: createLogger({ role: 'test', level: 'silent' }),
  });

const row = (second: number, fields: StoredRecord = {}): StoredRecord => ({
  user_id: 'user-1',
  subscription_id: 'sub-1',
  billing_date: '2026-11-16T06:00:00Z',
  last_run_date: `2026-11-16T08:00:0${second}Z`,
  ...fields,
});
const deliver = (to: Deliver<RecordChange>, changes: readonly [StoredRecord | null, StoredRecord | null][]) =>
  to(
    SHARD,
    changes.map(([before, after], index) => ({
      sequence: String(index + 1),
      partitionKey: null,
      data: { before, after },
      approximateArrival: at('2026-11-16T08:00:00Z'),
    })),
  );
const events = (): ChangeEvent[] => published.map(({ text }) => JSON.parse(text) as ChangeEvent);
const types = (): string[] => events().map(({ type }) => type);

describe('the changes of a batch', () => {
  it('are published in their order under the id of the user, but for removals', async () => {
    const other = row(2, { user_id: 'user-2', subscription_id: 'sub-2' });
    await deliver(publishing(), [
      [null, row(1)],
      [null, other],
      [row(1), row(3)],
      [other, null],
    ]);
    expect(published.map(({ key }) => key)).toEqual(['user-1', 'user-2', 'user-1']);
    expect(events().map(({ id }) => id)).toEqual([
      'sub-12026-11-16T08:00:01Z',
      'sub-22026-11-16T08:00:02Z',
      'sub-12026-11-16T08:00:03Z',
    ]);
    expect(fates).toEqual(['published', 'published', 'published', 'removed']);
  });

  it('of users of the other side are left out', async () => {
    await deliver(publishing({ kind: 'none' }), [[null, row(1)]]);
    expect(published).toEqual([]);
    // A user has one owner.
    await deliver(publishing({ kind: 'range', from: 0, to: 0x7fff }), [[null, row(1)]]);
    await deliver(publishing({ kind: 'range', from: 0x8000, to: 0xffff }), [[null, row(1)]]);
    expect(published).toHaveLength(1);
    expect(fates.toSorted()).toEqual(['not-owned', 'not-owned', 'published']);
  });

  it('that cannot be published hold nobody up', async () => {
    await deliver(publishing(), [
      [null, row(1, { subscription_id: null })],
      [null, row(1, { note: 'x'.repeat(1_048_576) })],
      [null, row(1, { user_id: 'u'.repeat(257) })],
      [null, row(2)],
    ]);
    expect(events().map(({ id }) => id)).toEqual(['sub-12026-11-16T08:00:02Z']);
    expect(fates).toEqual(['without-ids', 'too-large', 'too-large', 'published']);
  });

  it('that could not be published count when they are', async () => {
    const to = publishing();
    refuses = true;
    await expect(deliver(to, [[null, row(1)]])).rejects.toThrow('the stream is away');
    expect(fates).toEqual([]);
    refuses = false;
    await deliver(to, [[null, row(1)]]);
    expect(fates).toEqual(['published']);
  });
});

describe('a record that is moved to another date', () => {
  const paused = { updated_event: 'SUB_PAUSED' };
  const moved = { ...paused, billing_date: '2026-12-16T06:00:00Z' };

  it('does not say again what an earlier change set, whichever half of the move comes first', async () => {
    await deliver(publishing(), [
      [row(1, paused), null],
      [null, row(2, moved)],
    ]);
    await deliver(publishing(), [
      [null, row(2, moved)],
      [row(1, paused), null],
    ]);
    expect(types()).toEqual(['subscription-updated', 'subscription-updated']);
  });

  it('says what the move itself set', async () => {
    await deliver(publishing(), [
      [row(1, paused), null],
      [null, row(2, { ...moved, updated_event: 'UNPAUSE' })],
    ]);
    expect(types()).toEqual(['UNPAUSE']);
  });

  it('is known as moved when its halves come in two batches, also when the second is refused at first', async () => {
    const to = publishing();
    await deliver(to, [[row(1, paused), null]]);
    refuses = true;
    await expect(deliver(to, [[null, row(2, moved)]])).rejects.toThrow('the stream is away');
    refuses = false;
    await deliver(to, [[null, row(2, moved)]]);
    expect(types()).toEqual(['subscription-updated']);
  });
});
