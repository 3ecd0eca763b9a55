import {
  DeleteItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import { RecordChangedError } from '../../../src/errors.ts';
import type { InboxEvent } from '../../../src/ports/inbox.ts';
import { EVENT_LIMITS } from '../../../src/ports/inbox.ts';
import type { PageKey } from '../../../src/ports/subscriptions.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Fault, Faults } from '../../support/dynamo-faults.ts';
import {
  fail,
  injectFaults,
  loseAnswer,
  serverFailed,
  timedOut,
  transactionConflict,
} from '../../support/dynamo-faults.ts';
import type { InboxDesk } from '../../support/inbox-desk.ts';
import { CHANGED, NOTHING, NOW, anEvent, inboxDesk, newUser, waitingWith } from '../../support/inbox-desk.ts';

let store: BillingStore;
let faults: Faults;
let desk: InboxDesk;
let user: UserId;

beforeAll(async () => {
  store = await billingStore();
  desk = inboxDesk(store.client, store.tables);
});
afterAll(() => store.drop());
beforeEach(() => {
  user = newUser();
  faults = injectFaults(store.client);
});
afterEach(() => {
  faults.remove();
});

const earliest = (userId = user) => desk.inbox.earliest('users', userId);
const seen = (userId = user) => desk.membershipEvent(userId);

async function apply(event: InboxEvent): Promise<void> {
  await desk.commit(desk.inbox.applied(event, CHANGED, NOW));
  await desk.inbox.liftFlag(event.userId);
}

async function held(userId = user) {
  const all = [];
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof desk.quarantine.list>> = await desk.quarantine.list(key);
    all.push(...page.items);
    key = page.nextKey;
  } while (key !== null);
  return all.filter(({ shardId }) => shardId === userId);
}

const putsOf = (input: Record<string, unknown>): string[] =>
  Object.values(
    (input['RequestItems'] ?? {}) as Record<string, { PutRequest: { Item: { pk: { S: string } } } }[]>,
  )
    .flat()
    .map(({ PutRequest }) => PutRequest.Item.pk.S);
const putsEvents = (input: Record<string, unknown>): boolean =>
  putsOf(input).some((pk) => pk.startsWith('INBOX#'));
const putsFlags = (input: Record<string, unknown>): boolean =>
  putsOf(input).some((pk) => pk.startsWith('USER#'));

describe('an event', () => {
  it('is given back as it came, whatever its data hold', async () => {
    const data = {
      user_id: user,
      n: 12345678901234567890,
      tiny: 1e-300,
      list: [null, '', { é: '💶\ud800' }],
    };
    const event = anEvent(user, 7, { data });
    await desk.inbox.store([event]);
    expect(await earliest()).toEqual(event);
  });

  it('comes in the order of its number, not of its text, nor of its arrival', async () => {
    const last = '49590338271490256608559692538361571095921575989136588898';
    const events = ['9', '10', '11', last].map((sequence) => anEvent(user, sequence));
    await desk.inbox.store([events[3]!, events[2]!]);
    await desk.inbox.store([events[1]!, events[0]!]);
    for (const event of events) {
      expect((await earliest())?.sequence).toBe(event.sequence);
      await apply(event);
    }
    expect(await earliest()).toBeNull();
  });

  it('waits for none of another stream or user', async () => {
    await desk.inbox.store([
      anEvent(user, 5),
      anEvent(user, 6, { stream: 'payments' }),
      anEvent(newUser(), 1),
    ]);
    expect((await desk.inbox.earliest('payments', user))?.sequence).toBe('6');
    expect((await earliest())?.sequence).toBe('5');
  });

  const NO_NUMBER = 'not a sequence number of at most';
  it.each([
    ['a number with too many digits', { sequence: '1'.repeat(EVENT_LIMITS.sequenceDigits + 1) }, NO_NUMBER],
    ['a number that is none', { sequence: '12a' }, NO_NUMBER],
    ['an id too long', { identity: 'x'.repeat(EVENT_LIMITS.idBytes + 1) }, 'an id too long for a key'],
    ['too much data', { data: { text: 'x'.repeat(EVENT_LIMITS.dataBytes) } }, 'an event too large'],
  ])('with %s is refused before anything is written', async (_, fields, refusal) => {
    const good = anEvent(user, 1);
    await expect(desk.inbox.store([good, anEvent(user, 2, fields)])).rejects.toThrow(refusal);
    expect(await earliest()).toBeNull();
    expect(await seen()).toBeNull();
  });

  it('at every limit can be stored, put into quarantine and dropped', async () => {
    const event = anEvent(user, '9'.repeat(EVENT_LIMITS.sequenceDigits), {
      identity: 'é'.repeat(EVENT_LIMITS.idBytes / 2),
      data: { t: 'x'.repeat(EVENT_LIMITS.dataBytes - 8) },
    });
    await desk.inbox.store([event]);
    await desk.inbox.quarantine(event, 'large', NOW);
    const [item] = await held();
    expect(item?.event).toEqual(event);
    await desk.quarantine.drop(item!, { who: 'olga', reason: 'too large', at: NOW });
  });

  it('in a great batch is stored, also where it comes twice in it', async () => {
    const users = Array.from({ length: 60 }, newUser);
    const events = users.flatMap((userId) => [anEvent(userId, 2), anEvent(userId, 1), anEvent(userId, 2)]);
    await desk.inbox.store(events);
    for (const userId of users) expect((await earliest(userId))?.sequence).toBe('1');
  });
});

