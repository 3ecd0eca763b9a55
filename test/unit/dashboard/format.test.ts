import { describe, expect, it } from 'vitest';
import { inDollars } from '../../../dashboard/format.ts';

describe('amounts in a sentence', () => {
  it.each([
    ['a charge of 60.00 over the debit card was begun', 'a charge of $60.00 over the debit card was begun'],
    ['“balance too low by 4.59”', '“balance too low by $4.59”'],
    ['the base tier at 1204.99 a month, due', 'the base tier at $1,204.99 a month, due'],
    ['from 4.99 to 9.99.', 'from $4.99 to $9.99.'],
    ['given back: -0.50', 'given back: −$0.50'],
  ])('stand with their sign: %s', (sentence, shown) => {
    expect(inDollars(sentence)).toBe(shown);
  });

  it.each([
    'due on 2026-11-16T06:00:00Z, at 06:00:00.25',
    'rule-1 gave it 48 in 100 to be paid (amount_cents 6000)',
    'a rate of 0.50% or 0.50 %, 1.25.10, v1.20, $4.99',
  ])('leave alone what is none: %s', (sentence) => {
    expect(inDollars(sentence)).toBe(sentence);
  });
});
