import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NotifyDependencies } from '../../../src/app/notify/notify-record.ts';
import { notifyRecord } from '../../../src/app/notify/notify-record.ts';
import { parseDate } from '../../../src/domain/calendar-date.ts';
import { formatInstant } from '../../../src/domain/instant.ts';
import type { Subscription, UserId } from '../../../src/domain/subscription.ts';
import type { Verdict } from '../../../src/domain/verdict.ts';
import { ServiceDownError } from '../../../src/errors.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { accepted, askedFor, noticeDesk } from '../../support/notice-desk.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

const DAY = parseDate('2026-11-20')!;
const DUE = { billingDate: at('2026-11-20T06:00:00Z') };

let here: World;
let desk: NotifyDependencies;

beforeAll(async () => {
  here = await world();
  desk = noticeDesk(here);
});
afterAll(() => here.close());
beforeEach(() => {
  here.now = at('2026-11-16T15:00:00Z');
});
afterEach(() => here.faults([]));

const notify = (
  { userId, subscriptionId }: Subscription,
  triggerId: string = randomUUID(),
  dependencies = desk,
): Promise<Verdict> => notifyRecord(dependencies, { userId, subscriptionId, day: DAY, triggerId });

const verdictOf = async ({ userId, subscriptionId }: Subscription, triggerId: string) =>
  (await here.dependencies.pipeline.readBackground({ userId, subscriptionId, triggerId, accountId: null }))
    .verdict;

/** A process that dies where it would do this. */
const dies = (): Promise<never> => Promise.reject(new Error('died'));

describe('a record that is due on that day', () => {
  it('is told to its member, and the run’s verdict says so', async () => {
    const record = await here.member({}, DUE);
    const before = await here.row(record);
    const verdict = await notify(record, 'run-1');
    expect(verdict).toMatchObject({ verdict: 'notified', reason: 'three_day_notification', amount: 499 });
    expect(await verdictOf(record, 'run-1')).toEqual(verdict);
    expect(await accepted(here, record)).toMatchObject([
      {
        template: 'three_day_notification',
        dedupe_key: `${record.subscriptionId}.2026-11-20.three_day_notification`,
        duplicate: false,
      },
    ]);
    expect(await here.row(record)).toEqual(before);
  });

  it('is described in the notification: which, when and how much', async () => {
    const record = await here.member({}, DUE);
    const sent: unknown[] = [];
    const notifications = { send: (one: unknown) => Promise.resolve(void sent.push(one)) };
    await notify(record, 'run', { ...desk, notifications });
    expect(sent).toMatchObject([
      {
        userId: record.userId,
        data: { subscription_id: record.subscriptionId, billing_date: '2026-11-20', amount: '4.99' },
      },
    ]);
  });

  it('is told once, by whichever run comes first', async () => {
    const record = await here.member({}, DUE);
    await notify(record, 'run-1');
    expect(await notify(record, 'run-2')).toMatchObject({ verdict: 'no-op', reason: 'already-notified' });
    expect(await askedFor(here, record)).toBe(1);
    // The same job again, because its worker died before it said that it was done.
    expect(await notify(record, 'run-1')).toMatchObject({ verdict: 'notified' });
    expect(await askedFor(here, record)).toBe(1);
  });

  it('reaches the member once although several tell at the same time', async () => {
    const record = await here.member({}, DUE);
    await Promise.all(['a', 'b', 'c', 'd'].map((run) => notify(record, run)));
    expect((await accepted(here, record)).filter(({ duplicate }) => !duplicate)).toHaveLength(1);
  });

  it('is told again under the same key when the process dies before it is written down', async () => {
    const record = await here.member({}, DUE);
    const dying = { ...desk, notices: { ...desk.notices, find: () => Promise.resolve(null), put: dies } };
    await expect(notify(record, 'run', dying)).rejects.toThrow('died');
    expect(await verdictOf(record, 'run')).toBeNull();
    expect(await notify(record, 'run')).toMatchObject({ verdict: 'notified' });
    expect((await accepted(here, record)).map(({ duplicate }) => duplicate)).toEqual([false, true]);
  });

  it('counts as told by its run when the process dies before its verdict', async () => {
    const record = await here.member({}, DUE);
    await expect(notify(record, 'run', { ...desk, pipeline: { saveVerdict: dies } })).rejects.toThrow('died');
    expect(await notify(record, 'run')).toMatchObject({ verdict: 'notified' });
    expect(await verdictOf(record, 'run')).toMatchObject({ verdict: 'notified' });
    expect(await askedFor(here, record)).toBe(1);
  });
});

