import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSubscription, writeSubscription } from '../../../src/adapters/dynamodb/subscription-codec.ts';
import { formatInstant } from '../../../src/domain/instant.ts';
import type { Subscription } from '../../../src/domain/subscription.ts';
import { MalformedRowError } from '../../../src/errors.ts';
import { instants, subscriptions } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

const now = at('2026-11-16T08:00:00Z');
const rows = subscriptions(now).map((record) => writeSubscription(record, null));

/** How else a row may say the same: absent, NULL or empty where nothing is set; attributes that nobody here knows. */
const spellings = fc.record({
  row: rows,
  absent: fc.subarray([
    'transaction_id',
    'usio_error',
    'receipt_account_mask',
    'updated_event',
    'process',
    'billing_week',
  ]),
  asNull: fc.subarray(['billing_period', 'receipt_tier_name', 'receipt_payment_type']),
  unknown: fc.dictionary(
    fc.stringMatching(/^x_[a-z]{1,8}$/),
    fc.constantFrom<AttributeValue>({ N: '1.50' }, { BOOL: false }, { L: [{ S: '' }] }),
  ),
});

const spelled = spellings.map(({ row, absent, asNull, unknown }) => {
  const item = { ...row, ...unknown };
  for (const name of absent) Reflect.deleteProperty(item, name);
  for (const name of asNull) item[name] = { NULL: true };
  return item;
});

describe('a row', () => {
  it('that we wrote is read as the same record', () => {
    fc.assert(
      fc.property(subscriptions(now), (record) => {
        expect(readSubscription(writeSubscription(record, null))).toEqual(record);
      }),
    );
  });

  it('that is written back unchanged keeps every byte, however it says what it says', () => {
    fc.assert(
      fc.property(spelled, (item) => {
        expect(writeSubscription(readSubscription(item), item)).toEqual(item);
      }),
    );
  });

  it('of which one field is changed keeps every other byte and reads as the changed record', () => {
    const change = fc.constantFrom<Partial<Subscription>>(
      { usioError: 'changed' },
      { billingWeek: 3 },
      { isPendingDowngrade: true },
      { pauseDurationMonths: 7 },
      { completionDate: now },
    );
    fc.assert(
      fc.property(spelled, change, (item, fields) => {
        const changed = { ...readSubscription(item), ...fields };
        const written = writeSubscription(changed, item);
        expect(readSubscription(written)).toEqual(changed);
        const differing = new Set(
          [...Object.keys(item), ...Object.keys(written)].filter(
            (name) => JSON.stringify(item[name]) !== JSON.stringify(written[name]),
          ),
        );
        expect(differing.size).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('keeps a time as Go spelled it, with any fraction and offset', () => {
    fc.assert(
      fc.property(
        rows,
        instants(at('2000-01-01T00:00:00Z'), at('2100-01-01T00:00:00Z')),
        fc.constantFrom('Z', '+00:00', '-05:00'),
        (row, instant, zone) => {
          const item = { ...row, created_date: { S: formatInstant(instant).replace('Z', zone) } };
          expect(
            writeSubscription({ ...readSubscription(item), usioError: 'x' }, item)['created_date'],
          ).toEqual(item.created_date);
        },
      ),
    );
  });

  it('with a process that nobody here knows is read, and keeps it', () => {
    const [row] = fc.sample(rows, 1);
    const item = { ...row!, process: { S: 'QUANTUM' } };
    const record = readSubscription(item);
    expect(record.process).toBe('NOT_IDENTIFIED');
    expect(writeSubscription({ ...record, usioError: 'x' }, item)['process']).toEqual({ S: 'QUANTUM' });
  });

  it.each<[string, AttributeValue | undefined, RegExp]>([
    ['user_id', undefined, /user_id is missing/],
    ['subscription_id', { S: '' }, /subscription_id is missing/],
    ['billing_date', { S: '2026-02-30T06:00:00Z' }, /billing_date is "2026-02-30T06:00:00Z", not a time/],
    ['billing_date', undefined, /billing_date is "", not a time/],
    ['billing_amount', { S: '4.999' }, /billing_amount is "4.999", not an amount/],
    ['billing_amount', { N: '4.99' }, /billing_amount is not text/],
    ['billing_amount', { S: '-4.99' }, /billing_amount is "-4.99"/],
    ['billing_status', { S: 'scheduled' }, /billing_status is "scheduled", not one of SCHEDULED/],
    [
      'billing_date',
      { S: '2026-11-16T01:00:00-05:00' },
      /billing_date is "2026-11-16T01:00:00-05:00", not a time in UTC/,
    ],
    ['term', { S: 'WEEKLY' }, /term is "WEEKLY", not one of MONTHLY, YEARLY/],
    ['billing_week', { N: '0' }, /billing_week is 0/],
    ['billing_week', { S: '2' }, /billing_week is not a whole number/],
    ['pause_duration_months', { N: '1.5' }, /pause_duration_months is not a whole number/],
    ['is_pending_downgrade', { S: 'true' }, /is_pending_downgrade is not a boolean/],
  ])('with a bad %s (%j) is refused by name', (name, value, message) => {
    const [row] = fc.sample(rows, 1);
    const item = { ...row! };
    if (value === undefined) Reflect.deleteProperty(item, name);
    else item[name] = value;
    const reading = (): unknown => readSubscription(item);
    expect(reading).toThrow(MalformedRowError);
    expect(reading).toThrow(message);
  });
});
