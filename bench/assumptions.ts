/** A number that was not measured here, and why it is what it is. */
export interface Assumption {
  readonly value: number;
  readonly unit: string;
  readonly why: string;
}

/** What the growth of cost is computed with, beside what was measured. A better number goes here. */
export const ASSUMED = {
  daysPerMonth: { value: 30.4, unit: 'days', why: 'due dates are spread evenly over the month' },
  dueDaysInBusiestRun: {
    value: 3,
    unit: 'days',
    why: 'runs go Monday to Friday: Monday’s has Saturday, Sunday and Monday',
  },
  triesPerPeriod: {
    value: 1.5,
    unit: 'collections',
    why: 'one period per member and month; every second one is tried once more, with the writes of a charge',
  },
  eventsPerMemberMonth: {
    value: 0.5,
    unit: 'events',
    why: 'settlements of ACH, cancellations, pauses; each costs what a cancellation does',
  },
  runHours: { value: 4, unit: 'h', why: 'by when the busiest run has to be over: noon UTC' },
  requestMs: { value: 5, unit: 'ms', why: 'one request to DynamoDB in the same region' },
  transactionMs: { value: 15, unit: 'ms', why: 'one transaction of some seven items' },
  servicesMs: { value: 50, unit: 'ms', why: 'user and account service, asked at the same time' },
  chargeMs: { value: 500, unit: 'ms', why: 'the payments API’s answer to a debit by card' },
  keyWriteUnitsPerS: {
    value: 1_000,
    unit: 'units/s',
    why: 'what DynamoDB lets one partition take; it splits a busy key by its sort key, where there is one',
  },
  tableWriteUnitsPerS: {
    value: 4_000,
    unit: 'units/s',
    why: 'what a new table on demand takes at once, and each of its indexes; later twice what it has taken before',
  },
  dollarsPerMillionWrites: {
    value: 0.625,
    unit: '$',
    why: 'on demand, us-east-1, list price since November 2024',
  },
  dollarsPerMillionReads: { value: 0.125, unit: '$', why: 'the same' },
  dollarsPerGbMonth: {
    value: 0.25,
    unit: '$',
    why: 'standard tables, us-east-1; backups and streams not counted',
  },
  verdictDays: { value: 90, unit: 'days', why: 'how long what goes by itself stays (`expires_at`)' },
} as const satisfies Readonly<Record<string, Assumption>>;

export type Assumed = Readonly<Record<keyof typeof ASSUMED, number>>;

export const assumed = Object.fromEntries(
  Object.entries(ASSUMED).map(([name, { value }]) => [name, value]),
) as Assumed;
