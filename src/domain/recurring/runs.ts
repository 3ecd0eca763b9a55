/** Payments are charged; reminders tell of them and charge nothing. */
export const RECURRING_PAYMENTS = 'recurring-payments';
export const RECURRING_REMINDERS = 'recurring-reminders';
const RECURRING_PROCESSES = [RECURRING_PAYMENTS, RECURRING_REMINDERS] as const;
export type RecurringProcess = (typeof RECURRING_PROCESSES)[number];

export const isRecurringProcess = (process: string): process is RecurringProcess =>
  RECURRING_PROCESSES.some((recurring) => recurring === process);
