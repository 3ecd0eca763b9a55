import { describe, expect, it } from 'vitest';
import type { PastAttempt } from '../../../src/domain/attempt.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import type { AttemptLimit } from '../../../src/domain/limits.ts';
import { limitReached } from '../../../src/domain/limits.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import type { Process, Subscription } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES, PROCESSES } from '../../../src/domain/subscription.ts';
import { at, subscription } from '../../support/records.ts';

const NOW = at('2026-11-16T08:00:00Z');
const TOMORROW = at('2026-11-17T00:00:00Z');
const LAST_OF_YESTERDAY = at('2026-11-15T23:59:59.999999999Z');
const FIRST_OF_TODAY = at('2026-11-16T00:00:00Z');

const tried = (process: Process, when: Instant = NOW): PastAttempt => ({
  process,
  at: when,
  rail: 'PINLESS',
  result: 'FAILED',
});
const times = (count: number, attempt: PastAttempt): PastAttempt[] =>
  Array.from({ length: count }, () => attempt);

interface Given {
  readonly attempts?: readonly PastAttempt[];
  readonly others?: readonly Subscription[];
  readonly record?: Subscription;
  readonly now?: Instant;
}

const ask = (
  limit: AttemptLimit,
  { attempts = [], others = [], record = subscription(), now = NOW }: Given = {},
) => limitReached(limit, record, { attempts, partition: [...others, record] }, DEFAULT_POLICY, now);

describe('the numbers of the rules', () => {
  it('are, unless configured otherwise', () => {
    expect(DEFAULT_POLICY).toEqual({
      oldSubscriptionDays: 30,
      balanceBuffer: 0,
      retryMaxAttempts: 20,
      webhookMaxPerDay: 2,
      achRepresentMax: 2,
      achRepresentWindowDays: 180,
      achRepresentMinBankingDays: 3,
    });
  });
});

describe('attempts in all', () => {
  const LIMITED: AttemptLimit[] = [
    'one-initial-per-user-and-day',
    'one-retry-per-day',
    'webhooks-per-day',
    'in-all',
  ];
  const lastMonth = tried('BATCH', at('2026-10-20T08:00:00Z'));

  it.each(LIMITED)('are limited for %s: the 20th may be made, the 21st not', (limit) => {
    expect(ask(limit, { attempts: times(19, lastMonth) })).toBeNull();
    expect(ask(limit, { attempts: times(20, lastMonth) })).toEqual({
      reason: 'attempts-used-up',
      until: null,
    });
    expect(ask(limit, { attempts: times(21, lastMonth) })).toEqual({
      reason: 'attempts-used-up',
      until: null,
    });
  });

  it('include the refusals of a balance that was too low', () => {
    const refused: PastAttempt = { process: 'RETRY', at: lastMonth.at, rail: null, result: 'REFUSED' };
    expect(ask('in-all', { attempts: times(20, refused) })).toEqual({
      reason: 'attempts-used-up',
      until: null,
    });
  });

  it('are not limited where there is no limit', () => {
    expect(ask('none', { attempts: times(500, tried('MANUAL_REPAYMENT')) })).toBeNull();
  });

  it('are all that limits a path without a limit by day', () => {
    const today = PROCESSES.map((process) => tried(process));
    expect(ask('in-all', { attempts: today })).toBeNull();
  });
});

describe('one retry for a record and day', () => {
  it.each<[string, PastAttempt[], boolean]>([
    ['no attempt', [], false],
    ['a retry in the first nanosecond of the day', [tried('RETRY', FIRST_OF_TODAY)], true],
    ['a retry in the last nanosecond of the day before', [tried('RETRY', LAST_OF_YESTERDAY)], false],
    [
      'two retries on earlier days',
      [tried('RETRY', LAST_OF_YESTERDAY), tried('RETRY', LAST_OF_YESTERDAY)],
      false,
    ],
    ['attempts of other paths today', PROCESSES.filter((p) => p !== 'RETRY').map((p) => tried(p)), false],
  ])('after %s', (_, attempts, limited) => {
    expect(ask('one-retry-per-day', { attempts })).toEqual(
      limited ? { reason: 'retried-today', until: TOMORROW } : null,
    );
  });

  it('begins anew at midnight UTC', () => {
    const attempts = [tried('RETRY')];
    const lastOfToday = at('2026-11-16T23:59:59.999999999Z');
    expect(ask('one-retry-per-day', { attempts, now: lastOfToday })).toEqual({
      reason: 'retried-today',
      until: TOMORROW,
    });
    expect(ask('one-retry-per-day', { attempts, now: TOMORROW })).toBeNull();
  });
});

