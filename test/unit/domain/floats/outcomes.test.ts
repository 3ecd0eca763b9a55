import { describe, expect, it } from 'vitest';
import type { AttemptId } from '../../../../src/domain/attempt.ts';
import type { AchModel, Float, FloatStatus, LogEntry, Stage } from '../../../../src/domain/floats/float.ts';
import { FLOAT_STATUSES, STAGES } from '../../../../src/domain/floats/float.ts';
import type { FloatChange, FloatWord, LoggedAttempt } from '../../../../src/domain/floats/outcomes.ts';
import {
  floatAchCompleted,
  floatAchReturned,
  floatCollected,
  floatCreditReturned,
  floatDeclined,
  floatOpened,
  floatPaidInVain,
  floatSent,
  floatStepped,
  floatToldAside,
  floatTurned,
  isNews,
  whyInVain,
} from '../../../../src/domain/floats/outcomes.ts';
import type { SupportWish } from '../../../../src/domain/floats/support.ts';
import { SUPPORT_WISHES, planFloatSupport } from '../../../../src/domain/floats/support.ts';
import type { FloatCause } from '../../../../src/domain/floats/transitions.ts';
import { isLegalForFloat } from '../../../../src/domain/floats/transitions.ts';
import type { Instant } from '../../../../src/domain/instant.ts';
import { NANOS_PER_DAY } from '../../../support/arbitraries.ts';
import { aFloat } from '../../../support/floats.ts';
import { at } from '../../../support/records.ts';

const NOW = at('2026-11-16T09:30:00.000000001Z');
const MODEL: AchModel = {
  override: false,
  version: 'rule-1',
  features: { failed_ach: 0 },
  probability: 0.95,
};
const CARD: LoggedAttempt = {
  attemptId: 'attempt-1' as AttemptId,
  process: 'TODAY6AM',
  rail: 'PINLESS',
  confirmationId: 'USIO-1',
  achModel: null,
};
const ACH: LoggedAttempt = { ...CARD, rail: 'ACH', confirmationId: 'JPM-1', achModel: MODEL };
const R01 = { returnCode: 'R01', message: 'insufficient funds' };

/** What differs from the float as it was, but for the stamp. */
function changesOf({ float: after }: FloatChange, before: Float): Partial<Float> {
  const keys = Object.keys(after) as (keyof Float)[];
  return Object.fromEntries(
    keys.filter((key) => key !== 'lastRunTime' && after[key] !== before[key]).map((key) => [key, after[key]]),
  );
}

/** What the row says, beside whose it is and when. */
function told({ entry }: FloatChange): Partial<LogEntry> | null {
  if (entry === null) return null;
  const { process, outcome, confirmationId, method, attemptId, achModel } = entry;
  return { process, outcome, confirmationId, method, attemptId, achModel };
}
const NO_ATTEMPT = { confirmationId: null, method: null, attemptId: null, achModel: null };

describe('a card without money, when the account is asked at once', () => {
  it.each(FLOAT_STATUSES.filter((status) => ['SCHEDULING', 'RETRY', 'UNCOLLECTABLE'].includes(status)))(
    'is in the log, and a float that is %s stays so: whoever takes over goes on with the account',
    (status) => {
      const float = aFloat({ status });
      const change = floatTurned(float, CARD, '62 no money', NOW);
      expect(changesOf(change, float)).toEqual({ confirmationId: 'USIO-1', error: '62 no money' });
      expect(told(change)).toMatchObject({ outcome: 'RETURNED', method: 'PINLESS', attemptId: 'attempt-1' });
      expect(isLegalForFloat(status, change.float.status, change.cause)).toBe(true);
    },
  );
});