describe('applying', () => {
  it('takes the event out of the inbox and says what came of it, with the change or not at all', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    expect(await desk.inbox.wasApplied(event)).toBeNull();
    await apply(event);
    expect(await desk.inbox.wasApplied(event)).toEqual(CHANGED);
    expect(await earliest()).toBeNull();
    await expect(apply(event)).rejects.toThrow(RecordChangedError);
  });

  it('of what was delivered again is refused, and taking it out leaves what was said', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    await apply(event);
    const again = anEvent(user, 4, { identity: event.identity });
    await desk.inbox.store([again]);
    expect(await desk.inbox.wasApplied(again)).toEqual(CHANGED);
    await expect(apply(again)).rejects.toThrow(RecordChangedError);
    await desk.inbox.saveApplied(again, NOTHING, NOW);
    expect(await desk.inbox.wasApplied(event)).toEqual(CHANGED);
    expect([await earliest(), await seen()]).toEqual([null, null]);
  });

  it('without a change is saved alone, as often as one likes', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    await desk.inbox.saveApplied(event, NOTHING, NOW);
    await desk.inbox.saveApplied(event, CHANGED, NOW);
    expect(await desk.inbox.wasApplied(event)).toEqual(NOTHING);
    expect([await earliest(), await seen()]).toEqual([null, null]);
  });

  it('of what nobody stored is refused', async () => {
    await expect(desk.inbox.saveApplied(anEvent(user, 1), NOTHING, NOW)).rejects.toThrow(RecordChangedError);
  });

  it('is remembered for sixty days', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    await apply(event);
    const { Items = [] } = await store.client.send(
      new ScanCommand({
        TableName: store.tables.pipeline,
        FilterExpression: 'contains(pk, :user) AND attribute_exists(expires_at)',
        ExpressionAttributeValues: { ':user': { S: user } },
      }),
    );
    const expected = String(plusDays(NOW, 60) / 1_000_000_000n);
    expect(Items.map(({ expires_at }) => expires_at?.N)).toEqual([expected, expected]);
  });
});

describe('failed tries', () => {
  it('are counted while the event is in the inbox', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    expect(await desk.inbox.countTry(event, 'first')).toBe(1);
    expect(await desk.inbox.countTry(event, 'x'.repeat(500_000))).toBe(2);
    expect(await earliest()).toEqual(event);
    await apply(event);
    await expect(desk.inbox.countTry(event, 'late')).rejects.toThrow(RecordChangedError);
  });
});

