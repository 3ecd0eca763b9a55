import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { plusMs } from '../../../src/domain/instant.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { EventStream, InboxEvent } from '../../../src/ports/inbox.ts';
import { EVENT_STREAMS } from '../../../src/ports/inbox.ts';
import type { PageKey } from '../../../src/ports/subscriptions.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { fail, injectFaults, serverFailed } from '../../support/dynamo-faults.ts';
import type { InboxDesk } from '../../support/inbox-desk.ts';
import { CHANGED, NOTHING, NOW, anEvent, inboxDesk, newUser } from '../../support/inbox-desk.ts';

/*
 * Whatever is done to the inbox in whatever order: each user's earliest event, what became of events, what is in
 * quarantine, and that nobody with a membership event that waits is without a flag.
 */

const USERS = 2;
const LATER = plusMs(NOW, 60_000);

/** What should be, in memory. */
class Model {
  readonly users: readonly UserId[] = Array.from({ length: USERS }, newUser);
  /** All that ever came. */
  readonly came: InboxEvent[] = [];
  readonly pending = new Set<InboxEvent>();
  readonly done = new Map<InboxEvent, string>();
  readonly held = new Set<InboxEvent>();
  readonly applied = new Set<InboxEvent>();
  /** Users whose flag may stand without an event, because somebody ended too early. */
  readonly leftOver = new Set<UserId>();

  pendingOf(stream: EventStream, userId: UserId): InboxEvent[] {
    return this.came.filter((e) => this.pending.has(e) && e.stream === stream && e.userId === userId);
  }

  settle(event: InboxEvent, lifted = true): void {
    this.pending.delete(event);
    if (event.stream !== 'users') return;
    if (!lifted) this.leftOver.add(event.userId);
    else if (this.pendingOf('users', event.userId).length === 0) this.leftOver.delete(event.userId);
  }
}

interface Real {
  readonly desk: InboxDesk;
  readonly store: BillingStore;
}

type Which = readonly [stream: EventStream, user: number];

let real: Real;
beforeAll(async () => {
  const tables = await billingStore();
  real = { store: tables, desk: inboxDesk(tables.client, tables.tables) };
});
afterAll(() => real.store.drop());

async function check(model: Model, { desk }: Real): Promise<void> {
  for (const userId of model.users) {
    for (const stream of EVENT_STREAMS)
      expect(await desk.inbox.earliest(stream, userId)).toEqual(model.pendingOf(stream, userId)[0] ?? null);
    const seen = await desk.membershipEvent(userId);
    const held = [...model.held].some((event) => event.stream === 'users' && event.userId === userId);
    const flagged = model.pendingOf('users', userId).length > 0 || model.leftOver.has(userId);
    expect(seen).toBe(flagged ? 'unapplied' : held ? 'quarantined' : null);
  }
}

type Command = fc.AsyncCommand<Model, Real>;

/** A step, with the state of everything compared after it. */
const step = (
  text: string,
  does: (model: Model, system: Real) => Promise<void>,
  isPossible: (model: Readonly<Model>) => boolean = () => true,
): Command => ({
  check: isPossible,
  async run(model, system) {
    await does(model, system);
    await check(model, system);
  },
  toString: () => text,
});

const store = (which: readonly Which[]): Command =>
  step(`store ${JSON.stringify(which)}`, async (model, { desk }) => {
    const events = which.map(([stream, user], index) =>
      // From 8 on: the tenth has one digit more than the ninth.
      anEvent(model.users[user]!, model.came.length + index + 8, { stream, type: `TYPE_${index}` }),
    );
    await desk.inbox.store([...events].reverse());
    for (const event of events) {
      model.came.push(event);
      model.pending.add(event);
    }
  });

const hasCome = ({ came }: Readonly<Model>): boolean => came.length > 0;
const some = ({ came }: Model, from: number, count: number): InboxEvent[] =>
  came.slice(from % came.length, (from % came.length) + count);

const redeliver = (from: number, count: number): Command =>
  step(
    `redeliver ${from}+${count}`,
    async (model, { desk }) => {
      const events = some(model, from, count);
      await desk.inbox.store(events);
      for (const event of events) model.pending.add(event);
    },
    hasCome,
  );

