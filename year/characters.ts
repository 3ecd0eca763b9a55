import type { RecurringSituation } from '../src/demo/recurring.ts';

export type Script = Readonly<Record<string, unknown>>;

/** How a member pays, all year unless something happens to them. */
export interface Character {
  readonly name: string;
  /** Out of a hundred members. */
  readonly share: number;
  /** What the pretend bank is told; the rest is its default. */
  readonly bank: Script;
  /** What can befall them in a year. */
  readonly troubles: 'of-cards' | 'of-accounts' | 'none';
  /** What else they pay for every month; each list in turn. */
  readonly recurring?: readonly (readonly RecurringSituation[])[];
}

/** Enough for a year of everything. */
export const PLENTY = { amount: '4000.00', daily_spending: '20.00', paydays: payday('900.00', 14, 3) };

/** Paid every two weeks, and with nothing left for the last few days of them. */
const hardUp = (firstPayday: number) => ({
  amount: '150.00',
  daily_spending: '42.00',
  paydays: payday('420.00', 14, firstPayday),
});

export const CHARACTERS: readonly Character[] = [
  {
    name: 'pays by card',
    share: 53,
    bank: { balance: PLENTY },
    troubles: 'of-cards',
    recurring: [[], ['upcoming'], [], ['due', 'upcoming'], [], ['reminder-due'], []],
  },
  {
    name: 'pays from the account',
    share: 23,
    bank: { has_debit_card: false, balance: PLENTY },
    troubles: 'of-accounts',
  },
  { name: 'runs short, paid on the 5th day', share: 5, bank: { balance: hardUp(5) }, troubles: 'none' },
  { name: 'runs short, paid on the 11th day', share: 5, bank: { balance: hardUp(11) }, troubles: 'none' },
  {
    name: 'card declines, account pays',
    share: 6,
    bank: { pinless: { mode: 'decline', code: '05' }, balance: PLENTY },
    troubles: 'of-accounts',
  },
  { name: 'never has money', share: 2, bank: { balance: { amount: '0.40' } }, troubles: 'none' },
  {
    name: 'has no account',
    share: 1,
    bank: { account: null, has_debit_card: false },
    troubles: 'none',
  },
  { name: 'works here', share: 3, bank: { is_employee: true }, troubles: 'none' },
  {
    name: 'takes the money back',
    share: 1,
    bank: { balance: PLENTY, charge_back: { after_days: 25, times: 1 } },
    troubles: 'none',
  },
  {
    name: 'says it was not authorized',
    share: 1,
    bank: {
      has_debit_card: false,
      balance: PLENTY,
      late_return: { code: 'R10', after_days: 20, times: 1 },
    },
    troubles: 'none',
  },
];

/** The character of the n-th member: the shares come round every hundred members, well mixed. */
export function characterOf(index: number): Character {
  let place = (index * 37) % 100;
  for (const character of CHARACTERS) {
    place -= character.share;
    if (place < 0) return character;
  }
  throw new Error('the shares of the characters do not add up to 100');
}

function payday(amount: string, every_days: number, first_after_days: number) {
  return { every_days, amount, first_after_days };
}
