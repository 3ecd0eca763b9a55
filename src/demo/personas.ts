import type { FloatSituation } from './floats.ts';
import type { RecurringSituation } from './recurring.ts';

/** What the pretend bank is told about a user. Its own shape, sent as JSON; everything left out has a default there. */
export interface PretendUser {
  readonly user_id: string;
  readonly [setting: string]: unknown;
}

/** In which state the demo finds a user's newest record. */
export type Situation = 'due' | 'retry' | 'paused' | 'ending' | 'upcoming';

export interface Persona {
  readonly name: string;
  /** Out of a hundred users. */
  readonly share: number;
  readonly situation: Situation;
  readonly bank: Readonly<Record<string, unknown>>;
  /** What cash advances they have; each in turn, and null for none. Left out, nobody of them has any. */
  readonly floats?: readonly (FloatSituation | null)[];
  /** What else they pay for every month; each list in turn. Left out, nobody of them pays for anything. */
  readonly recurring?: readonly (readonly RecurringSituation[])[];
}

const payday = (amount: string, every_days: number, first_after_days: number) => ({
  every_days,
  amount,
  first_after_days,
});

/**
 * The people of the demo. Most pay by card without a thought; the others are the reason why this software exists.
 */
export const PERSONAS: readonly Persona[] = [
  {
    name: 'pays by card',
    share: 44,
    situation: 'due',
    bank: { balance: { amount: '1250.00', daily_spending: '12.00', paydays: payday('900.00', 14, 3) } },
    floats: [null, 'due', null, 'upcoming', null, 'paid-by-card', null, 'tomorrow'],
    recurring: [
      [],
      ['due'],
      [],
      ['reminder-due', 'due', 'upcoming'],
      [],
      [],
      ['cancelled', 'due'],
      ['upcoming'],
    ],
  },
  {
    name: 'pays from the account',
    share: 14,
    situation: 'due',
    bank: { has_debit_card: false, balance: { amount: '640.00' } },
    floats: ['sent', null, 'tomorrow', 'paid-from-account', 'due'],
  },
  {
    name: 'is paid in three days',
    share: 9,
    situation: 'due',
    bank: { balance: { amount: '2.10', daily_spending: '1.00', paydays: payday('700.00', 14, 3) } },
    floats: ['retry-after-card', null, 'due'],
    recurring: [['past-due'], [], ['due']],
  },
  {
    name: 'was short last week, has money now',
    share: 8,
    situation: 'retry',
    bank: { balance: { amount: '310.00' } },
    floats: ['retry-after-card', null],
    recurring: [['past-due', 'reminder-due'], []],
  },
  {
    name: 'is always short',
    share: 4,
    situation: 'retry',
    bank: { balance: { amount: '0.40' } },
    floats: ['given-up', 'retry-after-card'],
    recurring: [['failed'], ['past-due', 'failed']],
  },
  {
    name: 'card declines, account pays',
    share: 3,
    situation: 'due',
    bank: { pinless: { mode: 'decline', code: '05' }, balance: { amount: '480.00' } },
    floats: ['due', null],
    recurring: [['due']],
  },
  {
    name: 'account returns once',
    share: 2,
    situation: 'due',
    bank: {
      has_debit_card: false,
      ach: { mode: 'return', code: 'R01', times: 1 },
      balance: { amount: '220.00' },
    },
    floats: ['tomorrow', null],
  },
  {
    name: 'account is closed',
    share: 2,
    situation: 'due',
    bank: { has_debit_card: false, account: { closed: true } },
    floats: ['retry-after-account'],
  },
  {
    name: 'says it was not authorized',
    share: 1,
    situation: 'due',
    bank: { has_debit_card: false, late_return: { code: 'R10', after_days: 20 } },
  },
  {
    name: 'has no account',
    share: 1,
    situation: 'due',
    bank: { account: null, has_debit_card: false },
    floats: ['nothing-to-charge'],
  },
  { name: 'works here', share: 2, situation: 'due', bank: { is_employee: true } },
  { name: 'is leaving', share: 2, situation: 'ending', bank: {} },
  { name: 'has left', share: 1, situation: 'due', bank: { status: 'PAUSED' }, floats: ['due'] },
  {
    name: 'is banned',
    share: 1,
    situation: 'due',
    bank: { status: 'BANNED' },
    floats: ['retry-after-card'],
    recurring: [['due', 'reminder-due']],
  },
  {
    name: 'is under investigation',
    share: 1,
    situation: 'due',
    bank: { status: 'INVESTIGATE' },
    floats: ['due'],
  },
  { name: 'takes a break', share: 3, situation: 'paused', bank: {} },
  { name: 'is due in four days', share: 2, situation: 'upcoming', bank: {} },
];

/** The persona of the n-th user: the shares come round every hundred users, well mixed. */
export function personaOf(index: number): Persona {
  let place = (index * 37) % 100;
  for (const persona of PERSONAS) {
    place -= persona.share;
    if (place < 0) return persona;
  }
  throw new Error('the shares of the personas do not add up to 100');
}
