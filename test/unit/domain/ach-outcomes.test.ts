import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plusDays, plusNanos } from '../../../src/domain/instant.ts';
import { achCompleted, achReturned, chargedBack, refunded } from '../../../src/domain/outcomes.ts';
import type { Subscription } from '../../../src/domain/subscription.ts';
import { isLegal, isTerminal } from '../../../src/domain/transitions.ts';
import { subscriptions } from '../../support/arbitraries.ts';
import { at, subscription } from '../../support/records.ts';

const NOW = at('2026-11-20T08:00:00Z');
const POLICY = { oldSubscriptionDays: 30 };
const insufficient = { returnCode: 'R01', message: 'insufficient funds' };

const sent = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({
    billingStatus: 'ACHSENT',
    process: 'RETRY',
    updatedEvent: 'pause-resume',
    transactionId: 'JPM-1',
    initialRunDate: at('2026-11-16T08:00:00Z'),
    ...fields,
  });

describe('an entry that was paid', () => {
  it('completes the record and changes nothing else', () => {
    const record = sent({ usioError: '62: insufficient funds' });
    expect(achCompleted(record, NOW)).toEqual({
      ...record,
      billingStatus: 'COMPLETED',
      updatedEvent: 'payment-completed',
      completionDate: NOW,
      usioError: '',
    });
  });

  it.each(['PENDING_CANCELLATION', 'account-closed'])('still says that its member has left (%s)', (said) => {
    const paid = achCompleted(sent({ updatedEvent: said }), NOW);
    expect(paid).toMatchObject({ billingStatus: 'COMPLETED', updatedEvent: said });
    expect(achReturned(paid, insufficient, POLICY, NOW).updatedEvent).toBe(said);
  });

  it('leaves who collected it, or says that nobody knows', () => {
    expect(achCompleted(sent(), NOW).process).toBe('RETRY');
    expect(achCompleted(sent({ process: null }), NOW).process).toBe('NOT_IDENTIFIED');
  });
});

describe('an entry that was returned', () => {
  it('puts the record in error with the code and its text, and changes nothing else', () => {
    const record = sent();
    expect(achReturned(record, insufficient, POLICY, NOW)).toEqual({
      ...record,
      billingStatus: 'ERROR',
      usioError: 'R01: insufficient funds',
    });
    expect(achReturned(sent({ process: null }), insufficient, POLICY, NOW).process).toBe('NOT_IDENTIFIED');
  });

  it('opens a completed record again', () => {
    const record = sent({ billingStatus: 'COMPLETED', completionDate: NOW });
    expect(achReturned(record, insufficient, POLICY, NOW)).toMatchObject({
      billingStatus: 'ERROR',
      completionDate: null,
    });
  });

  it('is written off from the stale cut on', () => {
    const cut = plusDays(NOW, -30);
    expect(achReturned(sent({ billingDate: cut }), insufficient, POLICY, NOW)).toMatchObject({
      billingStatus: 'STALE',
      completionDate: NOW,
    });
    const justInside = sent({ billingDate: plusNanos(cut, 1n) });
    expect(achReturned(justInside, insufficient, POLICY, NOW)).toMatchObject({ billingStatus: 'ERROR' });
  });

  it('more than sixty days after it was paid opens nothing again, however long debts are kept', () => {
    const keepsLong = { oldSubscriptionDays: 365 };
    const paid = (daysAgo: number) =>
      sent({
        billingStatus: 'COMPLETED',
        billingDate: plusDays(NOW, -80),
        completionDate: plusDays(NOW, -daysAgo),
      });
    expect(achReturned(paid(60), insufficient, keepsLong, NOW)).toMatchObject({ billingStatus: 'ERROR' });
    expect(achReturned(paid(61), insufficient, keepsLong, NOW)).toMatchObject({
      billingStatus: 'STALE',
      completionDate: NOW,
    });
  });

  it('says so where the processor gives no code', () => {
    const text = (message: string | null): string =>
      achReturned(sent(), { returnCode: null, message }, POLICY, NOW).usioError;
    expect([text(null), text('no reason given')]).toEqual(['returned', 'returned: no reason given']);
  });
});

describe('money that went back otherwise', () => {
  const paid = sent({ billingStatus: 'COMPLETED', completionDate: plusDays(NOW, -3) });

  it('by a refund ends the record and changes nothing else', () => {
    expect(refunded(paid, NOW)).toEqual({ ...paid, billingStatus: 'REFUNDED', completionDate: NOW });
    expect(refunded(sent({ process: null }), NOW).process).toBe('NOT_IDENTIFIED');
  });

  it('by a charge-back opens the record again, with what the bank says', () => {
    expect(chargedBack(paid, { code: null, message: null })).toEqual({
      ...paid,
      billingStatus: 'ERROR',
      completionDate: null,
      usioError: 'charged back',
    });
    expect(chargedBack(paid, { code: 'R10', message: 'not authorized' }).usioError).toBe(
      'R10: not authorized',
    );
    expect(chargedBack(sent({ process: null }), { code: null, message: null }).process).toBe(
      'NOT_IDENTIFIED',
    );
  });
});

it('both are legal where an entry was sent, and completion has a date exactly where the record is over', () => {
  fc.assert(
    fc.property(subscriptions(NOW), fc.constantFrom('ACHSENT', 'COMPLETED'), (any, billingStatus) => {
      const record: Subscription = { ...any, billingStatus };
      const owed = achReturned(record, insufficient, POLICY, NOW);
      expect(isLegal(billingStatus, owed.billingStatus, 'ach-returned')).toBe(true);
      expect(owed.completionDate !== null).toBe(isTerminal(owed.billingStatus));
      const paid = achCompleted({ ...record, billingStatus: 'ACHSENT' }, NOW);
      expect(isLegal('ACHSENT', paid.billingStatus, 'ach-completed')).toBe(true);
      expect(paid.completionDate).toBe(NOW);
    }),
  );
});
