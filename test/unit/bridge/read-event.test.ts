import { describe, expect, it } from 'vitest';
import { readEvent } from '../../../src/app/bridge/read-event.ts';
import type { OwnedUsers } from '../../../src/domain/ownership.ts';
import type { EventStream } from '../../../src/ports/inbox.ts';
import { EVENT_LIMITS } from '../../../src/ports/inbox.ts';
import { at } from '../../support/records.ts';

const receivedAt = at('2026-11-16T08:00:00Z');
const bytes = (content: unknown): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(JSON.stringify(content));
const EVENT = { id: 'e-1', type: 'CANCEL', source: 'UserService', data: { user_id: 'u-1', tier: 'Plus:v1' } };
const ALL: OwnedUsers = { kind: 'all' };
/** Lists within each other, within the data. */
const nested = (lists: number): string =>
  `{"id":"e","type":"CANCEL","source":"s","data":{"user_id":"u","x":${'['.repeat(lists)}${']'.repeat(lists)}}}`;

const read = (
  content: unknown,
  { stream = 'users', owned = ALL }: { stream?: EventStream; owned?: OwnedUsers } = {},
) => readEvent({ stream, shardId: 'shard-1', sequence: '42' }, bytes(content), { owned, receivedAt });

describe('a record of a stream', () => {
  it('becomes an event with its position, its user and what it carries', () => {
    expect(read(EVENT)).toEqual({
      fate: 'stored',
      event: {
        stream: 'users',
        shardId: 'shard-1',
        sequence: '42',
        userId: 'u-1',
        identity: 'e-1',
        type: 'CANCEL',
        data: { user_id: 'u-1', tier: 'Plus:v1' },
        receivedAt,
      },
    });
  });

  it.each(['UPGRADE', 'DOWNGRADE', 'AUTODOWNGRADED', 'GONETOCOLLECTIONS', 'PAYNOW', 'REACTIVATE'])(
    'of the type %s is stored too: its handler says that it does nothing',
    (type) => {
      expect(read({ ...EVENT, type }).fate).toBe('stored');
    },
  );

  it('of the payments stream is told apart by id and type together', () => {
    const identityOf = (type: string) => {
      const result = read({ ...EVENT, type }, { stream: 'payments' });
      return result.fate === 'stored' ? result.event.identity : result.fate;
    };
    expect(identityOf('SUBSCRIPTION_COMPLETED')).not.toBe(identityOf('SUBSCRIPTION_RETURNED'));
    expect(identityOf('SUBSCRIPTION_COMPLETED')).toContain('e-1');
  });

  it('of another type, or of the other stream, is dropped, whatever else it holds', () => {
    expect(read({ type: 'USER_CREATED', of: ['another', 'shape'] }).fate).toBe('other-type');
    expect(read({ ...EVENT, type: 'SUBSCRIPTION_COMPLETED' }).fate).toBe('other-type');
    expect(read(EVENT, { stream: 'payments' }).fate).toBe('other-type');
  });

  it('of a user who is not ours is dropped', () => {
    expect(read(EVENT, { owned: { kind: 'none' } }).fate).toBe('not-owned');
  });

  it.each([
    ['is not JSON', '{"id":', 'not JSON'],
    ['is empty', '', 'not JSON'],
    ['is no object', '[1,2]', 'not an event: no object'],
    ['has no type', { ...EVENT, type: undefined }, 'not an event: type'],
    ['has no id', { ...EVENT, id: '' }, 'not an event: id'],
    ['names no user', { ...EVENT, data: {} }, 'not an event: data.user_id'],
    ['has no data', { ...EVENT, data: 'x' }, 'not an event: data'],
    [
      'has half a character in its id',
      '{"type":"CANCEL","source":"s","id":"\\ud83d","data":{"user_id":"u"}}',
      'not an event: id',
    ],
    [
      'has half a character in its user',
      '{"type":"CANCEL","source":"s","id":"e","data":{"user_id":"u\\udca9"}}',
      'not an event: data.user_id',
    ],
    ['nests its data as deep as nobody writes', nested(5_000), 'nested too deeply'],
    ['nests its data a little deeper than is kept', nested(EVENT_LIMITS.dataLevels), 'nested too deeply'],
    ['has an id that fits no key', { ...EVENT, id: 'x'.repeat(600) }, 'too large'],
    [
      'has more data than the store takes',
      { ...EVENT, data: { user_id: 'u', x: 'x'.repeat(3e5) } },
      'too large',
    ],
  ])('that %s goes to quarantine', (_, content, reason) => {
    expect(read(content)).toMatchObject({ fate: 'quarantined', reason });
  });

  it.each([
    ['the user whom its data name', { ...EVENT, source: undefined }, 'u-1'],
    ['nobody where a number stands for the user', { ...EVENT, data: { user_id: 7 } }, null],
    ['nobody where the id fits no key', { ...EVENT, data: { user_id: 'u'.repeat(513) } }, null],
    ['nobody where it holds nothing', [1], null],
  ])('that cannot be read is said to be of %s', (_, content, userId) => {
    expect(read(content)).toMatchObject({ fate: 'quarantined', userId });
  });

  it('with whole characters, however rare, and lists as deep as is kept is stored', () => {
    expect(read({ ...EVENT, id: 'é💶' }).fate).toBe('stored');
    expect(read(nested(EVENT_LIMITS.dataLevels - 1)).fate).toBe('stored');
  });

  it('at which reading itself fails goes to quarantine: it must not hold up what comes behind it', () => {
    const owned = new Proxy(ALL, {
      get: () => {
        throw new RangeError('nobody thought of this');
      },
    });
    expect(read(EVENT, { owned })).toEqual({
      fate: 'quarantined',
      reason: 'not readable: RangeError',
      userId: 'u-1',
    });
  });

  it('with bytes that are no text goes to quarantine', () => {
    const position = { stream: 'users' as const, shardId: 'shard-1', sequence: '42' };
    const result = readEvent(position, new Uint8Array([0x22, 0xff, 0x22]), { owned: ALL, receivedAt });
    expect(result).toEqual({ fate: 'quarantined', reason: 'not JSON', userId: null });
  });
});
