/**
 * What a returned ACH debit means for the next one. NACHA codes, and the ISO codes that JPM uses for the same reasons.
 *
 * - `represent`: the entry may be presented again, within the limits of the gate.
 * - `block-account`: no ACH debit to this account again until the user gives a new one (or a new authorization).
 * - `class`: which return-rate limit the return counts against, besides the overall one.
 * - `review`: an operator should look at the user.
 */
export interface ReturnCode {
  readonly meaning: string;
  readonly class: 'administrative' | 'unauthorized' | null;
  readonly effect: 'represent' | 'block-account';
  readonly review?: true;
}

export const RETURN_CODES = {
  R01: { meaning: 'insufficient funds', class: null, effect: 'represent' },
  R09: { meaning: 'uncollected funds', class: null, effect: 'represent' },
  R02: { meaning: 'account closed', class: 'administrative', effect: 'block-account' },
  R03: { meaning: 'no account', class: 'administrative', effect: 'block-account' },
  R04: { meaning: 'invalid account number', class: 'administrative', effect: 'block-account' },
  R05: {
    meaning: 'unauthorized debit to a consumer account',
    class: 'unauthorized',
    effect: 'block-account',
    review: true,
  },
  R07: { meaning: 'authorization revoked', class: 'unauthorized', effect: 'block-account' },
  R08: { meaning: 'payment stopped', class: null, effect: 'block-account' },
  R10: {
    meaning: 'customer says not authorized',
    class: 'unauthorized',
    effect: 'block-account',
    review: true,
  },
  R11: {
    meaning: 'not in accordance with the authorization',
    class: 'unauthorized',
    effect: 'block-account',
  },
  R12: { meaning: 'branch sold to another bank', class: null, effect: 'block-account' },
  R14: { meaning: 'representative payee deceased', class: null, effect: 'block-account', review: true },
  R15: { meaning: 'account holder deceased', class: null, effect: 'block-account', review: true },
  R16: { meaning: 'account frozen', class: null, effect: 'block-account' },
  R20: { meaning: 'not a transaction account', class: null, effect: 'block-account' },
  R29: { meaning: 'corporate customer says not authorized', class: 'unauthorized', effect: 'block-account' },
  R51: { meaning: 're-presented check entry is ineligible', class: 'unauthorized', effect: 'block-account' },
  AC01: { meaning: 'invalid account number', class: null, effect: 'block-account' },
  AC04: { meaning: 'account closed', class: null, effect: 'block-account' },
  AC06: { meaning: 'account blocked', class: null, effect: 'block-account' },
  BE01: { meaning: 'name does not match the account', class: null, effect: 'block-account' },
} as const satisfies Record<string, ReturnCode>;

/** Null for a code that the table does not know: such an entry is not presented again, and its account not blocked. */
export const lookUpReturnCode = (code: string): ReturnCode | null =>
  Object.hasOwn(RETURN_CODES, code) ? RETURN_CODES[code as keyof typeof RETURN_CODES] : null;

/** Whether the bank sent the entry back, also for a reason that is not in the table. Declines have other codes. */
export const isReturnCode = (code: string | null): boolean => code !== null && /^(R|AC|BE)\d{2}$/.test(code);

export const mayBePresentedAgain = (code: string): boolean => lookUpReturnCode(code)?.effect === 'represent';

export const blocksAccount = (code: string): boolean => lookUpReturnCode(code)?.effect === 'block-account';