describe('every change', () => {
  it('has a stamp of its own: now, or after the last one where the clock is behind', () => {
    expect(floatOpened(aFloat(), NOW).float.lastRunTime).toBe(NOW);
    const ahead = aFloat({ lastRunTime: (NOW + 5n) as Instant });
    expect(floatOpened(ahead, NOW).float.lastRunTime).toBe(NOW + 6n);
    expect(floatOpened(aFloat({ lastRunTime: NOW }), NOW).float.lastRunTime).toBe(NOW + 1n);
  });

  it('writes its row under the same stamp, with the float’s own dates', () => {
    const float = aFloat({ lastRunTime: at('2026-11-16T23:59:59.999999999Z') });
    const { float: after, entry } = floatCollected(float, CARD, NOW);
    expect(after.lastRunTime).toBe(at('2026-11-17T00:00:00.000000001Z'));
    expect(entry).toMatchObject({
      floatId: float.floatId,
      userId: float.userId,
      dueDate: float.dueDate,
      runTime: after.lastRunTime,
      runDate: '2026-11-17',
    });
  });

  it('keeps whatever else its row carries', () => {
    const row = { ...aFloat(), version: 7 };
    expect(floatOpened(row, NOW).float.version).toBe(7);
  });
});

describe('an attempt', () => {
  it('that is opened leaves the float and the log as they are', () => {
    const float = aFloat({ error: 'earlier', confirmationId: 'USIO-0' });
    const change = floatOpened(float, NOW);
    expect([change.cause, changesOf(change, float), told(change)]).toEqual(['attempt-opened', {}, null]);
  });

  it('that is paid completes the float', () => {
    const float = aFloat({ status: 'RETRY', error: '62: insufficient funds' });
    const change = floatCollected(float, CARD, NOW);
    expect(change.cause).toBe('attempt-succeeded');
    expect(changesOf(change, float)).toEqual({
      status: 'COMPLETED',
      completedAt: NOW,
      confirmationId: 'USIO-1',
      error: '',
    });
    expect(told(change)).toEqual({
      process: 'TODAY6AM',
      outcome: 'COMPLETED',
      confirmationId: 'USIO-1',
      method: 'PINLESS',
      attemptId: 'attempt-1',
      achModel: null,
    });
  });

  it('that is sent waits for the bank, and keeps what decided that it was', () => {
    const float = aFloat({ error: '62: insufficient funds' });
    const change = floatSent(float, { ...ACH, process: 'TOMORROW' }, NOW);
    expect(change.cause).toBe('ach-accepted');
    expect(changesOf(change, float)).toEqual({ status: 'ACHSENT', confirmationId: 'JPM-1', error: '' });
    expect(told(change)).toEqual({
      process: 'TOMORROW',
      outcome: 'ACHSENT',
      confirmationId: 'JPM-1',
      method: 'ACH',
      attemptId: 'attempt-1',
      achModel: MODEL,
    });
  });

  it('that is declined is a row like any other', () => {
    const change = floatDeclined(aFloat(), { ...CARD, confirmationId: '' }, '62: insufficient funds', NOW);
    expect(change.cause).toBe('attempt-declined');
    expect(change.float).toMatchObject({ confirmationId: '', error: '62: insufficient funds' });
    expect(told(change)).toMatchObject({ outcome: 'RETURNED', method: 'PINLESS', confirmationId: null });
  });

  /** Rows: the stage that opened the attempt; columns: the float's status when the decline comes. */
  const DECLINED: Record<Stage, Partial<Record<FloatStatus, FloatStatus>>> = {
    TOMORROW: { SCHEDULING: 'SCHEDULING', RETRY: 'RETRY', UNCOLLECTABLE: 'RETRY', DEFAULTED: 'DEFAULTED' },
    TODAY6AM: { SCHEDULING: 'RETRY', RETRY: 'RETRY', UNCOLLECTABLE: 'RETRY', DEFAULTED: 'DEFAULTED' },
    RETRY: { SCHEDULING: 'RETRY', RETRY: 'RETRY', UNCOLLECTABLE: 'RETRY', DEFAULTED: 'DEFAULTED' },
    WEBHOOK: { SCHEDULING: 'RETRY', RETRY: 'RETRY', UNCOLLECTABLE: 'RETRY', DEFAULTED: 'DEFAULTED' },
    SUPPORT: {
      SCHEDULING: 'SCHEDULING',
      RETRY: 'RETRY',
      UNCOLLECTABLE: 'UNCOLLECTABLE',
      DEFAULTED: 'DEFAULTED',
    },
  };
  const declines = STAGES.flatMap((process) =>
    Object.entries(DECLINED[process]).map(([status, becomes]) => ({
      process,
      status: status as FloatStatus,
      becomes,
    })),
  );
  it.each(declines)('of $process declined on $status leaves $becomes', ({ process, status, becomes }) => {
    const { float, cause } = floatDeclined(aFloat({ status }), { ...CARD, process }, 'declined', NOW);
    expect(float.status).toBe(becomes);
    expect(isLegalForFloat(status, becomes, cause)).toBe(true);
  });
});