describe('nobody is told', () => {
  const untold = async (record: Subscription, reason: string, verdict = 'no-op'): Promise<void> => {
    const trigger = randomUUID();
    expect(await notify(record, trigger)).toMatchObject({ verdict, reason });
    expect(await verdictOf(record, trigger)).toMatchObject({ verdict, reason });
    expect(await askedFor(here, record)).toBe(0);
    expect(await desk.notices.find(record.subscriptionId, DAY)).toBeNull();
  };

  it.each(['PROCESSING', 'PAUSED', 'INVESTIGATE', 'BANNED'])('who is %s', async (status) => {
    await untold(await here.member({ status }, DUE), 'user-inactive');
  });

  it('whom the user service does not know', async () => {
    const record = await here.member({}, DUE);
    const users = { get: () => Promise.resolve(null) };
    expect(await notify(record, 'run', { ...desk, users })).toMatchObject({ reason: 'user-missing' });
    expect(await askedFor(here, record)).toBe(0);
  });

  it.each(['PAUSED', 'ERROR', 'CANCELLED', 'COMPLETED'] as const)(
    'of a record that has become %s since the index listed it',
    async (billingStatus) => {
      await untold(await here.member({}, { ...DUE, billingStatus }), 'not-scheduled');
    },
  );

  it('of a record that was moved to another day', async () => {
    await untold(await here.member({}, { billingDate: at('2026-11-21T06:00:00Z') }), 'another-date');
  });

  it('of a charge that will not come, because the membership ends then', async () => {
    await untold(
      await here.member({}, { ...DUE, updatedEvent: 'PENDING_CANCELLATION' }),
      'pending-cancellation',
    );
  });

  it('when it is due already', async () => {
    here.now = DUE.billingDate;
    await untold(await here.member({}, DUE), 'already-due');
  });

  it('of a record that is gone', async () => {
    const record = await here.member({}, DUE);
    await here.store.removeBillingRow(record.userId, record.billingDate);
    await untold(record, 'record-gone');
  });

  it('while one of the member’s rows cannot be read', async () => {
    const record = await here.member({}, DUE);
    const row = (await here.store.billingRow(record.userId, formatInstant(record.billingDate)))!;
    const spoilt = { billing_date: { S: '2026-09-16T06:00:00Z' }, billing_amount: { S: 'lots' } };
    await here.store.putBillingRow({ ...row, ...spoilt });
    await untold(record, 'malformed-billing_amount', 'malformed');
  });
});

describe('a service that is down', () => {
  const fails = async (record: StoredSubscription): Promise<void> => {
    await expect(notify(record, 'run')).rejects.toBeInstanceOf(ServiceDownError);
    expect(await verdictOf(record, 'run')).toBeNull();
    expect(await desk.notices.find(record.subscriptionId, DAY)).toBeNull();
  };
  const forMember = (userId: UserId, service: string, fault: string) =>
    here.faults([{ id: 'down', service, fault, match: { user_id: userId } }]);

  it.each(['error-before', 'too-many'])('(notifications, %s) leaves it for later', async (fault) => {
    const record = await here.member({}, DUE);
    await forMember(record.userId, 'notifications', fault);
    await fails(record);
    await here.faults([]);
    expect(await notify(record, 'run')).toMatchObject({ verdict: 'notified' });
    expect(await accepted(here, record)).toMatchObject([{ duplicate: false }]);
  });

  it('whose answer is lost after it accepted is told the same again', async () => {
    const record = await here.member({}, DUE);
    await forMember(record.userId, 'notifications', 'error-after');
    await fails(record);
    await here.faults([]);
    await notify(record, 'run');
    expect((await accepted(here, record)).map(({ duplicate }) => duplicate)).toEqual([false, true]);
  });

  it('(users) says nothing about the member: not told, and not passed over', async () => {
    const record = await here.member({}, DUE);
    await forMember(record.userId, 'users', 'error-before');
    await fails(record);
    expect(await askedFor(here, record)).toBe(0);
  });
});
