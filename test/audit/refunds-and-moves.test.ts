import { describe, expect, it } from 'vitest';
import { FreezeLog } from '../../src/audit/freezes.ts';
import type { PlainItem } from '../../src/audit/source.ts';
import { readAttempt, readChange, readState } from '../../src/audit/record.ts';
import { historyIsComplete } from '../../src/audit/rules/3-history-is-complete.ts';
import { noForbiddenIntent } from '../../src/audit/rules/6-no-forbidden-intent.ts';
import { everyChainGoesOn } from '../../src/audit/rules/7-every-chain-goes-on.ts';
import type { RecordCase, Rule } from '../../src/audit/user-case.ts';

/* Refunds are attempts with rules of their own; and support may move a record whose successor is there already. */

const stored = (fields: Record<string, unknown>): PlainItem => ({
  user_id: 'u',
  subscription_id: 's',
  billing_date: '2026-11-16T06:00:00Z',
  billing_status: 'COMPLETED',
  billing_amount: '4.99',
  last_run_date: '2026-11-16T08:00:00.000000001Z',
  initial_run_date: '2026-11-16T08:00:00Z',
  ...fields,
});

const attempt = (fields: Record<string, unknown> = {}) =>
  readAttempt({
    attemptId: 'r',
    triggerId: 't',
    rail: 'PINLESS',
    openedAt: '2026-11-16T09:00:00Z',
    refundOf: 'payment',
    resolution: { status: 'COMPLETED', at: '2026-11-16T09:00:01Z' },
    ...fields,
  });

/** A record that was paid, and then what these changes say. */
function refunded(...changes: Record<string, unknown>[]): RecordCase {
  const items = [
    stored({ data_cause: 'attempt-succeeded', data_attempt_id: 'c' }),
    ...changes.map((change, i) =>
      stored({ last_run_date: `2026-11-16T09:00:0${i}.000000001Z`, data_attempt_id: 'r', ...change }),
    ),
  ];
  const newest = Object.entries(items.at(-1)!).filter(([name]) => !name.startsWith('data_'));
  return {
    subscriptionId: 's',
    row: readState(Object.fromEntries(newest)),
    changes: items.map(readChange),
    attempts: [attempt()],
    tally: null,
  };
}

async function findings(
  rule: Rule,
  records: readonly RecordCase[],
  log: readonly PlainItem[] = [],
): Promise<string[]> {
  async function* entries() {
    yield* log;
  }
  const circumstances = {
    now: 0n,
    abandonAfterMs: 1,
    isLedgerRead: false,
    freezes: await FreezeLog.read(entries()),
  };
  return [...rule({ userId: 'u', records, unreadable: [] }, circumstances)].map(({ detail }) => detail);
}

const OPENED = { data_cause: 'refund-opened' };
const ACCEPTED = { data_cause: 'refund-accepted' };
const FROZEN_AT = { at: '2026-11-16T08:30:00Z', acknowledgedAt: '2026-11-16T08:30:01Z' };
const FROZEN = [{ scope: 'user', userId: 'u', action: 'frozen', ...FROZEN_AT }];

describe('a refund', () => {
  it('is an intent and an outcome on a record that is COMPLETED', async () => {
    const record = refunded(OPENED, ACCEPTED);
    expect(await findings(historyIsComplete, [record])).toEqual([]);
    expect(await findings(noForbiddenIntent, [record])).toEqual([]);
  });

  it('without its intent, or without its outcome, is missed', async () => {
    expect(await findings(historyIsComplete, [refunded(ACCEPTED)])).toEqual([
      'no history row tells of the intent of attempt r',
    ]);
    expect(await findings(historyIsComplete, [refunded(OPENED)])).toEqual([
      'no history row tells of the outcome of attempt r',
    ]);
  });

  it('of what is not COMPLETED is forbidden', async () => {
    const record = refunded({ ...OPENED, billing_status: 'ERROR' }, ACCEPTED);
    expect(await findings(noForbiddenIntent, [record])).toEqual([
      'refund r was begun on a record that was ERROR',
    ]);
  });

  it('during a freeze is forbidden, unless it began with the record of what was paid in vain', async () => {
    const [asked] = await findings(noForbiddenIntent, [refunded(OPENED, ACCEPTED)], FROZEN);
    expect(asked).toMatch(/during a freeze \(user\)/);
    const along = { data_cause: 'attempt-succeeded', data_attempt_id: 'c', data_opened_attempt_id: 'r' };
    const atOnce = refunded(along, ACCEPTED);
    expect(await findings(noForbiddenIntent, [atOnce], FROZEN)).toEqual([]);
    expect(await findings(historyIsComplete, [atOnce])).toEqual([]);
  });
});

