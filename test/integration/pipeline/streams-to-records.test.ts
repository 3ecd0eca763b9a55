import { paginateScan } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Item } from '../../support/billing-store.ts';
import type { EventStreamBench } from '../../support/event-stream.ts';
import { eventStream, shardId } from '../../support/event-stream.ts';
import type { Pipeline, RunningProcess } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import { sharedStack } from '../../support/stack.ts';

/**
 * Every event goes through the bridges, the inbox and the worker. A change takes the worker a lock, a look at the user
 * service and a transaction, so that on a small machine 2,000 of them would take minutes: most members get events of a
 * type that is applied without changing anything.
 */
const CHANGING_MEMBERS = 30;
const OTHER_MEMBERS = 70;
const EVENTS_EACH = 20;
const ALL_EVENTS = (CHANGING_MEMBERS + OTHER_MEMBERS) * EVENTS_EACH;
const TYPES = ['CANCEL', 'RETRACT', 'SUB_PAUSED', 'UNPAUSE', 'UNPAUSE_CHARGE'] as const;
/** With more, the worker mostly finds events whose turn it is not yet. */
const AT_ONCE = '16';
/** What became of an event, by its id. */
const APPLIED = 'EVENT#users#';

interface Sent {
  readonly id: string;
  readonly type: (typeof TYPES)[number] | 'UPGRADE';
  readonly months: number;
}

/** A record as far as these events change it, and what each of them came to. By hand: it shares nothing with the rules. */
interface Record_ {
  readonly status: 'SCHEDULED' | 'PAUSED';
  readonly event: string;
  readonly months: number;
}

const NEW: Record_ = { status: 'SCHEDULED', event: '', months: 0 };

/** Null: it changes nothing. */
function after({ status, event, months }: Record_, sent: Sent): Record_ | null {
  const isLeaving = event === 'PENDING_CANCELLATION';
  const isPaused = status === 'PAUSED';
  switch (sent.type) {
    case 'CANCEL':
      return isLeaving ? null : { status, event: 'PENDING_CANCELLATION', months };
    case 'RETRACT':
      return isPaused || event === '' ? null : { status, event: '', months };
    case 'SUB_PAUSED':
      return isPaused
        ? null
        : { status: 'PAUSED', event: isLeaving ? event : 'SUB_PAUSED', months: sent.months };
    case 'UNPAUSE':
      return isPaused ? { status: 'SCHEDULED', event: isLeaving ? event : 'UNPAUSE', months: 0 } : null;
    case 'UPGRADE':
      return null;
    case 'UNPAUSE_CHARGE':
      return isPaused
        ? { status: 'SCHEDULED', event: isLeaving ? event : 'pause-pending-resume', months: 0 }
        : null;
  }
}

/** The changes of a member in their order, each with the event that made it. */
function changesOf(events: readonly Sent[]): (Record_ & { readonly by: string })[] {
  const changes: (Record_ & { readonly by: string })[] = [];
  let record = NEW;
  for (const sent of events) {
    const changed = after(record, sent);
    if (changed === null) continue;
    record = changed;
    changes.push({ ...changed, by: sent.id });
  }
  return changes;
}

/** Different for every member, the same in every run. */
function eventsOf(userId: string, member: number): Sent[] {
  return Array.from({ length: EVENTS_EACH }, (_, n) => {
    const draw = (member * 31 + n * n * 7 + n * 13 + member * n * 3) % 101;
    const type = member < CHANGING_MEMBERS ? TYPES[draw % TYPES.length]! : 'UPGRADE';
    return { id: `${userId}/${n}`, type, months: (draw % 3) + 1 };
  });
}

let system: Pipeline;
let users: EventStreamBench;
let payments: EventStreamBench;

beforeAll(async () => {
  [system, users, payments] = await Promise.all([pipeline(), eventStream(4), eventStream(1)]);
});
afterAll(async () => {
  users.close();
  payments.close();
  await system.close();
});

const bridge = (): Promise<RunningProcess> =>
  system.bridge({
    AWS_ENDPOINT_URL_KINESIS: sharedStack().kinesisUrl,
    USERS_STREAM: users.name,
    PAYMENTS_STREAM: payments.name,
  });

const record = (userId: string, { id, type, months }: Sent) => ({
  key: userId,
  data: JSON.stringify({
    id,
    type,
    source: 'UserService',
    data: { user_id: userId, pause_duration_months: months },
  }),
});

async function itemsOf(partitions: string): Promise<Item[]> {
  const { client, tables } = system.here.store;
  const found: Item[] = [];
  const pages = paginateScan(
    { client },
    {
      TableName: tables.pipeline,
      ConsistentRead: true,
      FilterExpression: 'begins_with(pk, :partitions)',
      ExpressionAttributeValues: { ':partitions': { S: partitions } },
    },
  );
  for await (const { Items = [] } of pages) found.push(...Items);
  return found;
}