const breakOff = (from: number, count: number): Command =>
  step(
    `redeliver ${from}+${count}, break off after the flag`,
    async (model, system) => {
      const faults = injectFaults(system.store.client);
      faults.script('BatchWriteItemCommand', fail(serverFailed()), {
        times: Infinity,
        when: (input) => JSON.stringify(input).includes('INBOX#'),
      });
      const events = some(model, from, count);
      await expect(system.desk.inbox.store(events)).rejects.toThrow('injected');
      faults.remove();
      for (const { stream, userId } of events) if (stream === 'users') model.leftOver.add(userId);
    },
    hasCome,
  );

const WAYS = ['apply', 'apply-and-end', 'no-op', 'quarantine'] as const;

const work = (way: (typeof WAYS)[number], [stream, user]: Which): Command => {
  const next = (model: Readonly<Model>) => model.pendingOf(stream, model.users[user]!)[0];
  return step(
    `${way} ${stream} ${user}`,
    async (model, { desk }) => {
      const { inbox } = desk;
      const event = next(model)!;
      const before = await inbox.wasApplied(event);
      expect(before?.reason).toBe(model.done.get(event));
      if (way === 'quarantine') {
        await inbox.quarantine(event, 'broken', NOW);
        if (before === null) {
          model.held.add(event);
          model.done.set(event, 'in-quarantine');
        }
        return model.settle(event);
      }
      if (before !== null) {
        await inbox.saveApplied(event, before, NOW);
        return model.settle(event);
      }
      const outcome = way === 'no-op' ? NOTHING : CHANGED;
      if (way === 'no-op') await inbox.saveApplied(event, outcome, NOW);
      else await desk.commit(inbox.applied(event, outcome, NOW));
      if (way === 'apply' && stream === 'users') await inbox.liftFlag(event.userId);
      model.done.set(event, outcome.reason);
      model.applied.add(event);
      model.settle(event, way !== 'apply-and-end');
    },
    (model) => next(model) !== undefined,
  );
};

const decide = (decision: 'replay' | 'drop', index: number): Command =>
  step(
    `${decision} ${index}`,
    async (model, { desk: { quarantine } }) => {
      const event = [...model.held][index % model.held.size]!;
      const { stream, userId, shardId, sequence } = event;
      const item = (await quarantine.get(`${stream}.${shardId}.${sequence}`))!;
      expect(item.event).toEqual(event);
      const later = model.came
        .slice(model.came.indexOf(event) + 1)
        .filter((other) => other.stream === stream && other.userId === userId && model.applied.has(other));
      expect((await quarantine.appliedAfter(event)).map((other) => other.sequence)).toEqual(
        later.map((other) => other.sequence),
      );
      model.held.delete(event);
      if (decision === 'drop') {
        await quarantine.drop(item, { who: 'olga', reason: 'obsolete', at: NOW });
        model.done.set(event, 'dropped');
      } else {
        await quarantine.release(item, event, NOW);
        model.done.delete(event);
        model.pending.add(event);
      }
      expect(await quarantine.get(item.quarantineId)).toBeNull();
    },
    ({ held }) => held.size > 0,
  );

/** Lifts what was left over, and nothing else. */
const sweep: Command = step('sweep', async (model, { desk: { inbox } }) => {
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof inbox.flagged>> = await inbox.flagged(LATER, key);
    for (const userId of page.userIds) if (model.users.includes(userId)) await inbox.liftFlag(userId);
    key = page.nextKey;
  } while (key !== null);
  model.leftOver.clear();
});

const which = fc.tuple(fc.constantFrom(...EVENT_STREAMS, 'users' as const), fc.nat(USERS - 1));
const range = [fc.nat(40), fc.integer({ min: 1, max: 3 })] as const;
const steps = [
  fc.array(which, { minLength: 1, maxLength: 4 }).map(store),
  fc.tuple(...range).map(([from, count]) => redeliver(from, count)),
  fc.tuple(...range).map(([from, count]) => breakOff(from, count)),
  ...[...WAYS, 'quarantine' as const].map((way) => which.map((one) => work(way, one))),
  ...(['replay', 'drop'] as const).map((decision) => fc.nat(10).map((index) => decide(decision, index))),
  fc.constant(sweep),
];

it('is what the model says after every step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 40, size: 'max' }), (commands) =>
      fc.asyncModelRun(() => ({ model: new Model(), real }), commands),
    ),
    { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 15) },
  );
});