describe('the flag', () => {
  it('stands while a membership event waits', async () => {
    const [first, second] = [anEvent(user, 1), anEvent(user, 2)];
    expect(await seen()).toBeNull();
    await desk.inbox.store([first, second]);
    expect(await seen()).toBe('unapplied');
    await apply(first);
    expect(await seen()).toBe('unapplied');
    await apply(second);
    expect(await seen()).toBeNull();
  });

  it('has nothing to do with payments', async () => {
    await desk.inbox.store([anEvent(user, 1, { stream: 'payments' })]);
    expect(await seen()).toBeNull();
    const membership = anEvent(user, 2);
    await desk.inbox.store([membership]);
    await apply(membership);
    expect(await seen()).toBeNull();
  });

  it('that nobody lifted is found, and lifted', async () => {
    const event = anEvent(user, 1, { receivedAt: NOW });
    const waiting = anEvent(newUser(), 1, { receivedAt: NOW });
    const late = anEvent(newUser(), 1, { receivedAt: plusMs(NOW, 1) });
    await desk.inbox.store([event, waiting, late]);
    await desk.commit(desk.inbox.applied(event, CHANGED, NOW));
    expect(await seen()).toBe('unapplied');
    const found = await everyFlagged();
    expect(found).toEqual(expect.arrayContaining([user, waiting.userId]));
    expect(found).not.toContain(late.userId);
    for (const userId of found) await desk.inbox.liftFlag(userId);
    expect(await seen()).toBeNull();
    expect(await seen(waiting.userId)).toBe('unapplied');
  });

  async function everyFlagged(): Promise<UserId[]> {
    const found: UserId[] = [];
    let key: PageKey | null = null;
    do {
      const page: Awaited<ReturnType<typeof desk.inbox.flagged>> = await desk.inbox.flagged(NOW, key);
      found.push(...page.userIds);
      key = page.nextKey;
    } while (key !== null);
    return found;
  }

  it('that is not there is not touched: half of one would stand for ever, as no list names it', async () => {
    faults.script('DeleteItemCommand', fail(transactionConflict()));
    await desk.inbox.liftFlag(user);
    expect(await seen()).toBeNull();
  });

  it('is put again when somebody lifts it while the event is on its way', async () => {
    await desk.inbox.store([anEvent(user, 1)]);
    await apply(anEvent(user, 1));
    const gate = faults.hold('BatchWriteItemCommand', { when: putsEvents });
    const stored = desk.inbox.store([anEvent(user, 2)]);
    await gate.reached;
    await desk.inbox.liftFlag(user);
    gate.open();
    await stored;
    expect(await seen()).toBe('unapplied');
  });

  it('is not taken away by somebody who asked before the event was there', async () => {
    const [arriving, leaving] = [
      faults.hold('BatchWriteItemCommand', { when: putsEvents }),
      faults.hold('DeleteItemCommand'),
    ];
    const stored = desk.inbox.store([anEvent(user, 2)]);
    await arriving.reached;
    const lifted = desk.inbox.liftFlag(user);
    await leaving.reached;
    arriving.open();
    await stored;
    leaving.open();
    await lifted;
    expect(await seen()).toBe('unapplied');
  });

  it('is not taken away by a mark that was made twice, the second time on the flag of a later event', async () => {
    await desk.inbox.store([anEvent(user, 1)]);
    await desk.commit(desk.inbox.applied(anEvent(user, 1), CHANGED, NOW));
    let markAgain: () => Promise<unknown> = () => Promise.resolve();
    faults.script('UpdateItemCommand', (send) => {
      markAgain = send;
      return send();
    });
    const leaving = faults.hold('DeleteItemCommand');
    const lifted = desk.inbox.liftFlag(user);
    await leaving.reached;
    await desk.inbox.store([anEvent(user, 2)]);
    await markAgain();
    leaving.open();
    await lifted;
    expect(await seen()).toBe('unapplied');
  });

  it('stands in the end, however stores, deliveries and lifts meet', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (schedule) => {
        const [userId, done] = [newUser(), 1];
        await desk.inbox.store([anEvent(userId, done)]);
        const turns = injectFaults(store.client);
        const inTurn: Fault = (send) => schedule.schedule(Promise.resolve()).then(send);
        for (const command of ['BatchWriteItem', 'BatchGetItem', 'UpdateItem', 'Query', 'DeleteItem'])
          turns.script(`${command}Command`, inTurn, { times: Infinity });
        try {
          const work = [
            desk.inbox.store([anEvent(userId, 2)]),
            desk.inbox.store([anEvent(userId, done)]),
            desk.inbox.saveApplied(anEvent(userId, done), NOTHING, NOW),
            desk.inbox.liftFlag(userId),
          ];
          await schedule.waitFor(Promise.all(work));
        } finally {
          turns.remove();
        }
        expect(await seen(userId)).toBe('unapplied');
      }),
      { numRuns: 60 },
    );
  });
});