describe('a record that support moved', () => {
  const period = (id: string, date: string, fields: Record<string, unknown> = {}, ...before: string[]) => {
    const item = stored({ subscription_id: id, billing_date: `${date}T06:00:00Z`, ...fields });
    const earlier = before.map((day) => stored({ ...item, billing_date: `${day}T06:00:00Z` }));
    return {
      subscriptionId: id,
      row: readState(item),
      changes: [...earlier, item].map(readChange),
      attempts: [],
      tally: null,
    };
  };
  const TO_COME = { billing_status: 'SCHEDULED', initial_run_date: '0001-01-01T00:00:00Z' };

  it('may be followed by the period that was there before', async () => {
    const moved = period('a', '2026-11-20', { billing_status: 'ERROR' }, '2026-11-16');
    expect(await findings(everyChainGoesOn, [moved, period('b', '2026-12-16', TO_COME)])).toEqual([]);
  });

  it('or by one that goes on from its new date, but by no other', async () => {
    const moved = period('a', '2026-11-20', {}, '2026-11-16');
    expect(await findings(everyChainGoesOn, [moved, period('b', '2026-12-20', TO_COME)])).toEqual([]);
    expect(await findings(everyChainGoesOn, [moved, period('b', '2026-12-18', TO_COME)])).toEqual([
      'the day is wrong from 2026-11-20T06:00:00Z to 2026-12-18T06:00:00Z',
    ]);
    expect(await findings(everyChainGoesOn, [moved, period('b', '2027-01-16', TO_COME)])).toEqual([
      'a period is skipped from 2026-11-20T06:00:00Z to 2027-01-16T06:00:00Z',
    ]);
  });
});

describe('an attempt that was given up, and turned out to be made', () => {
  const change = (second: number, cause: string, id: string, fields: Record<string, unknown> = {}) =>
    stored({
      last_run_date: `2026-11-16T09:00:0${second}.000000001Z`,
      data_cause: cause,
      data_attempt_id: id,
      ...fields,
    });
  const charge = (id: string, answeredAt: string) =>
    attempt({ attemptId: id, refundOf: null, resolution: { status: 'COMPLETED', at: answeredAt } });
  const record = (...items: PlainItem[]): RecordCase => ({
    subscriptionId: 's',
    row: readState(items.at(-1)!),
    changes: items.map(readChange),
    attempts: [charge('a', '2026-11-16T09:00:05Z'), charge('b', '2026-11-16T09:00:04Z')],
    tally: null,
  });
  const OWED = { billing_status: 'ERROR' };
  const born = change(0, 'plan-changed', '', { billing_status: 'SCHEDULED' });
  const opened = change(1, 'attempt-opened', 'a', OWED);
  const since = [
    change(3, 'attempt-opened', 'b', OWED),
    change(4, 'attempt-succeeded', 'b'),
    change(5, 'told-aside', 'a'),
  ];

  it('was not open while the one after it was', async () => {
    const givenUp = record(born, opened, change(2, 'attempt-declined', 'a', OWED), ...since);
    expect(await findings(noForbiddenIntent, [givenUp])).toEqual([]);
  });

  it('was, if nobody had given it up', async () => {
    const [found, ...more] = await findings(noForbiddenIntent, [record(born, opened, ...since)]);
    expect(found).toMatch(/^attempt b was opened .* while attempt a was open$/);
    expect(more).toEqual([]);
  });
});
