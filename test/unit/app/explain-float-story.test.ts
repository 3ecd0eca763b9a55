import { describe, expect, it } from 'vitest';
import { tellFloatStory } from '../../../src/app/floats/explain-float-story.ts';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import type { LogEntry, LogOutcome } from '../../../src/domain/floats/float.ts';
import { recordIdOf } from '../../../src/domain/floats/record-id.ts';
import type { AttemptRecord, Resolution } from '../../../src/ports/pipeline.ts';
import { aFloat, logEntry } from '../../support/floats.ts';
import { at } from '../../support/records.ts';

const float = aFloat();
const ABANDONED = { errorCode: 'abandoned', errorMessage: 'the processor never knew of it' };

function attempt(status: Resolution['status'], fields: Partial<Resolution> = {}): AttemptRecord {
  return {
    attemptId: 'attempt-1' as AttemptId,
    subscriptionId: recordIdOf(float.floatId),
    userId: float.userId,
    triggerId: 'run-1',
    process: 'TODAY6AM',
    rail: 'ACH',
    amount: float.amount,
    accountId: 'acc-1',
    description: null,
    insteadOf: null,
    refundOf: null,
    upgrades: null,
    openedAt: at('2026-11-16T09:30:00Z'),
    resolution: {
      status,
      at: at('2026-11-17T09:30:00Z'),
      confirmationId: 'JPM-1',
      errorCode: null,
      errorMessage: null,
      ...fields,
    },
  };
}

const row = (date: string, outcome: LogOutcome, remark?: LogEntry['remark']): LogEntry =>
  logEntry({
    attemptId: 'attempt-1' as AttemptId,
    method: 'ACH',
    runTime: at(`${date}T09:30:00Z`),
    outcome,
    remark,
  });

const changes = (attempts: AttemptRecord[], ...log: LogEntry[]): string[] =>
  tellFloatStory({ float, log, attempts, verdicts: [], requests: new Map() })
    .filter(({ kind, attemptId }) => kind === 'change' && attemptId !== null)
    .map(({ text }) => text.replace('the charge of $60.00 from the bank account ', ''));

describe('the story of a float', () => {
  it('says of an attempt that the processor never knew of that it was given up, not that it was declined', () => {
    expect(changes([attempt('FAILED', ABANDONED)], row('2026-11-17', 'RETURNED', 'not-presented'))).toEqual([
      'was given up: the processor never knew of it',
    ]);
  });

  it('says so also after it was made all the same, and what came of it then', () => {
    const givenUp = row('2026-11-17', 'RETURNED', 'not-presented');
    expect(
      changes([attempt('ACHSENT')], givenUp, row('2026-11-18', 'ACHSENT'), row('2026-11-20', 'COMPLETED')),
    ).toEqual([
      'was given up: the processor never knew of it',
      'was accepted and is on its way through the bank',
      'was paid by the bank',
    ]);
  });

  it('says what came too late to change the float', () => {
    const aside = (date: string, outcome: LogOutcome) => row(date, outcome, 'aside');
    const log = [
      aside('2026-11-18', 'ACHSENT'),
      aside('2026-11-20', 'COMPLETED'),
      aside('2026-11-23', 'RETURNED'),
    ];
    expect(changes([attempt('ACHSENT')], ...log)).toEqual([
      'was accepted and is on its way through the bank; the float did not change by it',
      'was paid by the bank; the float did not change by it',
      'was returned by the bank; the float did not change by it',
    ]);
  });
});
