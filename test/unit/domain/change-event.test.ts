import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../../src/domain/change-event.ts';
import { changeEvent, replacedBy } from '../../../src/domain/change-event.ts';

const RAN = '2026-11-16T08:00:00.000000001Z';
const record = (fields: StoredRecord = {}): StoredRecord => ({
  user_id: 'user-1',
  subscription_id: 'sub-1',
  billing_date: '2026-11-16T06:00:00Z',
  last_run_date: RAN,
  updated_event: '',
  ...fields,
});
const typeOf = (before: StoredRecord | null, after: StoredRecord) => changeEvent(before, after)?.type;

describe('the event of a change', () => {
  it('carries the record as it is stored', () => {
    const after = record({ billing_status: 'SCHEDULED', from_a_newer_service: { deep: [1, null] } });
    expect(changeEvent(null, after)).toEqual({
      id: `sub-1${RAN}`,
      type: 'subscription-updated',
      source: 'SubscriptionService',
      data: after,
    });
  });

  it('is of the type that this change set', () => {
    expect(typeOf(record(), record({ updated_event: 'SUB_PAUSED' }))).toBe('SUB_PAUSED');
    expect(typeOf(record({ updated_event: 'SUB_PAUSED' }), record({ updated_event: 'UNPAUSE' }))).toBe(
      'UNPAUSE',
    );
    expect(typeOf(null, record({ updated_event: 'pause-skipped' }))).toBe('pause-skipped');
  });

  it('is a plain update when an earlier change set it, and when this one cleared it', () => {
    const set = record({ updated_event: 'SUB_PAUSED' });
    expect(typeOf(set, { ...set, billing_status: 'PAUSED' })).toBe('subscription-updated');
    expect(typeOf(set, record())).toBe('subscription-updated');
  });

  it.each([undefined, null, ''])('takes %s for no updated_event', (nothing) => {
    expect(typeOf(record({ updated_event: nothing }), record())).toBe('subscription-updated');
    expect(typeOf(record(), record({ updated_event: nothing }))).toBe('subscription-updated');
    expect(typeOf(record({ updated_event: nothing }), record({ updated_event: 'UNPAUSE' }))).toBe('UNPAUSE');
  });

  it('is made of a row that we could not read, as long as it has ids', () => {
    const odd = record({ billing_status: 17, last_run_date: null, updated_event: ['?'] });
    expect(changeEvent(null, odd)).toMatchObject({ id: 'sub-1', type: 'subscription-updated', data: odd });
    expect(changeEvent(null, record({ subscription_id: '' }))).toBeNull();
    expect(changeEvent(null, record({ subscription_id: 7 }))).toBeNull();
    expect(changeEvent(null, record({ user_id: null }))).toBeNull();
  });

  it('says every updated_event as often as it was set', () => {
    const values = fc.array(fc.constantFrom('', 'SUB_PAUSED', 'UNPAUSE', 'account-closed'));
    fc.assert(
      fc.property(values, (updatedEvents) => {
        const rows = updatedEvents.map((updated_event) => record({ updated_event }));
        const types = rows.map((row, index) => typeOf(rows[index - 1] ?? null, row));
        const told = types.filter((type) => type !== 'subscription-updated');
        const set = updatedEvents.filter(
          (value, index) => value !== '' && value !== updatedEvents[index - 1],
        );
        expect(told).toEqual(set);
      }),
    );
  });
});

describe('the row that an inserted one replaces', () => {
  const ran = (second: string, fields: StoredRecord = {}) =>
    record({ last_run_date: `2026-11-16T08:00:${second}Z`, ...fields });

  it('is the last one of the same subscription before it, by time and not by text', () => {
    const removed = [ran('01'), ran('02.5'), ran('02'), ran('04')];
    expect(replacedBy(ran('03'), removed)).toBe(removed[1]);
    expect(replacedBy(ran('03'), removed.toReversed())).toBe(removed[1]);
  });

  it('is none of another subscription, of another user, or of a later time', () => {
    const others = [ran('01', { subscription_id: 'sub-2' }), ran('01', { user_id: 'user-2' }), ran('03')];
    expect(replacedBy(ran('03'), others)).toBeNull();
    expect(replacedBy(ran('03', { last_run_date: 'soon' }), [ran('01')])).toBeNull();
    expect(replacedBy(ran('03'), [ran('01', { last_run_date: undefined })])).toBeNull();
  });
});
