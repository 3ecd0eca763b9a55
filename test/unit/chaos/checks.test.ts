import { describe, expect, it } from 'vitest';
import type { Promised, PutEvent } from '../../../chaos/book.ts';
import type { DealtWith, LedgerLine, Outcome, Row } from '../../../chaos/checks.ts';
import {
  changeName,
  doubleDebits,
  eventName,
  heldBackEvents,
  lostEvents,
  lostPeriods,
  lostRequests,
  untoldChanges,
} from '../../../chaos/checks.ts';

describe('double debits', () => {
  const line = (effect: LedgerLine['effect'], reference_id: string, kind = 'SUBSCRIPTION'): LedgerLine => ({
    effect,
    kind,
    reference_id,
  });

  it('are none where each record is debited once, or again after its money came back', () => {
    expect(doubleDebits([line('debit', 'a'), line('debit', 'b')])).toEqual([]);
    expect(doubleDebits([line('debit', 'a'), line('credit', 'a'), line('debit', 'a')])).toEqual([]);
  });

  it('are found where a record is debited again while its debit stands', () => {
    expect(doubleDebits([line('debit', 'a'), line('debit', 'a')])).toEqual(['SUBSCRIPTION a']);
  });

  it('are not made good by a refund afterwards', () => {
    expect(doubleDebits([line('debit', 'a'), line('debit', 'a'), line('credit', 'a')])).toHaveLength(1);
  });

  it('are counted one by one', () => {
    expect(doubleDebits([line('debit', 'a'), line('debit', 'a'), line('debit', 'a')])).toHaveLength(2);
  });

  it('are none between a float and a record of the same name', () => {
    expect(doubleDebits([line('debit', 'a'), line('debit', 'a', 'FLOAT')])).toEqual([]);
  });
});

describe('lost events', () => {
  const cancel: PutEvent = { stream: 'users', identity: 'e1', userId: 'u1', type: 'CANCEL', isGood: true };
  const odd: PutEvent = { ...cancel, identity: 'e2', isGood: false };
  const returned: PutEvent = { ...cancel, stream: 'payments', identity: 'c1#SUBSCRIPTION_RETURNED' };
  const dealt = (applied: readonly PutEvent[], quarantined: readonly PutEvent[] = []): DealtWith => ({
    applied: new Set(applied.map(eventName)),
    quarantined: new Set(quarantined.map(eventName)),
  });

  it('are none where all are applied, or in quarantine', () => {
    expect(lostEvents([cancel, odd, returned], dealt([cancel, returned], [odd]))).toEqual([]);
  });

  it('are those that nobody dealt with', () => {
    expect(lostEvents([cancel, returned], dealt([cancel]))).toEqual([returned]);
    // The same identity in the other stream is another event.
    expect(lostEvents([cancel], dealt([{ ...cancel, stream: 'payments' }]))).toEqual([cancel]);
  });

  it('are not those in quarantine; with which nothing is wrong, they should not be there', () => {
    expect(lostEvents([cancel], dealt([], [cancel]))).toEqual([]);
    expect(heldBackEvents([cancel, odd], dealt([], [cancel, odd]))).toEqual([cancel]);
    expect(heldBackEvents([cancel], dealt([cancel]))).toEqual([]);
  });
});

describe('lost requests', () => {
  const payment: Promised = { what: 'payment', statusUrl: '/payment' };
  const run: Promised = { what: 'run', statusUrl: '/run' };
  const check = (promised: Promised, outcome: Outcome | null): number =>
    lostRequests([promised], new Map([[promised.statusUrl, outcome]])).length;

  it.each<[Promised, Outcome]>([
    [payment, { status: 'done', outcome: 'collected' }],
    [payment, { status: 'failed', outcome: 'failed' }],
    [run, { status: 'complete', outcome: null }],
    [run, { status: 'stopped', outcome: null }],
  ])('are not those that came to an end: %j %j', (promised, outcome) => {
    expect(check(promised, outcome)).toBe(0);
  });

  it.each<[Promised, Outcome | null]>([
    [payment, null],
    [payment, { status: 'queued', outcome: null }],
    [payment, { status: 'done', outcome: null }],
    [run, { status: 'running', outcome: null }],
    [run, null],
  ])(
    'are those that nobody knows of, or that still wait, or that ended without a word: %j %j',
    (promised, outcome) => {
      expect(check(promised, outcome)).toBe(1);
    },
  );

  it('are those after which nobody asked', () => {
    expect(lostRequests([payment], new Map())).toEqual([payment]);
  });
});

const row = (billingDate: string, fields: Partial<Row> = {}): Row => ({
  userId: 'u1',
  subscriptionId: billingDate,
  status: 'SCHEDULED',
  billingDate,
  attempted: false,
  updatedEvent: '',
  lastRunDate: '2026-11-01T00:00:00.000000001Z',
  ...fields,
});

describe('changes that others were not told of', () => {
  const now = row('2026-11-16T06:00:00Z', { subscriptionId: 's1' });

  it('are none where what a record is now was told', () => {
    expect(untoldChanges([now], new Set([changeName('s1', now.lastRunDate)]))).toEqual([]);
  });

  it('are those of which only something earlier was told', () => {
    const earlier = changeName('s1', '2026-10-01T00:00:00.000000001Z');
    expect(untoldChanges([now], new Set([earlier]))).toEqual([changeName('s1', now.lastRunDate)]);
  });
});

describe('lost periods', () => {
  const paid = row('2026-10-16T06:00:00Z', { status: 'COMPLETED', attempted: true });
  const next = row('2026-12-16T06:00:00Z');
  const due = row('2026-11-16T06:00:00Z');
  const tried = { ...due, status: 'ERROR', attempted: true };
  const lost = (rows: readonly Row[], verdicts: Record<string, string> = {}): string[] =>
    lostPeriods(rows, { tick: '2026-11-20T08:00:00Z', verdicts: new Map(Object.entries(verdicts)) });

  it('are none where what was due was tried and another period is to come', () => {
    expect(lost([paid, tried, next])).toEqual([]);
    expect(lost([tried, { ...next, status: 'PAUSED' }])).toEqual([]);
  });

  it('are those that were due and that no run considered', () => {
    expect(lost([paid, due])).toEqual([`${due.subscriptionId} was due and not tried`]);
  });

  it('are those that the last run gave up on; not those that rightly wait', () => {
    for (const verdict of ['locked', 'failed', 'held', 'no-op'])
      expect(lost([paid, due], { [due.subscriptionId]: verdict })).toHaveLength(1);
    for (const verdict of ['deferred', 'skipped'])
      expect(lost([paid, due], { [due.subscriptionId]: verdict })).toEqual([]);
  });

  it('are not those that are due after the last run', () => {
    expect(lost([paid, next])).toEqual([]);
  });

  it('are of members whose chain ends with a period that was tried', () => {
    expect(lost([paid, tried])).toEqual([`${tried.subscriptionId} is the last of a member who has not left`]);
    expect(lost([next, tried, { ...paid, userId: 'u2' }])).toHaveLength(1);
  });

  it('are not of members who have left', () => {
    expect(lost([paid, { ...due, status: 'CANCELLED' }])).toEqual([]);
    expect(lost([paid, { ...tried, status: 'COMPLETED', updatedEvent: 'account-closed' }])).toEqual([]);
  });
});
