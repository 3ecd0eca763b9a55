import { describe, expect, it } from 'vitest';
import { afterPause } from '../../../src/domain/decide.ts';
import { formatInstant } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import { nextPeriod } from '../../../src/domain/next-period.ts';
import { periodAfterPause, periodAfterPayment } from '../../../src/domain/outcomes.ts';
import type { Subscription } from '../../../src/domain/subscription.ts';
import { at, subscription } from '../../support/records.ts';

const NOW = at('2026-11-16T22:00:00Z');

const paused = (fields: Partial<Subscription>): Subscription =>
  subscription({
    billingDate: at('2026-11-16T06:00:00Z'),
    billingStatus: 'PAUSED',
    updatedEvent: 'SUB_PAUSED',
    pauseDurationMonths: 2,
    ...fields,
  });

const YEAR = { term: 'YEARLY', billingAmount: cents(3999) } as const;

/** From a paused period until it is billed again, as the pause run writes it. */
function untilBilled(first: Subscription): string[] {
  const records = [first];
  while (records.at(-1)!.billingStatus === 'PAUSED') {
    const record = records.at(-1)!;
    records.push(periodAfterPause(record, afterPause(record), records, NOW));
  }
  return records.map(
    ({ billingDate, billingStatus, term, billingAmount }) =>
      `${formatInstant(billingDate).slice(0, 10)} ${billingStatus} ${term} ${billingAmount}`,
  );
}

describe('a pause', () => {
  it('of two months is over after two months', () => {
    expect(untilBilled(paused({}))).toEqual([
      '2026-11-16 PAUSED MONTHLY 499',
      '2026-12-16 PAUSED MONTHLY 499',
      '2027-01-16 SCHEDULED MONTHLY 499',
    ]);
  });

  it('of a year that was being paid by hand, and was not, skips months and no years', () => {
    expect(untilBilled(paused(YEAR))).toEqual([
      '2026-11-16 PAUSED YEARLY 3999',
      '2026-12-16 PAUSED YEARLY 3999',
      '2027-01-16 SCHEDULED YEARLY 3999',
    ]);
  });

  it('of a year that was being paid by hand, and was, comes when the year is over', () => {
    const record = paused(YEAR);
    const paid: Subscription = { ...record, billingStatus: 'COMPLETED', initialRunDate: NOW };
    expect(untilBilled(periodAfterPayment(record, nextPeriod(paid, [record], NOW))!)).toEqual([
      '2027-11-16 PAUSED YEARLY 3999',
      '2027-12-16 PAUSED YEARLY 3999',
      '2028-01-16 SCHEDULED YEARLY 3999',
    ]);
  });

  it('keeps the day of the month', () => {
    expect(untilBilled(paused({ ...YEAR, billingDate: at('2027-01-31T06:00:00Z') }))).toEqual([
      '2027-01-31 PAUSED YEARLY 3999',
      '2027-02-28 PAUSED YEARLY 3999',
      '2027-03-31 SCHEDULED YEARLY 3999',
    ]);
  });
});
