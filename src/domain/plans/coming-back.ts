import type { Subscription } from '../subscription.ts';
import { ACCOUNT_CLOSED } from '../subscription.ts';
import { isPeriod } from './upcoming.ts';

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

/** Dated by the second of asking. A membership that goes on beside it was billed after that. */
export const wasBilledSince = (
  { billingDate }: Pick<Subscription, 'billingDate'>,
  partition: readonly Subscription[],
): boolean => partition.some(({ initialRunDate }) => initialRunDate !== null && initialRunDate > billingDate);

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
