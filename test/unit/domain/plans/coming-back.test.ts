import { describe, expect, it } from 'vitest';
import { isPaidByComingBack } from '../../../../src/domain/plans/coming-back.ts';
import type { Subscription } from '../../../../src/domain/subscription.ts';
import { at, subscription } from '../../../support/records.ts';

describe('a period whose weeks were paid for by coming back', () => {
  const period = (fields: Partial<Subscription> = {}): Subscription =>
    subscription({
      billingStatus: 'CANCELLED',
      billingDate: at('2026-11-20T06:00:00Z'),
      createdDate: at('2026-10-20T08:00:00Z'),
      initialRunDate: null,
      ...fields,
    });
  const wayBack = (fields: Partial<Subscription> = {}): Subscription =>
    subscription({
      billingStatus: 'COMPLETED',
      process: 'REACTIVATION',
      updatedEvent: 'user-reactivated',
      billingDate: at('2026-11-18T10:00:00Z'),
      createdDate: at('2026-11-18T10:00:00Z'),
      initialRunDate: at('2026-11-18T10:00:01Z'),
      ...fields,
    });

  it.each<[string, Subscription, Subscription]>([
    ['was to come, and ended with that', period({ updatedEvent: 'user-reactivated' }), wayBack()],
    ['had ended with the account', period({ updatedEvent: 'account-closed' }), wayBack()],
    ['of which nobody knows when it was made', period({ createdDate: null }), wayBack()],
    ['that had begun', period(), wayBack({ billingDate: at('2026-12-19T10:00:00Z') })],
    [
      'that comes later, as one before it was waived',
      period({ billingDate: at('2027-01-20T06:00:00Z') }),
      wayBack(),
    ],
    ['although the account was closed again since', period(), wayBack({ updatedEvent: 'account-closed' })],
  ])('is one that %s', (_, record, back) => {
    expect(isPaidByComingBack(record, [record, back])).toBe(true);
  });

  it.each<[string, Subscription, Subscription | null]>([
    ['still to come', period({ billingStatus: 'SCHEDULED' }), wayBack()],
    ['that was tried before, and is owed', period({ initialRunDate: at('2026-11-20T08:00:00Z') }), wayBack()],
    ['that is no period', period({ billingDate: at('2026-11-20T06:00:01Z') }), wayBack()],
    ['of somebody who never came back', period(), null],
    [
      'of somebody whose card was declined then',
      period(),
      wayBack({ billingStatus: 'CANCELLED', initialRunDate: null }),
    ],
    ['of somebody who was given back what that cost', period(), wayBack({ billingStatus: 'REFUNDED' })],
    [
      'of somebody who came back in vain',
      period(),
      wayBack({ process: 'NOT_IDENTIFIED', initialRunDate: null }),
    ],
    ['whose weeks were over', period(), wayBack({ billingDate: at('2026-12-20T06:00:00Z') })],
    ['that follows from it', period({ createdDate: at('2026-11-18T10:00:01Z') }), wayBack()],
  ])('is none %s', (_, record, back) => {
    expect(isPaidByComingBack(record, back === null ? [record] : [record, back])).toBe(false);
  });
});
