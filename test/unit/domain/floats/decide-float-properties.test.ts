import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { achGate } from '../../../../src/domain/ach/gate.ts';
import type { AttemptId } from '../../../../src/domain/attempt.ts';
import { bankDateOf } from '../../../../src/domain/bank-calendar.ts';
import { decideFloat } from '../../../../src/domain/floats/decide-float.ts';
import type { FloatDecision } from '../../../../src/domain/floats/float-decision.ts';
import type { LogEntry } from '../../../../src/domain/floats/float.ts';
import type { FloatChange, LoggedAttempt } from '../../../../src/domain/floats/outcomes.ts';
import {
  floatCollected,
  floatDeclined,
  floatOpened,
  floatSent,
  floatStepped,
} from '../../../../src/domain/floats/outcomes.ts';
import { isLegalForFloat } from '../../../../src/domain/floats/transitions.ts';
import type { Instant } from '../../../../src/domain/instant.ts';
import { cents } from '../../../../src/domain/money.ts';
import type { Rail } from '../../../../src/domain/subscription.ts';
import { NANOS_PER_DAY, freezes, pastAttempts, users } from '../../../support/arbitraries.ts';
import { logEntry } from '../../../support/floats.ts';
import type { FloatSituation } from './situations.ts';
import { dayOf, floatSituations } from './situations.ts';

const runs = { numRuns: 1_500 };
const judge = ({ stage, float, facts, policy, now }: FloatSituation): FloatDecision =>
  decideFloat(stage, float, facts, policy, now);
const withFacts = (situation: FloatSituation, fields: Partial<FloatSituation['facts']>): FloatSituation => ({
  ...situation,
  facts: { ...situation.facts, ...fields },
});

/** Counted here by hand: the limits are not to be checked with the code that keeps them. */
const failedIds = (log: readonly LogEntry[]) =>
  new Set(log.filter((r) => r.method === 'ACH' && r.outcome === 'RETURNED').map((r) => r.attemptId));
const startedToday = ({ facts, now }: FloatSituation): Set<AttemptId | null> => {
  const rows = facts.log.filter(({ process, attemptId }) => process === 'WEBHOOK' && attemptId !== null);
  const isFirst = ({ attemptId, runTime }: LogEntry) =>
    !facts.log.some((other) => other.attemptId === attemptId && other.runTime < runTime);
  return new Set(rows.filter((r) => r.runDate === dayOf(now) && isFirst(r)).map((r) => r.attemptId));
};
const daysPast = ({ float, now }: FloatSituation): bigint =>
  (BigInt(Date.parse(dayOf(now))) - BigInt(Date.parse(float.dueDate))) / 86_400_000n;

const REASONS: Record<string, readonly string[]> = {
  'no-op': ['status-not-collected', 'not-due', 'has-debit-card'],
  deferred: [
    'frozen-global',
    'frozen-user',
    'frozen-rail',
    'user-missing',
    'user-processing',
    'user-under-investigation',
    'user-banned',
    'user-status-unknown',
  ],
  ach: [
    'ach-account-blocked',
    'ach-entry-pending',
    'ach-not-representable',
    'ach-representments-used-up',
    'ach-window-over',
    'ach-too-soon',
    'route-against-ach',
    'ach-attempts-used-up',
  ],
  other: [
    'paid-already',
    'two-failures',
    'retried-today',
    'webhooks-of-the-day-used',
    'no-account',
    'no-debit-card',
    'balance-too-low',
    'amount-not-positive',
  ],
};