describe('a step that charges nobody', () => {
  it('gives up for today, without a row: nothing was tried', () => {
    const float = aFloat();
    const change = floatStepped(float, 'TODAY6AM', { verdict: 'give-up-today', reason: 'no-account' }, NOW);
    expect(change.cause).toBe('given-up-for-today');
    expect(changesOf(change, float)).toEqual({ status: 'RETRY', error: 'no-account' });
    expect(told(change)).toBeNull();
  });

  it('calls a float uncollectable, without a row', () => {
    const float = aFloat({ status: 'RETRY' });
    const change = floatStepped(float, 'RETRY', { verdict: 'uncollectable', reason: 'no-account' }, NOW);
    expect(change.cause).toBe('account-missing');
    expect(changesOf(change, float)).toEqual({ status: 'UNCOLLECTABLE', error: 'no-account' });
    expect(told(change)).toBeNull();
  });

  it('defaults a float, with a row that is no attempt', () => {
    const float = aFloat({ status: 'RETRY', confirmationId: 'JPM-1' });
    const step = { verdict: 'default', reason: 'too-long-past-due' } as const;
    const change = floatStepped(float, 'WEBHOOK', step, NOW);
    expect(change.cause).toBe('limit-reached');
    expect(changesOf(change, float)).toEqual({ status: 'DEFAULTED', error: 'too-long-past-due' });
    expect(told(change)).toEqual({ process: 'WEBHOOK', outcome: 'DEFAULTED', ...NO_ATTEMPT });
  });
});

