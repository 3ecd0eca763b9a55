import { expect, it } from 'vitest';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import { decide } from '../../../src/domain/decide.ts';
import type { Facts } from '../../../src/domain/decision.ts';
import { cents } from '../../../src/domain/money.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { at, subscription } from '../../support/records.ts';

const facts = (refundOf: string | null): Facts => ({
  triggerId: 'run-1',
  openAttempt: {
    attemptId: 'a' as AttemptId,
    triggerId: 'run-1',
    rail: 'PINLESS',
    openedAt: at('2026-11-17T07:00:00Z'),
    refundOf,
  },
  attempts: [],
  partition: [],
  membershipEvent: null,
  freezes: [],
  user: { status: 'ACTIVE', isEmployee: false },
  account: { accountId: 'x', availableBalance: cents(10_000), hasDebitCard: true, achBlock: null },
});

it.each(['RETRY', 'MANUAL_REPAYMENT', 'WEBHOOK', 'BATCH'] as const)(
  'a refund without an answer is resumed by no %s, and nothing is charged meanwhile',
  (path) => {
    const owed = subscription({ billingStatus: 'ERROR' });
    const decision = (refundOf: string | null) =>
      decide(path, owed, facts(refundOf), DEFAULT_POLICY, at('2026-11-17T08:00:00Z'));
    expect(decision('payment')).toMatchObject({ verdict: 'blocked', reason: 'open-attempt' });
    expect(decision(null)).toMatchObject({ verdict: 'resume' });
  },
);