async function historyOf(userId: string): Promise<(Record_ & { readonly by: string })[]> {
  const rows = await system.here.store.historyRows(userId);
  const inOrder = rows.sort((a, b) => (a['last_run_date']!.S! < b['last_run_date']!.S! ? -1 : 1));
  // The first one tells how the record came into being.
  return inOrder.slice(1).map((row) => ({
    status: row['billing_status']!.S as Record_['status'],
    event: row['updated_event']!.S!,
    months: Number(row['pause_duration_months']?.N ?? 0),
    by: row['data_event_id']!.S!,
  }));
}

describe('2,000 events, a split, a merge, two bridges of which one is killed, and a worker', () => {
  it('are applied once each, in every member’s order', async () => {
    const members = await system.members(CHANGING_MEMBERS);
    const others = Array.from({ length: OTHER_MEMBERS }, (_, n) => `other-${n}`);
    const everybody = [...members.map(({ userId }) => userId as string), ...others];
    const stories = new Map(everybody.map((userId, n) => [userId, eventsOf(userId, n)]));
    const [victim, other] = await Promise.all([bridge(), bridge()]);
    await system.worker({ env: { QUEUES: 'membership-events', COLLECTION_CONCURRENCY: AT_ONCE } });
    let restarted: RunningProcess | null = null;
    for (let n = 0; n < EVENTS_EACH; n += 1) {
      await users.put(roundOf(stories, n));
      if (n === 6) await users.split(shardId(0));
      if (n === 8) {
        await eventually('the victim has stored something', () => victim.stored() > 0);
        victim.signal('SIGKILL');
        expect(await victim.ended).toBe('SIGKILL');
      }
      if (n === 10) await users.merge(shardId(1), shardId(2));
      if (n === 14) restarted = await bridge();
    }

    await eventually('every event is stored', async () => (await storedIds()).size >= ALL_EVENTS);
    expect(other.stored()).toBeGreaterThan(0);
    for (const running of [other, restarted!]) {
      expect(await running.stop()).toBe(0);
      expect(running.output()).toContain('stopped');
    }
    // Whoever was killed may have stored events and told no worker: the scheduler makes up for it a minute later.
    await system.scheduler();
    await system.here.bank('PUT', '/clock', { now: formatInstant(plusMs(TICK, 120_000)), frozen: true });
    await eventually('every event is applied', isEverythingApplied).catch(async (error: unknown) => {
      throw new Error(await whatIsLeft(), { cause: error });
    });
    expect(await itemsOf('QUARANTINE')).toEqual([]);
    await expectModel(members, stories);
    expect(await system.audit()).toEqual([]);
  });
});

/** Everybody's next event; a tenth of the members get an old one of theirs once more. */
function roundOf(stories: ReadonlyMap<string, readonly Sent[]>, n: number) {
  return [...stories].flatMap(([userId, events], member) => {
    const isRepeated = n > 0 && member % 10 === n % 10;
    const again = isRepeated ? [record(userId, events[Math.floor(n / 2)]!)] : [];
    return [record(userId, events[n]!), ...again];
  });
}

/** Waiting or applied. */
async function storedIds(): Promise<Set<string>> {
  const waiting = (await itemsOf('INBOX#users#')).map((item) => item['identity']!.S!);
  return new Set([...waiting, ...(await appliedIds())]);
}

const appliedIds = async (): Promise<string[]> =>
  (await itemsOf(APPLIED)).map((item) => item['pk']!.S!.slice(APPLIED.length));

/** The jobs are asked first: that is cheap, and a look at the whole table is not. */
async function isEverythingApplied(): Promise<boolean> {
  if (!(await system.queues.isDrained('membership-events'))) return false;
  if ((await itemsOf(APPLIED)).length < ALL_EVENTS) return false;
  return (await itemsOf('INBOX#users#')).length === 0;
}

async function whatIsLeft(): Promise<string> {
  const [done, waiting] = await Promise.all([itemsOf(APPLIED), itemsOf('INBOX#users#')]);
  const jobs = JSON.stringify(await system.queues.depths(['membership-events']));
  return `${done.length} of ${ALL_EVENTS} events are applied, ${waiting.length} wait in the inbox; jobs: ${jobs}`;
}

async function expectModel(
  members: readonly StoredSubscription[],
  stories: ReadonlyMap<string, readonly Sent[]>,
): Promise<void> {
  const found: Record<string, unknown> = {};
  const expected: Record<string, unknown> = {};
  for (const member of members) {
    const { userId } = member;
    const changes = changesOf(stories.get(userId)!);
    const { billingStatus, updatedEvent, pauseDurationMonths } = await system.here.row(member);
    const row = { status: billingStatus, event: updatedEvent, months: pauseDurationMonths };
    found[userId] = { row, history: await historyOf(userId) };
    const { status, event, months } = changes.at(-1) ?? NEW;
    expected[userId] = { row: { status, event, months }, history: changes };
  }
  expect(found).toEqual(expected);
  const applied = await itemsOf(APPLIED);
  const results = new Map(applied.map((item) => [item['pk']!.S!.slice(APPLIED.length), item['as']?.S]));
  const sent = [...stories.values()].flat();
  expect(results).toEqual(new Map(sent.map(({ id }) => [id, 'applied'])));
}