describe('the bank’s word', () => {
  it('that a debit was paid completes the float', () => {
    const float = aFloat({ status: 'ACHSENT', confirmationId: 'JPM-1' });
    const change = floatAchCompleted(float, ACH, NOW);
    expect(change.cause).toBe('ach-completed');
    expect(changesOf(change, float)).toEqual({ status: 'COMPLETED', completedAt: NOW });
    expect(told(change)).toMatchObject({ outcome: 'COMPLETED', method: 'ACH', attemptId: 'attempt-1' });
  });

  it.each([
    ['ACHSENT', null],
    ['COMPLETED', at('2026-10-16T09:30:00Z')],
  ] as const)('that a debit came back makes a float that is %s owed again', (status, completedAt) => {
    const float = aFloat({ status, completedAt, confirmationId: 'JPM-1' });
    const change = floatAchReturned(float, ACH, R01, NOW);
    expect(change.cause).toBe('ach-returned');
    expect(change.float).toEqual({
      ...float,
      status: 'RETRY',
      completedAt: null,
      error: 'R01: insufficient funds',
      lastRunTime: NOW,
    });
    expect(told(change)).toMatchObject({ outcome: 'RETURNED', method: 'ACH', attemptId: 'attempt-1' });
  });

  it('without a code says at least that it is a return', () => {
    const nothing = { returnCode: null, message: null };
    expect(floatAchReturned(aFloat({ status: 'ACHSENT' }), ACH, nothing, NOW).float.error).toBe('returned');
    expect(floatCreditReturned(aFloat(), nothing, NOW).float.error).toBe('credit returned');
  });

  it('that the advance itself came back ends the float', () => {
    const float = aFloat({ status: 'COMPLETED', completedAt: NOW });
    const change = floatCreditReturned(float, R01, NOW);
    expect(change.cause).toBe('credit-returned');
    expect(changesOf(change, float)).toEqual({
      status: 'DEFAULTED',
      completedAt: null,
      creditReturnedAt: NOW,
      error: 'R01: insufficient funds',
    });
    expect(told(change)).toBeNull();
  });

  const SENT = { rail: 'ACH', fate: 'ACHSENT' } as const;
  const WORDS: Record<FloatWord['result'], { on: FloatStatus[]; cause: FloatCause }> = {
    COMPLETED: { on: ['ACHSENT'], cause: 'ach-completed' },
    RETURNED: { on: ['ACHSENT', 'COMPLETED'], cause: 'ach-returned' },
    CREDIT_RETURNED: { on: [...FLOAT_STATUSES], cause: 'credit-returned' },
  };
  const cells = (Object.keys(WORDS) as FloatWord['result'][]).flatMap((result) =>
    FLOAT_STATUSES.map((status) => ({ result, status, counts: WORDS[result].on.includes(status) })),
  );
  it.each(cells)('$result on $status counts: $counts', ({ result, status, counts }) => {
    const float = aFloat({ status, completedAt: status === 'COMPLETED' ? NOW : null });
    const debit = result === 'CREDIT_RETURNED' ? null : SENT;
    const why = whyInVain(float, { result }, debit, NOW);
    expect(why).toBe(counts ? null : `float-is-${status.toLowerCase()}`);
  });

  it('comes too late for a return after sixty days, to the nanosecond', () => {
    const completed = (completedAt: bigint) =>
      aFloat({ status: 'COMPLETED', completedAt: completedAt as Instant });
    const cut = NOW - 60n * NANOS_PER_DAY;
    const word = { result: 'RETURNED' } as const;
    expect(whyInVain(completed(cut), word, SENT, NOW)).toBeNull();
    expect(whyInVain(completed(cut - 1n), word, SENT, NOW)).toBe('returned-too-late');
    expect(whyInVain(completed(cut - 1n), { result: 'CREDIT_RETURNED' }, null, NOW)).toBeNull();
  });

  it('about a card is no word of the bank', () => {
    const paid = aFloat({ status: 'COMPLETED', completedAt: NOW });
    const card = { rail: 'PINLESS', fate: 'COMPLETED' } as const;
    expect(whyInVain(paid, { result: 'RETURNED' }, card, NOW)).toBe('not-an-ach-debit');
    expect(whyInVain(paid, { result: 'RETURNED' }, null, NOW)).toBe('not-an-ach-debit');
  });

  it('that a debit came back, told again after support had the float paid, asks nobody to pay twice', () => {
    const paid = aFloat({ status: 'COMPLETED', completedAt: NOW });
    const word = { result: 'RETURNED' } as const;
    const again = { ...SENT, fate: 'RETURNED' } as const;
    expect(whyInVain(paid, word, again, NOW)).toBe('returned-before');
    expect(whyInVain(aFloat({ status: 'ACHSENT' }), word, again, NOW)).toBeNull();
    expect(whyInVain(paid, { result: 'CREDIT_RETURNED' }, null, NOW)).toBeNull();
  });

  it('that the advance came back is news once', () => {
    const word = { result: 'CREDIT_RETURNED' } as const;
    const givenUp = aFloat({ status: 'DEFAULTED' });
    const { float } = floatCreditReturned(givenUp, R01, NOW);
    expect(whyInVain(givenUp, word, null, NOW)).toBeNull();
    expect(whyInVain(float, word, null, NOW)).toBe('credit-returned-before');
  });
});

