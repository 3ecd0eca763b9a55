import { nextBillingDate } from '../billing-dates.ts';
import { dateOf, partsOf } from '../calendar-date.ts';
import type { Subscription } from '../subscription.ts';
import { ACCOUNT_CLOSED } from '../subscription.ts';
import { isPeriod, isToCome } from './upcoming.ts';

/*
 * Between asking to come back and the processor's answer a member has one record for it, which is CANCELLED. The period
 * that follows is not there yet, so whatever is said about the membership meanwhile is said to that record, and holds for
 * the period once it is opened.
 */

/** What the record says as long as the member has said nothing else. */
export const REACTIVATED = 'user-reactivated';

/**
 * A declined charge has a confirmation id and no longer counts. An abandoned one has none and does: it may turn out to
 * have been paid. A closed account never counts.
 */
export const isComingBack = (record: Subscription): boolean =>
  record.process === 'REACTIVATION' &&
  record.billingStatus === 'CANCELLED' &&
  record.updatedEvent !== ACCOUNT_CLOSED &&
  record.transactionId === '' &&
  !isPeriod(record);

/** Counted and not dated, so that no two clocks are compared: what has been billed once stays so. */
export const billedOf = (partition: readonly Subscription[]): number =>
  partition.filter(({ initialRunDate }) => initialRunDate !== null).length;

/**
 * A period that a membership which goes on beside coming back would be billed for, should a charge of it turn out to have been
 * made: it is to come, or was until the account was closed. One that was tried before is owed, and for other weeks.
 */
export const mayBeBilledBeside = (record: Subscription): boolean =>
  record.initialRunDate === null &&
  (isToCome(record) || (record.billingStatus === 'CANCELLED' && isPeriod(record)));

/**
 * A period whose weeks its member has paid for by coming back: it was to come then, and ended with that, or had ended before.
 * A charge of it that had been given up may turn out to have been made. One that was tried before is owed.
 */
export const isPaidByComingBack = (record: Subscription, partition: readonly Subscription[]): boolean =>
  record.billingStatus === 'CANCELLED' &&
  record.initialRunDate === null &&
  isPeriod(record) &&
  partition.some((back) => isPaidBack(back) && wasThereBefore(record, back) && hasWeeksLeft(record, back));

const isPaidBack = ({ process, billingStatus, initialRunDate }: Subscription): boolean =>
  process === 'REACTIVATION' && billingStatus === 'COMPLETED' && initialRunDate !== null;

/** What came later is a period of the membership that was paid for by coming back. Where it is not told, it was there. */
const wasThereBefore = (record: Subscription, back: Subscription): boolean =>
  record.createdDate === null || back.createdDate === null || record.createdDate < back.createdDate;

/** Later periods have theirs to come: the membership that began by coming back is billed for those weeks. */
const hasWeeksLeft = (record: Subscription, back: Subscription): boolean =>
  back.billingDate < nextBillingDate(record, partsOf(dateOf(record.billingDate)).day);

/** The period that such a record stands for. Any other record is what it is. */
export function asPeriod<S extends Subscription>(record: S): S {
  if (!isComingBack(record)) return record;
  return {
    ...record,
    billingStatus: record.pauseDurationMonths === 0 ? 'SCHEDULED' : 'PAUSED',
    updatedEvent: record.updatedEvent === REACTIVATED ? '' : record.updatedEvent,
  };
}

/** The way back: what was said about the period, on the record that stands for it. */
export const asOwnRecord = <S extends Subscription>(period: S): S => ({
  ...period,
  billingStatus: 'CANCELLED',
  updatedEvent: period.updatedEvent === '' ? REACTIVATED : period.updatedEvent,
  pauseDurationMonths: period.billingStatus === 'PAUSED' ? period.pauseDurationMonths : 0,
});