/** Throws where a verdict lacks what its reader needs, or says what cannot be. */
function checkForm(decision: FloatDecision, { stage, float, facts, now }: FloatSituation): void {
  switch (decision.verdict) {
    case 'no-op':
      expect(REASONS['no-op']).toContain(decision.reason);
      return;
    case 'deferred':
      expect(REASONS['deferred']).toContain(decision.reason);
      return;
    case 'skipped':
      expect([...REASONS['ach']!, ...REASONS['other']!]).toContain(decision.reason);
      if (decision.until !== null) expect(decision.until > now).toBe(true);
      return;
    case 'blocked':
      expect(decision.attemptId).toBe(facts.openAttempt?.attemptId);
      expect(['open-attempt', 'ach-account-blocked', ...REASONS['deferred']!]).toContain(decision.reason);
      return;
    case 'resume':
      expect([decision.attemptId, decision.rail]).toEqual([
        facts.openAttempt?.attemptId,
        facts.openAttempt?.rail,
      ]);
      return;
    case 'default':
      expect(['RETRY', 'UNCOLLECTABLE']).toContain(float.status);
      expect(['RETRY', 'WEBHOOK']).toContain(stage);
      return;
    case 'uncollectable':
      expect([float.status, facts.account]).toEqual(['RETRY', null]);
      return;
    case 'give-up-today':
      expect([stage, float.status]).toEqual(['TODAY6AM', 'SCHEDULING']);
      expect(['no-account', ...REASONS['ach']!]).toContain(decision.reason);
      return;
    case 'charge':
      expect(decision.amount).toBe(float.amount);
      if (decision.rail === 'ACH') expect(decision.fallback).toBeNull();
      if (decision.representment) expect([decision.rail, decision.fallback]).toContain('ACH');
      return;
  }
}

/** What must be true of the world whenever money is to move, written down without looking at the order of the rules. */
function checkCharge(situation: FloatSituation, rail: Rail): void {
  const { stage, float, facts, policy, now } = situation;
  expect(facts.openAttempt).toBeNull();
  expect(['SCHEDULING', 'RETRY', 'UNCOLLECTABLE']).toContain(float.status);
  expect(['ACTIVE', 'PAUSED']).toContain(facts.user?.status);
  expect(float.amount).toBeGreaterThan(0);
  expect(rail).toBe(facts.account!.hasDebitCard ? 'PINLESS' : 'ACH');
  const holding = facts.freezes.filter(({ until }) => until === null || until > now);
  expect(holding.filter(({ scope }) => ['global', 'user', rail].includes(scope))).toEqual([]);
  if (stage === 'SUPPORT') {
    expect(rail).toBe('PINLESS');
    return;
  }
  if (stage === 'TOMORROW') expect([rail, daysPast(situation) < 0n]).toEqual(['ACH', true]);
  else expect(daysPast(situation) >= 0n).toBe(true);
  if (stage === 'WEBHOOK') expect(startedToday(situation).size).toBeLessThan(policy.webhookPerDay);
  if (stage === 'RETRY' || stage === 'WEBHOOK') {
    expect(failedIds(facts.log).size).toBeLessThan(policy.maxFailedAch);
    expect(daysPast(situation) <= BigInt(policy.maxDaysPastDue)).toBe(true);
    const least = Math.max(
      float.amount + policy.retryBuffer,
      stage === 'WEBHOOK' ? policy.webhookMinBalance : 0,
    );
    expect(facts.account!.availableBalance).toBeGreaterThanOrEqual(least);
  }
}