describe('storing', () => {
  it('that breaks off after the flag defers the user until the event is delivered again', async () => {
    faults.script('BatchWriteItemCommand', fail(serverFailed()), { when: putsEvents });
    await expect(desk.inbox.store([anEvent(user, 1)])).rejects.toThrow('injected');
    expect([await earliest(), await seen()]).toEqual([null, 'unapplied']);
    await desk.inbox.store([anEvent(user, 1)]);
    await apply(anEvent(user, 1));
    expect([await earliest(), await seen()]).toEqual([null, null]);
  });

  it('that breaks off at the flag stores no event', async () => {
    faults.script('BatchWriteItemCommand', fail(serverFailed()), { when: putsFlags });
    await expect(desk.inbox.store([anEvent(user, 1)])).rejects.toThrow('injected');
    expect([await earliest(), await seen()]).toEqual([null, null]);
  });

  it('that breaks off never leaves a later event without the earlier one', async () => {
    const events = Array.from({ length: 5 }, (_, index) => anEvent(user, index + 1));
    let batches = 0;
    faults.script('BatchWriteItemCommand', fail(serverFailed()), {
      when: (input) => putsEvents(input) && (batches += 1) === 3,
    });
    await expect(desk.inbox.store([...events].reverse())).rejects.toThrow('injected');
    expect(await waitingWith(events[0]!, store.client, store.tables.pipeline)).toEqual(['1', '2']);
  });

  it('repeats what DynamoDB leaves unprocessed', async () => {
    const users = Array.from({ length: 30 }, newUser);
    const events = users.map((userId) => anEvent(userId, 1));
    let leftOver = 0;
    store.client.middlewareStack.add(
      (next) => async (args) => {
        const input = args.input as { RequestItems?: Record<string, unknown[]> };
        const requests = input.RequestItems?.[store.tables.pipeline];
        if (!Array.isArray(requests) || requests.length < 2) return next(args);
        const rest = requests.slice(requests.length / 2);
        leftOver += rest.length;
        const taken = { [store.tables.pipeline]: requests.slice(0, requests.length / 2) };
        const answer = await next({ ...args, input: { RequestItems: taken } });
        Object.assign(answer.output, { UnprocessedItems: { [store.tables.pipeline]: rest } });
        return answer;
      },
      { step: 'initialize', name: 'takesHalf' },
    );
    try {
      await desk.inbox.store(events);
    } finally {
      store.client.middlewareStack.remove('takesHalf');
    }
    expect(leftOver).toBeGreaterThan(30);
    for (const event of events) {
      expect(await earliest(event.userId)).toEqual(event);
      expect(await seen(event.userId)).toBe('unapplied');
    }
  });

  it('gives up when DynamoDB takes nothing', async () => {
    const nothing: Fault = () =>
      Promise.resolve({
        output: {
          UnprocessedItems: { [store.tables.pipeline]: [{ PutRequest: { Item: { pk: { S: 'x' } } } }] },
          $metadata: {},
        },
      });
    const script = faults.script('BatchWriteItemCommand', nothing, { times: Infinity });
    await expect(desk.inbox.store([anEvent(user, 1)])).rejects.toThrow('unprocessed');
    expect(script.hits).toBe(8);
  });

  it('is the same when an answer is lost and it is done again', async () => {
    faults.script('BatchWriteItemCommand', loseAnswer(timedOut()), { when: putsEvents });
    await expect(desk.inbox.store([anEvent(user, 1)])).rejects.toThrow('injected');
    await desk.inbox.store([anEvent(user, 1)]);
    await apply(anEvent(user, 1));
    expect([await earliest(), await seen()]).toEqual([null, null]);
  });
});

