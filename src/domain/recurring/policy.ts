/** The numbers of the rules for recurring payments. Each is configuration; its reason stands beside it. */
export interface RecurringPolicy {
  /** Long enough to cancel, or to put money on the card. */
  readonly reminderDays: number;
  /**
   * After each decline so many days pass before the next try; after the last there is none. Around a payday there is
   * money that was not there before, and four tries are well below what card networks fine.
   */
  readonly retryDays: readonly number[];
  /** Older periods are not asked for any more: people dispute what they no longer recognise. */
  readonly maxDaysPastDue: number;
  /** Longer than a card network lets a member dispute a payment (540 days). */
  readonly receiptDays: number;
}

export const DEFAULT_RECURRING_POLICY: RecurringPolicy = {
  reminderDays: 7,
  retryDays: [1, 3, 7],
  maxDaysPastDue: 30,
  receiptDays: 730,
};
