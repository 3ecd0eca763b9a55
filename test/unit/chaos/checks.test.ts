import { describe, expect, it } from 'vitest';
import type { Promised, PutEvent } from '../../../chaos/book.ts';
import type { DealtWith, LedgerLine, Outcome, Row } from '../../../chaos/checks.ts';
import {
  changeName,
  doubleDebits,
  endings,
  eventName,
  forgottenDebts,
  heldBackEvents,
  lostEvents,
  lostPeriods,
  lostRequests,
  misreadEvents,
  periodsAfterClosing,
  unpaidPeriods,
  unpaidRequests,
  untoldChanges,
} from '../../../chaos/checks.ts';

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

/** `payment`: the bank's name for it; one for each reference, unless told. */
const line = (
  effect: LedgerLine['effect'],
  reference_id: string,
  { kind = 'SUBSCRIPTION', payment = reference_id } = {},
): LedgerLine => ({ effect, kind, reference_id, confirmation_id: `${kind} ${payment}` });

describe('double debits', () => {
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
    expect(doubleDebits([line('debit', 'a'), line('debit', 'a', { kind: 'FLOAT' })])).toEqual([]);
  });

  it('are not made good by money that was given back too often before', () => {
    const twice = [line('credit', 'a'), line('credit', 'a'), line('debit', 'a'), line('debit', 'a')];
    expect(doubleDebits(twice)).toEqual(['SUBSCRIPTION a']);
  });

  it('are none where an entry is sent and then settles', () => {
    expect(doubleDebits([line('sent', 'a'), line('debit', 'a')])).toEqual([]);
  });
});