describe('when answers of transactions are lost', () => {
  const TRANSACTION = 'TransactWriteItemsCommand';
  const lost: [string, Fault][] = [
    ['lost', loseAnswer(timedOut())],
    ['lost by the server', loseAnswer(serverFailed())],
    ['never made', fail(serverFailed())],
  ];

  it.each(lost)('%s: what changes nothing is saved once', async (_, fault) => {
    await desk.inbox.store([anEvent(user, 1)]);
    faults.script(TRANSACTION, fault);
    await desk.inbox.saveApplied(anEvent(user, 1), NOTHING, NOW);
    expect(await desk.inbox.wasApplied(anEvent(user, 1))).toEqual(NOTHING);
    expect([await earliest(), await seen()]).toEqual([null, null]);
  });

  it.each(lost)('%s: an event goes to quarantine, back and away once', async (_, fault) => {
    await desk.inbox.store([anEvent(user, 1)]);
    faults.script(TRANSACTION, fault);
    await desk.inbox.quarantine(anEvent(user, 1), 'broken', NOW);
    const [item, ...others] = await held();
    expect(others).toEqual([]);
    faults.script(TRANSACTION, fault);
    await desk.quarantine.release(item!, item!.event!, NOW);
    expect([await held(), await seen()]).toEqual([[], 'unapplied']);
    await desk.inbox.quarantine(anEvent(user, 1), 'still broken', NOW);
    faults.script(TRANSACTION, fault);
    await desk.quarantine.drop((await held())[0]!, { who: 'olga', reason: 'x', at: NOW });
    expect([await held(), await seen(), await earliest()]).toEqual([[], null, null]);
  });

  it('a flag that cannot be lifted is an error, and lifting it again is not', async () => {
    await desk.inbox.store([anEvent(user, 1)]);
    faults.script('DeleteItemCommand', fail(transactionConflict()));
    await expect(desk.inbox.saveApplied(anEvent(user, 1), NOTHING, NOW)).rejects.toThrow('injected');
    expect([await earliest(), await seen()]).toEqual([null, 'unapplied']);
    await desk.inbox.saveApplied(anEvent(user, 1), NOTHING, NOW);
    expect(await seen()).toBeNull();
  });
});