describe('in every situation', () => {
  it('there is an answer, well formed, and the same when asked again or of a log in another order', () => {
    fc.assert(
      fc.property(floatSituations, (situation) => {
        const decision = judge(situation);
        checkForm(decision, situation);
        expect(judge(situation)).toEqual(decision);
        const reversed = withFacts(situation, { log: [...situation.facts.log].reverse() });
        expect(judge(reversed)).toEqual(decision);
      }),
      runs,
    );
  });

  it('the generated ones reach every verdict and nearly every reason', () => {
    const decisions = fc.sample(floatSituations, { numRuns: 4_000, seed: 1 }).map(judge);
    expect([...new Set(decisions.map(({ verdict }) => verdict))].sort()).toEqual([
      'blocked',
      'charge',
      'default',
      'deferred',
      'give-up-today',
      'no-op',
      'resume',
      'skipped',
      'uncollectable',
    ]);
    const reasons = new Set(decisions.flatMap((decision) => ('reason' in decision ? [decision.reason] : [])));
    for (const reason of REASONS['other']!) expect(reasons).toContain(reason);
    for (const rail of ['PINLESS', 'ACH'])
      expect(decisions).toContainEqual(expect.objectContaining({ verdict: 'charge', rail }));
    expect(decisions).toContainEqual(expect.objectContaining({ verdict: 'charge', fallback: 'ACH' }));
  });

  it('money moves only when nothing stands against it', () => {
    fc.assert(
      fc.property(floatSituations, (situation) => {
        const decision = judge(situation);
        if (decision.verdict === 'charge') checkCharge(situation, decision.rail);
      }),
      { numRuns: 4_000 },
    );
  });

  it('ACH is neither charged nor turned to where the gate, the route, a freeze or the limit is against it', () => {
    fc.assert(
      fc.property(floatSituations, (situation) => {
        const decision = judge(situation);
        if (decision.verdict !== 'charge' || ![decision.rail, decision.fallback].includes('ACH')) return;
        const { facts, policy, now } = situation;
        const gate = achGate(facts.account!, facts.attempts, bankDateOf(now), policy);
        expect(gate).toEqual({ open: true, representment: decision.representment });
        expect(facts.route.useAch).toBe(true);
        expect(failedIds(facts.log).size).toBeLessThan(policy.maxFailedAch);
        const holding = facts.freezes.filter(({ until }) => until === null || until > now);
        expect(holding.map(({ scope }) => scope)).not.toContain('ACH');
      }),
      { numRuns: 4_000 },
    );
  });

  it('an ACH entry after a declined card is within the limits too', () => {
    fc.assert(
      fc.property(floatSituations, (situation) => {
        const decision = judge(situation);
        if (decision.verdict !== 'charge' || decision.fallback === null) return;
        const { stage, facts, now } = situation;
        // Both are of the one retry of the day; every other limit is to count the decline.
        const process = stage === 'RETRY' ? 'TODAY6AM' : stage;
        const decline = logEntry({ process, runTime: now, attemptId: 'new' as AttemptId });
        const account = { ...facts.account!, hasDebitCard: false };
        const afterwards = judge(withFacts(situation, { log: [...facts.log, decline], account }));
        expect(afterwards).toMatchObject({ verdict: 'charge', rail: 'ACH' });
      }),
      { numRuns: 4_000 },
    );
  });

  it('an open attempt is never answered with another one, nor with a change', () => {
    fc.assert(
      fc.property(floatSituations, (situation) => {
        fc.pre(situation.facts.openAttempt !== null);
        expect(['resume', 'blocked', 'no-op']).toContain(judge(situation).verdict);
      }),
    );
  });

  it('a payback changes nothing but by charging', () => {
    fc.assert(
      fc.property(floatSituations, (situation) => {
        const { verdict } = judge({ ...situation, stage: 'SUPPORT' });
        expect(['no-op', 'deferred', 'skipped', 'blocked', 'resume', 'charge']).toContain(verdict);
      }),
      runs,
    );
  });

  it('what was put off until a time is not put off for the same reason at that time', () => {
    fc.assert(
      fc.property(floatSituations, (situation) => {
        const decision = judge(situation);
        if (decision.verdict !== 'skipped' || decision.until === null) return;
        const later = judge({ ...situation, now: decision.until });
        expect(later).not.toMatchObject({ verdict: 'skipped', reason: decision.reason });
      }),
      runs,
    );
  });

  it('whatever comes of a decision is a legal change with a newer stamp', () => {
    fc.assert(
      fc.property(floatSituations, (situation) => {
        for (const { from, change } of whatMayCome(situation)) {
          expect(isLegalForFloat(from, change.float.status, change.cause), change.cause).toBe(true);
          expect(change.float.lastRunTime > situation.float.lastRunTime).toBe(true);
          if (change.entry !== null) expect(change.entry.runTime).toBe(change.float.lastRunTime);
        }
      }),
      runs,
    );
  });
});

interface Step {
  readonly from: FloatSituation['float']['status'];
  readonly change: FloatChange;
}

