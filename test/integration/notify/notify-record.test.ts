import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NotifyDependencies, NotifyResult } from '../../../src/app/notify/notify-record.ts';
import { notifyRecord } from '../../../src/app/notify/notify-record.ts';
import { parseDate } from '../../../src/domain/calendar-date.ts';
import { formatInstant } from '../../../src/domain/instant.ts';
import { ZERO } from '../../../src/domain/money.ts';
import type { Subscription, UserId } from '../../../src/domain/subscription.ts';
import type { Verdict } from '../../../src/domain/verdict.ts';
import { ServiceDownError } from '../../../src/errors.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import { accepted, askedFor, noticeDesk } from '../../support/notice-desk.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

const DAY = parseDate('2026-11-20')!;
const DUE = { billingDate: at('2026-11-20T06:00:00Z') };

let here: World;
let desk: NotifyDependencies;
let memberships: MembershipDesk;

beforeAll(async () => {
  here = await world();
  desk = noticeDesk(here);
  memberships = membershipDesk(here);
});
afterAll(() => here.close());
beforeEach(() => {
  here.now = at('2026-11-16T15:00:00Z');
});
afterEach(() => here.faults([]));

const look = (
  { userId, subscriptionId }: Subscription,
  {
    triggerId = randomUUID(),
    patient = true,
    dependencies = desk,
  }: { triggerId?: string; patient?: boolean; dependencies?: NotifyDependencies } = {},
): Promise<NotifyResult> =>
  notifyRecord(dependencies, { userId, subscriptionId, day: DAY, triggerId, patient });

async function notify(
  record: Subscription,
  triggerId: string = randomUUID(),
  dependencies = desk,
): Promise<Verdict> {
  const result = await look(record, { triggerId, dependencies });
  if (!('verdict' in result)) throw new Error(`it waits for ${result.waitsFor}`);
  return result.verdict;
}

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
    const { pipeline } = here.dependencies;
    const dying = { readBackground: pipeline.readBackground.bind(pipeline), saveVerdict: dies };
    await expect(notify(record, 'run', { ...desk, pipeline: dying })).rejects.toThrow('died');
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

  it('who works for us, as the charge will be waived', async () => {
    const record = await here.member({ is_employee: true }, DUE);
    await untold(record, 'employee');
    here.now = DUE.billingDate;
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'waived' });
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

  it('of a charge of nothing', async () => {
    await untold(await here.member({}, { ...DUE, billingAmount: ZERO }), 'amount-not-positive');
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

describe('a membership event that is not applied', () => {
  const untold = async (record: Subscription): Promise<void> => {
    expect(await askedFor(here, record)).toBe(0);
    expect(await desk.notices.find(record.subscriptionId, DAY)).toBeNull();
  };

  it('is waited for, and nothing is said or written meanwhile', async () => {
    const record = await here.member({}, DUE);
    const event = await memberships.store(record.userId, 'UPGRADE');
    expect(await look(record, { triggerId: 'run' })).toEqual({ waitsFor: 'membership-event-unapplied' });
    expect(await verdictOf(record, 'run')).toBeNull();
    await untold(record);
    await memberships.apply(event);
    expect(await notify(record, 'run')).toMatchObject({ verdict: 'notified' });
  });

  it.each([
    ['CANCEL', {}, 'pending-cancellation'],
    ['SUB_PAUSED', { pause_duration_months: 1 }, 'not-scheduled'],
  ] as const)('may be a %s, and then nobody is told', async (type, data, reason) => {
    const record = await here.member({}, DUE);
    const event = await memberships.store(record.userId, type, data);
    expect(await look(record)).toHaveProperty('waitsFor');
    await memberships.apply(event);
    expect(await notify(record)).toMatchObject({ verdict: 'no-op', reason });
    await untold(record);
  });

  it('may bring a membership back that would end: its member is told then', async () => {
    const record = await here.member({}, { ...DUE, updatedEvent: 'PENDING_CANCELLATION' });
    const event = await memberships.store(record.userId, 'RETRACT', { term: 'MONTHLY' });
    expect(await look(record)).toHaveProperty('waitsFor');
    await memberships.apply(event);
    expect(await notify(record)).toMatchObject({ verdict: 'notified' });
  });

  it('is waited for no longer at the last look, and the verdict says why nobody was told', async () => {
    const record = await here.member({}, DUE);
    const event = await memberships.store(record.userId, 'UPGRADE');
    const deferred = { verdict: 'deferred', reason: 'membership-event-unapplied', amount: 499 };
    expect(await look(record, { triggerId: 'run', patient: false })).toMatchObject({ verdict: deferred });
    expect(await verdictOf(record, 'run')).toMatchObject(deferred);
    await untold(record);
    // Another run of the day makes up for it.
    await memberships.apply(event);
    expect(await notify(record, 'later')).toMatchObject({ verdict: 'notified' });
  });

  it('and waits for somebody is not waited for', async () => {
    const record = await here.member({}, DUE);
    const event = await memberships.store(record.userId, 'CANCEL');
    await memberships.inbox.quarantine(event, 'broken', here.now);
    const deferred = { verdict: 'deferred', reason: 'membership-event-quarantined', amount: 499 };
    expect(await notify(record, 'run')).toMatchObject(deferred);
    expect(await verdictOf(record, 'run')).toMatchObject(deferred);
    await untold(record);
  });

  it('and becomes so after the member was told says nothing against it', async () => {
    const record = await here.member({}, DUE);
    await notify(record, 'run');
    await memberships.store(record.userId, 'CANCEL');
    expect(await notify(record, 'run')).toMatchObject({ verdict: 'notified' });
    expect(await notify(record, 'later')).toMatchObject({ reason: 'already-notified' });
    expect(await askedFor(here, record)).toBe(1);
  });

  it('and is applied between two reads is seen in one of them', async () => {
    const record = await here.member({}, DUE);
    const event = await memberships.store(record.userId, 'CANCEL');
    const { subscriptions, pipeline } = here.dependencies;
    let reads = 0;
    const thenApplied = async <T>(read: Promise<T>): Promise<T> => {
      const answer = await read;
      if ((reads += 1) === 1) await memberships.apply(event);
      return answer;
    };
    const dependencies: NotifyDependencies = {
      ...desk,
      subscriptions: { listByUserID: (userId) => thenApplied(subscriptions.listByUserID(userId)) },
      pipeline: {
        saveVerdict: pipeline.saveVerdict.bind(pipeline),
        readBackground: (query) => thenApplied(pipeline.readBackground(query)),
      },
    };
    expect(await look(record, { dependencies })).toHaveProperty('waitsFor');
    await untold(record);
    expect(reads).toBe(2);
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