describe('a word that decides nothing', () => {
  it.each(['COMPLETED', 'RETURNED'] as const)('is told, and the float stays as it is: %s', (outcome) => {
    const float = aFloat({ status: 'DEFAULTED', confirmationId: 'JPM-1', error: 'R03: no account' });
    const change = floatToldAside(float, ACH, outcome, NOW);
    expect([change.cause, changesOf(change, float)]).toEqual(['told-aside', {}]);
    expect(change.entry).toMatchObject({ outcome, method: 'ACH', attemptId: 'attempt-1', remark: 'aside' });
    expect(change.entry?.runTime).toBe(change.float.lastRunTime);
  });

  it.each(['ACHSENT', 'COMPLETED'] as const)(
    'is an answer that comes after the advance did, too: %s is told, the float stays given up and names the payment',
    (outcome) => {
      const float = aFloat({ status: 'DEFAULTED', confirmationId: 'JPM-0', error: 'R03: no account' });
      const change = floatPaidInVain(float, ACH, outcome, NOW);
      expect([change.cause, changesOf(change, float)]).toEqual(['told-aside', { confirmationId: 'JPM-1' }]);
      expect(change.entry).toMatchObject({ outcome, method: 'ACH', attemptId: 'attempt-1', remark: 'aside' });
      expect(isLegalForFloat('DEFAULTED', change.float.status, change.cause)).toBe(true);
    },
  );

  it.each([
    ['ACHSENT', true, true],
    ['COMPLETED', false, true],
    ['RETURNED', false, false],
    ['FAILED', false, false],
    [undefined, false, false],
  ] as const)(
    'about a debit that was %s last is news that it was paid: %s, that it came back: %s',
    (...cell) => {
      const [fate, paid, back] = cell;
      const debit = { rail: 'ACH', fate } as const;
      expect(isNews({ result: 'COMPLETED' }, debit)).toBe(paid);
      expect(isNews({ result: 'RETURNED' }, debit)).toBe(back);
      expect(isNews({ result: 'RETURNED' }, null)).toBe(false);
      expect(isNews({ result: 'RETURNED' }, { rail: 'PINLESS', fate })).toBe(false);
    },
  );
});

describe('support', () => {
  const LEGAL: Record<FloatStatus, readonly SupportWish[]> = {
    SCHEDULING: ['COMPLETED', 'DEFAULTED', 'RETRY'],
    RETRY: ['COMPLETED', 'DEFAULTED', 'RETRY'],
    UNCOLLECTABLE: ['COMPLETED', 'DEFAULTED', 'RETRY'],
    ACHSENT: [],
    COMPLETED: [],
    DEFAULTED: ['RETRY'],
  };
  const OUTCOME = { COMPLETED: 'COMPLETED', DEFAULTED: 'DEFAULTED', RETRY: 'RETURNED' } as const;
  const cells = FLOAT_STATUSES.flatMap((from) =>
    (['COMPLETED', 'DEFAULTED', 'RETRY'] as const).map((wish) => ({
      from,
      wish,
      legal: LEGAL[from].includes(wish),
    })),
  );

  it('may wish for three statuses', () => {
    expect([...SUPPORT_WISHES].sort()).toEqual(['COMPLETED', 'DEFAULTED', 'RETRY']);
  });

  it.each(cells)('takes a float from $from to $wish: $legal', ({ from, wish, legal }) => {
    const float = aFloat({ status: from, confirmationId: 'JPM-1', error: 'R01' });
    const plan = planFloatSupport(float, wish, null, NOW);
    if (!legal) {
      expect(plan).toMatchObject({ plan: 'refused', reason: 'illegal-transition' });
      return;
    }
    if (plan.plan !== 'change') throw new Error(plan.reason);
    expect(plan.change.cause).toBe('support-changed');
    expect(plan.change.float).toEqual({
      ...float,
      status: wish,
      completedAt: wish === 'COMPLETED' ? NOW : null,
      lastRunTime: NOW,
    });
    expect(told(plan.change)).toEqual({ process: 'SUPPORT', outcome: OUTCOME[wish], ...NO_ATTEMPT });
  });

  it.each(cells.filter(({ legal }) => legal))(
    'never takes a float from $from to $wish while an attempt is open',
    ({ from, wish }) => {
      const plan = planFloatSupport(aFloat({ status: from }), wish, CARD, NOW);
      expect(plan).toMatchObject({ plan: 'refused', reason: 'open-attempt' });
    },
  );
});
