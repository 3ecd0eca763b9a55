/** Pinless declines, by the codes that card networks use. */
export const PINLESS_CODES = {
  noCard: '14',
  closed: '46',
  insufficient: '62',
  generic: '05',
} as const;

const MESSAGES: Readonly<Record<string, string>> = {
  '05': 'do not honor',
  '14': 'no such card',
  '46': 'closed account',
  '62': 'insufficient funds',
  R01: 'insufficient funds',
  R02: 'account closed',
  R03: 'no account or unable to locate account',
  R04: 'invalid account number',
  R05: 'unauthorized debit to consumer account',
  R07: 'authorization revoked by customer',
  R08: 'payment stopped',
  R09: 'uncollected funds',
  R10: 'customer advises not authorized',
  R11: 'entry not in accordance with the terms of the authorization',
  R12: 'branch sold to another bank',
  R14: 'representative payee deceased',
  R15: 'beneficiary or account holder deceased',
  R16: 'account frozen',
  R20: 'non-transaction account',
  R29: 'corporate customer advises not authorized',
  R51: 'item ineligible or notice not provided',
  AC01: 'incorrect account number',
  AC04: 'closed account number',
  AC06: 'blocked account',
  BE01: 'name does not match the account',
};

/** Returns by Nacha (R..) and by the ISO forms that JPM reports. Any of that shape may be scripted. */
export const RETURN_CODE = /^(R\d{2}|AC\d{2}|BE\d{2})$/;
export const DECLINE_CODE = /^[0-9A-Z]{2}$/;

export function messageFor(code: string): string {
  return MESSAGES[code] ?? `declined with code ${code}`;
}
