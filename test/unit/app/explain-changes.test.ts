import { describe, expect, it } from 'vitest';
import { changeText } from '../../../src/app/explain-changes.ts';
import { triggerText } from '../../../src/app/explain-texts.ts';
import { subscription } from '../../support/records.ts';

describe('the first row of a record', () => {
  const first = (data: Record<string, string>) =>
    changeText({ subscription: subscription(), data }, undefined, { attempts: [], opener: undefined });

  it('that names a charge which is none of this record’s tells of another record, wherever that is', () => {
    expect(first({ cause: 'attempt-opened', attempt_id: 'of-another' })).toMatch(
      /^opened as the next period of another record, where a charge was begun, .*first as SCHEDULED$/,
    );
  });

  it('that names no charge tells of this one', () => {
    expect(first({ cause: 'membership-cancelled' })).toBe('the member cancelled, first as SCHEDULED');
  });
});

describe('what asked for a decision', () => {
  const asked = (triggerId: string, who?: string) => triggerText(triggerId, { request: undefined, who });

  it.each([
    ['scheduled-20261116T080000Z', 'the scheduled run of 2026-11-16T08:00:00Z'],
    ['pay.1', 'a payment by hand (pay.1)'],
    ['console.1', 'a payment from the console (console.1)'],
    ['batch.1', 'a batch (batch.1)'],
    ['income.1', 'an income signal (income.1)'],
    ['balance.1', 'a signal of a new account (balance.1)'],
    ['something-else', 'something-else'],
    ['toString.1', 'toString.1'],
  ])('%s is said in words', (triggerId, text) => {
    expect(asked(triggerId)).toBe(text);
  });

  it('is said with who wanted it, where that is known', () => {
    expect(asked('upgrade.1', 'olga')).toBe('an upgrade that olga asked for (upgrade.1)');
  });
});