describe('two webhook attempts for a record and day', () => {
  it.each<[string, PastAttempt[], boolean]>([
    ['one', [tried('WEBHOOK')], false],
    ['two', [tried('WEBHOOK'), tried('WEBHOOK')], true],
    ['one of each kind', [tried('WEBHOOK'), tried('WEBHOOK_BALANCE')], true],
    ['two of the other kind', [tried('WEBHOOK_BALANCE'), tried('WEBHOOK_BALANCE')], true],
    ['three', times(3, tried('WEBHOOK')), true],
    ['one today and one yesterday', [tried('WEBHOOK'), tried('WEBHOOK', LAST_OF_YESTERDAY)], false],
    ['one, and others that are no webhooks', [tried('WEBHOOK'), tried('RETRY'), tried('BATCH')], false],
  ])('after %s', (_, attempts, limited) => {
    expect(ask('webhooks-per-day', { attempts })).toEqual(
      limited ? { reason: 'webhooks-today', until: TOMORROW } : null,
    );
  });

  it('is a setting', () => {
    const facts = { attempts: [tried('WEBHOOK')], partition: [] };
    const policy = { ...DEFAULT_POLICY, webhookMaxPerDay: 1 };
    expect(limitReached('webhooks-per-day', subscription(), facts, policy, NOW)).not.toBeNull();
  });
});

describe('one first attempt for a user and day, the oldest period first', () => {
  const LIMIT = 'one-initial-per-user-and-day';
  const older = (fields: Partial<Subscription> = {}): Subscription =>
    subscription({ billingDate: at('2026-10-16T06:00:00Z'), ...fields });

  it('lets the only record go', () => {
    expect(ask(LIMIT)).toBeNull();
  });

  it.each(BILLING_STATUSES.map((status) => [status, status === 'SCHEDULED'] as const))(
    'an older period that is %s goes first: %s',
    (billingStatus, first) => {
      expect(ask(LIMIT, { others: [older({ billingStatus })] })).toEqual(
        first ? { reason: 'older-period-first', until: null } : null,
      );
    },
  );

  it('lets the older of two go first', () => {
    const newer = subscription();
    expect(ask(LIMIT, { record: older(), others: [newer] })).toBeNull();
    expect(ask(LIMIT, { record: newer, others: [older()] })).toEqual({
      reason: 'older-period-first',
      until: null,
    });
  });

  it.each(BILLING_STATUSES)(
    'an older period that the run has made %s today has gone first: the newer one waits as if it had come first',
    (billingStatus) => {
      const others = [older({ billingStatus, process: 'INITIAL', lastRunDate: FIRST_OF_TODAY })];
      const until = billingStatus === 'SCHEDULED' ? null : TOMORROW;
      expect(ask(LIMIT, { others })).toEqual({ reason: 'older-period-first', until });
    },
  );

  it.each<[string, Partial<Subscription>]>([
    ['was dealt with yesterday', { process: 'INITIAL', lastRunDate: LAST_OF_YESTERDAY }],
    ['was retried today', { process: 'RETRY', lastRunDate: FIRST_OF_TODAY }],
    ['was never run', { process: 'INITIAL', lastRunDate: null }],
  ])('an older debt that %s holds nothing up', (_, fields) => {
    expect(ask(LIMIT, { others: [older({ billingStatus: 'ERROR', ...fields })] })).toBeNull();
  });

  it('a period to come that the run has just opened holds nothing up', () => {
    const opened = subscription({
      billingDate: at('2026-12-16T06:00:00Z'),
      process: 'INITIAL',
      lastRunDate: NOW,
    });
    const overNext = subscription({ billingDate: at('2027-01-16T06:00:00Z') });
    expect(ask(LIMIT, { others: [opened] })).toBeNull();
    expect(ask(LIMIT, { record: overNext, others: [opened] })).toBeNull();
  });

  it('is not held up by periods to come', () => {
    const next = subscription({ billingDate: at('2026-12-16T06:00:00Z') });
    expect(ask(LIMIT, { others: [next] })).toBeNull();
    const overNext = subscription({ billingDate: at('2027-01-16T06:00:00Z') });
    expect(ask(LIMIT, { record: overNext, others: [next] })).toBeNull();
  });

  it.each<[string, Instant, boolean]>([
    ['in the first nanosecond of the day', FIRST_OF_TODAY, true],
    ['just now', NOW, true],
    ['in the last nanosecond of the day before', LAST_OF_YESTERDAY, false],
  ])('counts a first attempt on another record %s', (_, initialRunDate, limited) => {
    const others = [older({ billingStatus: 'ERROR', initialRunDate })];
    expect(ask(LIMIT, { others })).toEqual(limited ? { reason: 'initial-today', until: TOMORROW } : null);
  });

  it('counts an attempt on the record itself, also when it was scheduled anew after an earlier first one', () => {
    const record = subscription({ initialRunDate: at('2026-11-10T08:00:00Z') });
    expect(ask(LIMIT, { record, attempts: [tried('INITIAL', FIRST_OF_TODAY)] })).toEqual({
      reason: 'initial-today',
      until: TOMORROW,
    });
    expect(ask(LIMIT, { record, attempts: [tried('INITIAL', LAST_OF_YESTERDAY)] })).toBeNull();
    expect(ask(LIMIT, { record, attempts: [tried('MANUAL_REPAYMENT')] })).toBeNull();
  });
});