/** Each change that the decision, or the answer to the charge that it leads to, may write. */
function whatMayCome({ stage, float, ...rest }: FloatSituation): Step[] {
  const decision = judge({ stage, float, ...rest });
  const { now } = rest;
  const from = float.status;
  switch (decision.verdict) {
    case 'default':
    case 'uncollectable':
    case 'give-up-today':
      return [{ from, change: floatStepped(float, stage, decision, now) }];
    case 'resume':
    case 'charge': {
      const attempt: LoggedAttempt = {
        attemptId: 'new' as AttemptId,
        process: stage,
        rail: decision.rail,
        confirmationId: 'USIO-1',
        achModel: null,
      };
      const opened = floatOpened(float, now);
      const declined = floatDeclined(opened.float, attempt, 'declined', now);
      return [
        { from, change: opened },
        { from, change: floatCollected(opened.float, attempt, now) },
        { from, change: floatSent(opened.float, attempt, now) },
        { from, change: declined },
        { from: declined.float.status, change: floatSent(declined.float, { ...attempt, rail: 'ACH' }, now) },
      ];
    }
    default:
      return [];
  }
}

describe('what would be no charge does not become one', () => {
  /** Worse facts, the same question. */
  function neverOpens<T>(
    worse: (situation: FloatSituation) => fc.Arbitrary<T>,
    change: (situation: FloatSituation, value: T) => FloatSituation,
  ): void {
    const pairs = floatSituations.chain((situation) => fc.tuple(fc.constant(situation), worse(situation)));
    fc.assert(
      fc.property(pairs, ([situation, value]) => {
        const before = judge(situation).verdict;
        const after = judge(change(situation, value)).verdict;
        expect(before !== 'charge' && after === 'charge').toBe(false);
      }),
      runs,
    );
  }
  const lessBalance = (situation: FloatSituation, less: number): FloatSituation => {
    const { account } = situation.facts;
    if (account === null) return situation;
    return withFacts(situation, {
      account: { ...account, availableBalance: cents(account.availableBalance - less) },
    });
  };

  it('by one failure more, over any rail', () => {
    neverOpens(
      ({ now }) =>
        fc.record({
          method: fc.constantFrom('PINLESS' as const, 'ACH' as const),
          process: fc.constantFrom('TOMORROW', 'TODAY6AM', 'RETRY', 'WEBHOOK', 'SUPPORT' as const),
          runTime: fc.bigInt({ min: now - 5n * NANOS_PER_DAY, max: now }),
        }),
      (situation, { runTime, ...fields }) => {
        const failure = logEntry({
          ...fields,
          runTime: runTime as Instant,
          attemptId: 'one-more' as AttemptId,
          outcome: 'RETURNED',
        });
        return withFacts(situation, { log: [...situation.facts.log, failure] });
      },
    );
  });

  it('by one entry more at the bank', () => {
    neverOpens(
      ({ now }) => pastAttempts(now),
      (situation, attempt) => withFacts(situation, { attempts: [...situation.facts.attempts, attempt] }),
    );
  });

  it('by less balance', () => {
    neverOpens(() => fc.integer({ min: 1, max: 10_000 }), lessBalance);
  });

  it('by a freeze', () => {
    neverOpens(
      ({ now }) => freezes(now),
      (situation, freeze) => withFacts(situation, { freezes: [...situation.facts.freezes, freeze] }),
    );
  });

  it('by advice against ACH, or a block of the account', () => {
    neverOpens(
      () => fc.boolean(),
      (situation, isBlock) => {
        const { account, route } = situation.facts;
        if (!isBlock || account === null) return withFacts(situation, { route: { ...route, useAch: false } });
        return withFacts(situation, { account: { ...account, achBlock: 'R02' } });
      },
    );
  });

  it('by a member who is not in good standing', () => {
    neverOpens(
      () => users.filter((user) => user?.status !== 'ACTIVE' && user?.status !== 'PAUSED'),
      (situation, user) => withFacts(situation, { user }),
    );
  });

  it('by switching on the gate of two failures', () => {
    neverOpens(
      () => fc.constant(true),
      (situation, twoFailuresGate) => ({ ...situation, policy: { ...situation.policy, twoFailuresGate } }),
    );
  });
});
