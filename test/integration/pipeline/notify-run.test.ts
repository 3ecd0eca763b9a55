import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import { accepted, askedFor } from '../../support/notice-desk.ts';
import type { Pipeline, RunningProcess } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';

let system: Pipeline;
let worker: RunningProcess;

beforeAll(async () => {
  system = await pipeline({ PAGE_SIZE: '3' });
  worker = await system.worker();
});
afterAll(() => system.close());
afterEach(() => system.here.faults([]));

const setClock = (now: Instant) =>
  system.here.bank('PUT', '/clock', { now: formatInstant(now), frozen: true });

/** A run of that moment, to its end. */
async function notify(tick: Instant) {
  await setClock(tick);
  return system.over((await system.start('notify', tick)).runId);
}

const due = async (date: string, settings = {}): Promise<StoredSubscription> =>
  (await system.members(1, settings, { billingDate: at(date) }))[0]!;

const told = async (records: readonly StoredSubscription[]): Promise<number[]> =>
  Promise.all(records.map(async (record) => (await accepted(system.here, record)).length));

describe('the notify run', () => {
  it('tells active members of what is due in exactly four days, once although run twice', async () => {
    const tick = at('2026-11-16T15:00:00Z');
    const yes = await Promise.all([
      due('2026-11-20T00:00:00Z'),
      due('2026-11-20T06:00:00Z'),
      due('2026-11-20T06:00:00Z'),
      due('2026-11-20T23:59:59Z'),
    ]);
    const no = await Promise.all([
      due('2026-11-19T23:59:59Z'),
      due('2026-11-21T00:00:00Z'),
      due('2026-11-16T06:00:00Z'),
      due('2026-11-20T06:00:00Z', { status: 'PAUSED' }),
      due('2026-11-20T06:00:00Z', { status: 'BANNED' }),
    ]);
    const first = await notify(tick);
    expect(await told(yes)).toEqual([1, 1, 1, 1]);
    expect(await told(no)).toEqual([0, 0, 0, 0, 0]);
    expect(first).toMatchObject({ status: 'complete', due: 6 });
    expect(first.report).toEqual({
      records: 6,
      amount: 6 * 499,
      byVerdict: {
        notified: { count: 4, amount: 4 * 499, reasons: { three_day_notification: 4 } },
        'no-op': { count: 2, amount: 2 * 499, reasons: { 'user-inactive': 2 } },
      },
      byPlan: {},
    });

    const second = await notify(plusMs(tick, 60_000));
    expect(second.report!.byVerdict['no-op']!.reasons).toEqual({ 'already-notified': 4, 'user-inactive': 2 });
    expect(second.report!.byVerdict.notified).toBeUndefined();
    expect(await Promise.all(yes.map((record) => askedFor(system.here, record)))).toEqual([1, 1, 1, 1]);
    // Nobody was charged, and nothing about the records has changed.
    for (const record of [...yes, ...no]) {
      expect(await system.here.row(record)).toEqual(record);
      expect((await system.here.ledger(record)).filter(({ effect }) => effect === 'debit')).toEqual([]);
    }
  });

  it.each([
    ['2027-02-25T15:00:00Z', '2027-03-01T06:00:00Z', ['2027-02-28T06:00:00Z', '2027-03-02T06:00:00Z']],
    ['2026-12-28T15:00:00Z', '2027-01-01T06:00:00Z', ['2026-12-31T06:00:00Z', '2027-01-02T06:00:00Z']],
  ])('at %s looks over the end of the month', async (tick, day, others) => {
    const yes = await due(day);
    const no = await Promise.all(others.map((date) => due(date)));
    await notify(at(tick));
    expect(await told([yes, ...no])).toEqual([1, 0, 0]);
  });

  it('waits for a notifications service that is down, and tells once when it is back', async () => {
    const tick = at('2027-05-10T15:00:00Z');
    const [waiting, other] = await Promise.all([due('2027-05-14T06:00:00Z'), due('2027-05-14T06:00:00Z')]);
    await system.here.faults([
      { id: 'down', service: 'notifications', fault: 'error-before', match: { user_id: waiting.userId } },
    ]);
    await setClock(tick);
    const { runId } = await system.start('notify', tick);
    await eventually('the other member is told', async () => (await told([other]))[0] === 1);
    await eventually('it was tried', () => worker.output().includes('"queue":"notifications"'));
    await eventually('it was tried again', async () => (await askedFor(system.here, waiting)) > 1);
    expect((await system.runs.get(runId))!.status).toBe('running');
    await system.here.faults([]);
    const run = await system.over(runId);
    expect(run.report!.byVerdict.notified!.count).toBe(2);
    expect(await told([waiting, other])).toEqual([1, 1]);
  });

  it('waits for an event that is not applied yet, and then tells of what is left to be told', async () => {
    const tick = at('2027-05-20T15:00:00Z');
    const [ending, staying, other] = await Promise.all([
      due('2027-05-24T06:00:00Z'),
      due('2027-05-24T06:00:00Z'),
      due('2027-05-24T06:00:00Z'),
    ]);
    const memberships = membershipDesk(system.here);
    const events = [
      await memberships.store(ending.userId, 'CANCEL'),
      await memberships.store(staying.userId, 'UPGRADE'),
    ];
    await setClock(tick);
    const { runId } = await system.start('notify', tick);
    await eventually('the other member is told', async () => (await told([other]))[0] === 1);
    const looks = await eventually('both were looked at twice', async () => {
      const jobs = await system.queues.get('notifications').getJobs(['delayed', 'waiting', 'active']);
      return jobs.length === 2 && jobs.every(({ attemptsStarted }) => attemptsStarted > 1) && jobs;
    });
    expect(looks.map(({ attemptsMade }) => attemptsMade)).toEqual([0, 0]);
    expect(await told([ending, staying])).toEqual([0, 0]);
    for (const event of events) await system.queues.ensureEvent(event);
    const run = await system.over(runId);
    expect(run.report!.byVerdict).toMatchObject({
      notified: { count: 2 },
      'no-op': { count: 1, reasons: { 'pending-cancellation': 1 } },
    });
    expect(await told([ending, staying, other])).toEqual([0, 1, 1]);
  });

  it('leaves members of the older service alone', async () => {
    await worker.stop();
    await system.worker({ env: { OWNED_USERS: 'none' } });
    const record = await due('2027-06-14T06:00:00Z');
    expect(await notify(at('2027-06-10T15:00:00Z'))).toMatchObject({
      status: 'complete',
      due: 0,
      notOwned: 1,
    });
    expect(await told([record])).toEqual([0]);
  });
});
