import { describe, expect, it } from 'vitest';
import {
  RETURN_CODES,
  blocksAccount,
  lookUpReturnCode,
  mayBePresentedAgain,
} from '../../../src/domain/ach/return-codes.ts';

/** Code, class, and whether the same entry may be presented again. */
const CODES = [
  ['R01', null, 'again'],
  ['R09', null, 'again'],
  ['R02', 'administrative', 'stop'],
  ['R03', 'administrative', 'stop'],
  ['R04', 'administrative', 'stop'],
  ['R05', 'unauthorized', 'stop'],
  ['R07', 'unauthorized', 'stop'],
  ['R10', 'unauthorized', 'stop'],
  ['R11', 'unauthorized', 'stop'],
  ['R29', 'unauthorized', 'stop'],
  ['R51', 'unauthorized', 'stop'],
  ['R08', null, 'stop'],
  ['R12', null, 'stop'],
  ['R14', null, 'stop'],
  ['R15', null, 'stop'],
  ['R16', null, 'stop'],
  ['R20', null, 'stop'],
  ['AC01', null, 'stop'],
  ['AC04', null, 'stop'],
  ['AC06', null, 'stop'],
  ['BE01', null, 'stop'],
] as const;

describe('the return codes', () => {
  it('are the ones that we know, and no others', () => {
    expect(Object.keys(RETURN_CODES).sort()).toEqual(CODES.map(([code]) => code).sort());
  });

  it.each(CODES)('%s counts as %s and means: %s', (code, returnClass, what) => {
    expect(lookUpReturnCode(code)?.class).toBe(returnClass);
    expect(mayBePresentedAgain(code)).toBe(what === 'again');
    expect(blocksAccount(code)).toBe(what === 'stop');
    expect(lookUpReturnCode(code)?.meaning).not.toBe('');
  });

  it.each(['R05', 'R10'])('%s calls for a look at the user', (code) => {
    expect(lookUpReturnCode(code)?.review).toBe(true);
  });

  it.each(['R01', 'R09', 'R02', 'R03', 'R04', 'R08', 'R16'])('%s does not', (code) => {
    expect(lookUpReturnCode(code)?.review).toBeUndefined();
  });
});

describe('a code that we do not know', () => {
  it.each(['R99', '', 'r01', 'R1', 'R010', ' R01', 'constructor', 'toString', '__proto__'])(
    '%j is not presented again and does not block the account',
    (code) => {
      expect(lookUpReturnCode(code)).toBeNull();
      expect(mayBePresentedAgain(code)).toBe(false);
      expect(blocksAccount(code)).toBe(false);
    },
  );
});