describe('quarantine', () => {
  const position = (sequence: string, userId: UserId | null = null) =>
    ({ stream: 'users', shardId: user, sequence, userId }) as const;

  it('lets later events go on and makes the user wait until somebody has acted on each event', async () => {
    const [first, second, third] = [anEvent(user, 1), anEvent(user, 2), anEvent(user, 3)];
    await desk.inbox.store([first, second, third]);
    await desk.inbox.quarantine(first, 'no price', NOW);
    expect([(await earliest())?.sequence, await seen()]).toEqual(['2', 'unapplied']);
    await desk.inbox.quarantine(second, 'no price', plusMs(NOW, 1));
    await apply(third);
    expect([await earliest(), await seen()]).toEqual([null, 'quarantined']);

    const items = await held();
    expect(items.map(({ quarantineId }) => quarantineId)).toEqual([`users.${user}.1`, `users.${user}.2`]);
    expect(items[0]).toMatchObject({ event: first, reason: 'no price', at: NOW, raw: null, stream: 'users' });
    expect(await desk.quarantine.get(items[0]!.quarantineId)).toEqual(items[0]);
    expect(await desk.quarantine.appliedAfter(first)).toEqual([{ type: 'CANCEL', sequence: '3', at: NOW }]);
    expect(await desk.quarantine.appliedAfter(third)).toEqual([]);

    await desk.quarantine.drop(items[1]!, { who: 'olga', reason: 'obsolete', at: NOW });
    expect(await seen()).toBe('quarantined');
    await desk.quarantine.release(items[0]!, first, NOW);
    expect([await earliest(), await seen(), await held()]).toEqual([first, 'unapplied', []]);
    await apply(first);
    expect(await seen()).toBeNull();
  });

  it('of a payment does not make the user wait', async () => {
    const event = anEvent(user, 1, { stream: 'payments' });
    await desk.inbox.store([event]);
    await desk.inbox.quarantine(event, 'unknown record', NOW);
    expect(await seen()).toBeNull();
    await desk.quarantine.release((await held())[0]!, event, NOW);
    expect([await seen(), await desk.inbox.earliest('payments', user)]).toEqual([null, event]);
  });

  it.each(['held', 'dropped'])('is where an event stays that is delivered again, %s', async (state) => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    await desk.inbox.quarantine(event, 'broken', NOW);
    if (state === 'dropped')
      await desk.quarantine.drop((await held())[0]!, { who: 'olga', reason: 'x', at: NOW });
    await desk.inbox.store([event]);
    expect(await desk.inbox.wasApplied(event)).toMatchObject({
      result: 'no-op',
      reason: state === 'held' ? 'in-quarantine' : 'dropped',
    });
    await expect(apply(event)).rejects.toThrow(RecordChangedError);
    await desk.inbox.quarantine(event, 'broken again', plusMs(NOW, 1));
    expect([await earliest(), await seen()]).toEqual([null, state === 'held' ? 'quarantined' : null]);
    expect((await held()).map(({ reason }) => reason)).toEqual(state === 'held' ? ['broken'] : []);
  });

  it('does not take an event that was applied before it was delivered again', async () => {
    const [event, again] = [anEvent(user, 1), anEvent(user, 4, { identity: `${user}-1` })];
    await desk.inbox.store([event]);
    await apply(event);
    await desk.inbox.store([again]);
    await desk.inbox.quarantine(again, 'broken', NOW);
    expect([await held(), await earliest(), await seen()]).toEqual([[], null, null]);
    expect(await desk.inbox.wasApplied(again)).toEqual(CHANGED);
  });

  it('takes an event that comes back and fails again', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    for (const reason of ['broken', 'still broken']) {
      await desk.inbox.quarantine(event, reason, NOW);
      const [item] = await held();
      expect([item?.reason, await seen()]).toEqual([reason, 'quarantined']);
      await desk.quarantine.release(item!, event, NOW);
    }
    expect([await earliest(), await seen()]).toEqual([event, 'unapplied']);
  });

  it('is left once: whoever acts second is told', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    await desk.inbox.quarantine(event, 'broken', NOW);
    const [item] = await held();
    await desk.quarantine.release(item!, event, NOW);
    const late = { who: 'olga', reason: 'x', at: NOW };
    await expect(desk.quarantine.drop(item!, late)).rejects.toThrow(RecordChangedError);
    await expect(desk.quarantine.release(item!, event, NOW)).rejects.toThrow(RecordChangedError);
    expect(await desk.quarantine.get(item!.quarantineId)).toBeNull();
    expect([await earliest(), await seen()]).toEqual([event, 'unapplied']);
  });

  it('does not lose an event that comes back while somebody takes its copy out', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    await desk.inbox.quarantine(event, 'broken', NOW);
    await desk.inbox.store([event]);
    const gate = faults.hold('TransactWriteItemsCommand', {
      when: (input) => JSON.stringify(input).includes('"ConditionCheck":'),
    });
    const outcome = await desk.inbox.wasApplied(event);
    const takenOut = desk.inbox.saveApplied(event, outcome!, NOW);
    await gate.reached;
    await desk.quarantine.release((await held())[0]!, event, NOW);
    gate.open();
    await expect(takenOut).rejects.toThrow(RecordChangedError);
    expect([await earliest(), await seen()]).toEqual([event, 'unapplied']);
  });

  it('does not lose an event that comes back after somebody was told that it is in quarantine', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    await desk.inbox.quarantine(event, 'broken', NOW);
    await desk.inbox.store([event]);
    const outcome = await desk.inbox.wasApplied(event);
    await desk.quarantine.release((await held())[0]!, event, NOW);
    await expect(desk.inbox.saveApplied(event, outcome!, NOW)).rejects.toThrow(RecordChangedError);
    expect([await desk.inbox.wasApplied(event), await earliest()]).toEqual([null, event]);
  });

  it('does not let out an event that was applied when it was delivered again', async () => {
    await desk.inbox.quarantineRaw(position('5'), Uint8Array.of(1), 'an older reading of it', NOW);
    const again = anEvent(user, 7);
    await desk.inbox.store([again]);
    await apply(again);
    const [item] = await held();
    const event = anEvent(user, 5, { identity: again.identity });
    await expect(desk.quarantine.release(item!, event, NOW)).rejects.toThrow(RecordChangedError);
    expect([await held(), await earliest(), await seen()]).toEqual([[item], null, null]);
    expect(await desk.inbox.wasApplied(again)).toEqual(CHANGED);
  });

  it('keeps who dropped an event and why for a year', async () => {
    const event = anEvent(user, 1);
    await desk.inbox.store([event]);
    await desk.inbox.quarantine(event, 'broken', NOW);
    const [item] = await held();
    await desk.quarantine.drop(item!, { who: 'olga', reason: 'the member agreed', at: NOW });
    const { Items = [] } = await store.client.send(
      new QueryCommand({
        TableName: store.tables.pipeline,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: `QUARANTINE#${item!.quarantineId}` } },
      }),
    );
    expect(Items).toMatchObject([
      {
        decidedBy: { S: 'olga' },
        decidedBecause: { S: 'the member agreed' },
        expires_at: { N: String(plusDays(NOW, 365) / 1_000_000_000n) },
      },
    ]);
  });

  it('keeps what cannot be read, once, byte by byte and without a user', async () => {
    const raw = Uint8Array.from([0, 255, 123, 200]);
    await desk.inbox.quarantineRaw(position('5'), raw, 'not JSON', NOW);
    await desk.inbox.quarantineRaw(position('5'), raw, 'not JSON', plusMs(NOW, 1));
    const items = await held();
    expect(items).toMatchObject([{ event: null, reason: 'not JSON', at: NOW, cut: false, sequence: '5' }]);
    expect(Uint8Array.from(Buffer.from(items[0]!.raw!, 'base64'))).toEqual(raw);
    const event = anEvent(user, 5);
    await desk.quarantine.release(items[0]!, event, NOW);
    expect([await earliest(), await seen(), await held()]).toEqual([event, 'unapplied', []]);
  });

  it('of what cannot be read makes its user wait, until somebody has acted on it', async () => {
    await desk.inbox.quarantineRaw(position('5', user), Uint8Array.of(1), 'not JSON', NOW);
    await desk.inbox.quarantineRaw(position('6', user), Uint8Array.of(1), 'not JSON', plusMs(NOW, 1));
    expect(await held()).toMatchObject([{ userId: user }, { userId: user }]);
    expect(await desk.quarantine.ofUser(user)).toEqual(await held());
    const [first, second] = await held();
    await desk.quarantine.drop(first!, { who: 'olga', reason: 'noise', at: NOW });
    expect(await seen()).toBe('quarantined');
    // It may turn out to be somebody else's.
    const other = newUser();
    await desk.quarantine.release(second!, anEvent(other, 6), NOW);
    expect([await seen(), await seen(other)]).toEqual([null, 'unapplied']);
  });

  it('takes what cannot be read also when there is so much of a user that no more can be noted', async () => {
    const note = (id: string) =>
      store.client.send(
        new UpdateItemCommand({
          TableName: store.tables.pipeline,
          Key: { pk: { S: `USER#${user}` }, sk: { S: 'QUARANTINED' } },
          UpdateExpression: 'ADD ids :id',
          ExpressionAttributeValues: { ':id': { SS: [id] } },
        }),
      );
    for (let n = 0; n < 10; n += 1) await note(`${n}`.padEnd(40_000, '-'));
    for (let n = 10, isFull = false; !isFull; n += 1) {
      isFull = await note(`${n}`.padEnd(n < 19 ? 1_000 : 20, '-')).then(
        () => false,
        () => true,
      );
    }
    await desk.inbox.quarantineRaw(position('5', user), Uint8Array.of(1), 'not JSON', NOW);
    expect(await held()).toMatchObject([{ userId: user, sequence: '5' }]);
    expect(await seen()).toBe('quarantined');
  });

  it('of a payment that cannot be read does not make its user wait', async () => {
    const payment = { ...position('5', user), stream: 'payments' } as const;
    await desk.inbox.quarantineRaw(payment, Uint8Array.of(1), 'not JSON', NOW);
    expect([await held(), await seen()]).toEqual([[expect.objectContaining({ userId: user })], null]);
  });

  it('does not make a user wait again for what was dropped and is delivered again', async () => {
    await desk.inbox.quarantineRaw(position('5', user), Uint8Array.of(1), 'not JSON', NOW);
    await desk.quarantine.drop((await held())[0]!, { who: 'olga', reason: 'noise', at: NOW });
    await desk.inbox.quarantineRaw(position('5', user), Uint8Array.of(1), 'not JSON', NOW);
    expect([await held(), await seen()]).toEqual([[], null]);
  });

  it.each(['held', 'dropped'])(
    'takes an event that could not be read before, %s, and fails now that it can',
    async (state) => {
      const key = newUser();
      await desk.inbox.quarantineRaw(position('5', key), Uint8Array.of(1), 'an older reading', NOW);
      if (state === 'dropped')
        await desk.quarantine.drop((await held())[0]!, { who: 'olga', reason: 'x', at: NOW });
      const event = anEvent(user, 5);
      await desk.inbox.store([event]);
      const later = plusMs(NOW, 60_000);
      await desk.inbox.quarantine(event, 'no price', later);
      expect(await held()).toMatchObject([
        { event, userId: user, reason: 'no price', raw: null, at: state === 'held' ? NOW : later },
      ]);
      expect([await earliest(), await seen(), await seen(key)]).toEqual([null, 'quarantined', null]);
    },
  );

  it('keeps the beginning of what is too large', async () => {
    await desk.inbox.quarantineRaw(position('6'), new Uint8Array(1_048_576), 'too large', NOW);
    expect(await held()).toMatchObject([{ cut: true }]);
  });

  it('does not bring back what cannot be read and was dropped', async () => {
    await desk.inbox.quarantineRaw(position('7'), Uint8Array.of(1), 'not JSON', NOW);
    await desk.quarantine.drop((await held())[0]!, { who: 'olga', reason: 'noise', at: NOW });
    await desk.inbox.quarantineRaw(position('7'), Uint8Array.of(1), 'not JSON', NOW);
    expect(await held()).toEqual([]);
  });

  it('lists many, oldest first, and one that cannot be read hides no other', async () => {
    const sequences = Array.from({ length: 60 }, (_, index) => String(100 + index));
    for (const [index, sequence] of sequences.entries())
      await desk.inbox.quarantineRaw(position(sequence), Uint8Array.of(1), 'x', plusMs(NOW, 60 - index));
    const key = { pk: { S: `QUARANTINE#users.${user}.130` }, sk: { S: 'ITEM' } };
    await store.client.send(new PutItemCommand({ TableName: store.tables.pipeline, Item: key }));
    const entry = { pk: { S: 'QUARANTINE' }, sk: { S: '0#names no event' } };
    await store.client.send(new PutItemCommand({ TableName: store.tables.pipeline, Item: entry }));
    const listed = (await held()).map(({ sequence }) => sequence);
    expect(listed).toEqual(sequences.reverse().filter((sequence) => sequence !== '130'));
    const page = await desk.quarantine.list(null);
    expect(page.nextKey).not.toBeNull();
    expect(page.unreadable.map(({ message }) => message)).toEqual([
      'pipeline item QUARANTINE / 0#names no event cannot be read: quarantineId: a string, which is missing',
    ]);
    const { pk, sk } = entry;
    await store.client.send(new DeleteItemCommand({ TableName: store.tables.pipeline, Key: { pk, sk } }));
  });
});