describe('periods without money', () => {
  const paid = row('2026-11-16T06:00:00Z', { subscriptionId: 'a', status: 'COMPLETED', attempted: true });
  const onItsWay = { ...paid, status: 'ACHSENT' };
  const unpaid = (one: Row, ledger: readonly LedgerLine[], paidBefore: readonly string[] = []): string[] =>
    unpaidPeriods([one], ledger, new Set(paidBefore));

  it('are none where a debit stands, also after one that was given back', () => {
    expect(unpaid(paid, [line('debit', 'a')])).toEqual([]);
    const again = [line('debit', 'a', { payment: '1' }), line('credit', 'a', { payment: '1' })];
    expect(unpaid(paid, [...again, line('debit', 'a', { payment: '2' })])).toEqual([]);
  });

  it('are those that are said to be paid and were not, or not any more', () => {
    expect(unpaid(paid, [])).toEqual(['a is COMPLETED']);
    expect(unpaid(paid, [line('debit', 'b')])).toHaveLength(1);
    expect(unpaid(paid, [line('debit', 'a'), line('credit', 'a')])).toHaveLength(1);
    expect(unpaid(paid, [line('debit', 'a', { kind: 'FLOAT' })])).toHaveLength(1);
  });

  it('are not those whose entry is on its way, or has settled', () => {
    expect(unpaid(onItsWay, [line('sent', 'a')])).toEqual([]);
    expect(unpaid(onItsWay, [line('sent', 'a'), line('debit', 'a')])).toEqual([]);
  });

  it('are those whose entry the bank has never had, has returned, or has yet to settle', () => {
    expect(unpaid(onItsWay, [])).toEqual(['a is ACHSENT']);
    expect(unpaid(onItsWay, [line('sent', 'a'), line('debit', 'a'), line('credit', 'a')])).toHaveLength(1);
    expect(unpaid(paid, [line('sent', 'a')])).toHaveLength(1);
  });

  it('are not those that were paid before their member joined, nor those that nobody says are paid', () => {
    expect(unpaid(paid, [], ['a'])).toEqual([]);
    for (const status of ['SCHEDULED', 'ERROR', 'WAIVED', 'CANCELLED', 'REFUNDED'])
      expect(unpaid({ ...paid, status }, [])).toEqual([]);
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

  it('are not those that were applied; which nobody can read should not be among them', () => {
    expect(misreadEvents([cancel, odd], dealt([cancel, odd]))).toEqual([odd]);
    expect(misreadEvents([cancel, odd], dealt([cancel], [odd]))).toEqual([]);
  });
});

describe('periods after closing', () => {
  const closing: PutEvent = {
    stream: 'users',
    identity: 'e1',
    userId: 'u1',
    type: 'CLOSEACCOUNT',
    isGood: true,
  };
  const after = (rows: readonly Row[], event: PutEvent, as: 'applied' | 'quarantined'): string[] => {
    const nothing = { applied: new Set<string>(), quarantined: new Set<string>() };
    return periodsAfterClosing(rows, [event], { ...nothing, [as]: new Set([eventName(event)]) });
  };
  const next = row('2026-12-16T06:00:00Z', { subscriptionId: 's1' });

  it('are those to come of a member who has closed the account', () => {
    expect(after([next], closing, 'applied')).toEqual(['s1 is SCHEDULED']);
    expect(after([{ ...next, status: 'PAUSED' }], closing, 'applied')).toEqual(['s1 is PAUSED']);
  });

  it('are none where they are cancelled or were tried, and none of others', () => {
    for (const status of ['CANCELLED', 'COMPLETED', 'ERROR'])
      expect(after([{ ...next, status }], closing, 'applied')).toEqual([]);
    expect(after([{ ...next, userId: 'u2' }], closing, 'applied')).toEqual([]);
    expect(after([next], { ...closing, type: 'CANCEL' }, 'applied')).toEqual([]);
  });

  it('are none as long as nobody has applied the event', () => {
    expect(after([next], closing, 'quarantined')).toEqual([]);
  });
});

describe('lost requests', () => {
  const payment: Promised = { what: 'payment', statusUrl: '/payment' };
  const run: Promised = { what: 'run', statusUrl: '/run' };
  const check = (promised: Promised, outcome: Outcome | null): number =>
    lostRequests([promised], new Map([[promised.statusUrl, outcome]])).length;

  const about = null;

  it.each<[Promised, Outcome]>([
    [payment, { status: 'done', outcome: 'collected', about }],
    [payment, { status: 'failed', outcome: 'failed', about }],
    [run, { status: 'complete', outcome: null, about }],
    [run, { status: 'stopped', outcome: null, about }],
  ])('are not those that came to an end: %j %j', (promised, outcome) => {
    expect(check(promised, outcome)).toBe(0);
  });

  it.each<[Promised, Outcome | null]>([
    [payment, null],
    [payment, { status: 'queued', outcome: null, about }],
    [payment, { status: 'done', outcome: null, about }],
    [run, { status: 'running', outcome: null, about }],
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

describe('requests without money', () => {
  const payment: Promised = { what: 'payment', statusUrl: '/payment' };
  const unpaid = (outcome: string, about: string | null, ledger: readonly LedgerLine[]): number => {
    const outcomes = new Map([['/payment', { status: 'done', outcome, about }]]);
    return unpaidRequests([payment], outcomes, ledger).length;
  };

  it('are none where the bank has what somebody heard of', () => {
    expect(unpaid('collected', 'SUBSCRIPTION a', [line('debit', 'a')])).toBe(0);
    expect(unpaid('collected', 'FLOAT a', [line('debit', 'a', { kind: 'FLOAT' })])).toBe(0);
    expect(unpaid('sent', 'SUBSCRIPTION a', [line('sent', 'a')])).toBe(0);
  });

  it('are none where what was sent has come back since', () => {
    const cameBack = [line('sent', 'a'), line('debit', 'a'), line('credit', 'a')];
    expect(unpaid('sent', 'SUBSCRIPTION a', cameBack)).toBe(0);
  });

  it('are those that the bank knows nothing of, or has given back', () => {
    expect(unpaid('collected', 'SUBSCRIPTION a', [])).toBe(1);
    expect(unpaid('collected', 'FLOAT a', [line('debit', 'a')])).toBe(1);
    expect(unpaid('collected', 'SUBSCRIPTION a', [line('debit', 'a'), line('credit', 'a')])).toBe(1);
    expect(unpaid('sent', 'SUBSCRIPTION a', [])).toBe(1);
    expect(unpaid('collected', null, [line('debit', 'a')])).toBe(1);
  });

  it('are not those that ended without money', () => {
    for (const outcome of ['declined', 'refused', 'no-op', 'failed'])
      expect(unpaid(outcome, 'SUBSCRIPTION a', [])).toBe(0);
  });
});

it('promises are counted by their ends', () => {
  const promised = ['/a', '/b', '/c', '/d'].map((statusUrl) => ({ what: 'payment', statusUrl }) as const);
  const run = { what: 'run', statusUrl: '/run' } as const;
  const paid = { status: 'done', outcome: 'collected', about: null };
  const outcomes = new Map<string, Outcome | null>([
    ['/a', paid],
    ['/b', paid],
    ['/c', { ...paid, status: 'failed', outcome: 'failed' }],
    ['/d', null],
    ['/run', { ...paid, status: 'complete', outcome: null }],
  ]);
  expect(Object.fromEntries(endings([...promised, run], outcomes))).toEqual({
    'payment done: collected': 2,
    'payment failed: failed': 1,
    'payment not known': 1,
    'run complete': 1,
  });
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

  it('are those that were tried before, and not by the last run although due', () => {
    expect(lost([paid, { ...due, attempted: true }, next])).toHaveLength(1);
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

describe('forgotten debts', () => {
  const debt = row('2026-11-16T06:00:00Z', {
    subscriptionId: 's1',
    status: 'ERROR',
    lastRunDate: '2026-11-19T22:01:00.5Z',
  });
  const forgotten = (one: Row, considered: readonly string[], beganAt = '2026-11-20T22:01:00Z') =>
    forgottenDebts([one], { beganMs: Date.parse(beganAt), considered: new Set(considered) });

  it('are none where a run looked at it, whatever it said', () => {
    expect(forgotten(debt, ['s1'])).toEqual([]);
  });

  it('are those that no run looked at', () => {
    expect(forgotten(debt, ['s2'])).toEqual(['s1 is owed and no run looked at it']);
    // As times, not as texts: a whole second may be written without its zeros.
    expect(
      forgotten({ ...debt, lastRunDate: '2026-11-20T22:01:00Z' }, [], '2026-11-20T22:01:00.5Z'),
    ).toHaveLength(1);
  });

  it('are not those that were tried, or came back, after the run began', () => {
    expect(forgotten({ ...debt, lastRunDate: '2026-11-20T22:01:03Z' }, [])).toEqual([]);
  });

  it('are none before such a run has begun, and none of what is not owed', () => {
    expect(forgotten(debt, [], '1970-01-01')).toEqual([]);
    expect(forgotten({ ...debt, status: 'COMPLETED' }, [])).toEqual([]);
  });
});