describe('what waits', () => {
  it('is listed from a time on, and one that cannot be read hides no other', async () => {
    const before = plusMs(NOW, -86_400_000);
    const old = anEvent(user, 1, { receivedAt: before });
    const fresh = anEvent(user, 2, { receivedAt: plusMs(before, 1) });
    const applied = anEvent(newUser(), 3, { receivedAt: before });
    await desk.inbox.store([old, fresh, applied]);
    await apply(applied);
    const broken = { pk: { S: `INBOX#users#${newUser()}` }, sk: { S: '1' } };
    const due = { dueList: { S: 'inbox#0' }, dueAt: { S: '2026-11-01T00:00:00.000000000Z' } };
    await store.client.send(
      new PutItemCommand({ TableName: store.tables.pipeline, Item: { ...broken, ...due } }),
    );
    const events: InboxEvent[] = [];
    const unreadable: Error[] = [];
    let key: PageKey | null = null;
    do {
      const page: Awaited<ReturnType<typeof desk.inbox.waiting>> = await desk.inbox.waiting(before, key);
      events.push(...page.events);
      unreadable.push(...page.unreadable);
      key = page.nextKey;
    } while (key !== null);
    expect(events).toEqual([old]);
    expect(unreadable.map(({ message }) => message)).toEqual([expect.stringContaining(broken.pk.S)]);
  });
});
