import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ACH_WATCH, writeWatch } from '../../../src/adapters/dynamodb/ach-watch-items.ts';
import { partOf, partsOfList } from '../../../src/adapters/dynamodb/item-codec.ts';
import type { RoundCounts } from '../../../src/app/janitor-round.ts';
import { janitorRound } from '../../../src/app/janitor-round.ts';
import { formatInstant, plusDays } from '../../../src/domain/instant.ts';
import type { SubscriptionId } from '../../../src/domain/subscription.ts';
import { MalformedRowError } from '../../../src/errors.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Bench } from '../../audit/bench.ts';
import { bench, changed } from '../../audit/bench.ts';
import { fail, injectFaults } from '../../support/dynamo-faults.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';

const START = at('2026-11-16T08:00:00Z');
const DAY = 86_400_000;

let on: Bench;
let here: World;
let troubles: { ids: object; error: unknown }[];

// Counts are of everything that is there, so each test has a world of its own.
beforeEach(async () => {
  on = await bench();
  here = on.here;
  troubles = [];
});
afterEach(() => on.close());

const round = (): Promise<RoundCounts> =>
  janitorRound(here.dependencies, { abandonAfterMs: 100 * DAY }, (ids, error) =>
    troubles.push({ ids, error }),
  );

async function unanswered(
  fault: 'error-after' | 'error-before' = 'error-after',
): Promise<StoredSubscription> {
  const record = await here.member();
  await here.faults([
    { id: randomUUID(), service: 'payments', fault, times: 3, match: { user_id: record.userId } },
  ]);
  expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'unknown' });
  await here.faults([]);
  return record;
}

function inFirstPart(): SubscriptionId {
  for (;;) {
    const id = randomUUID() as SubscriptionId;
    if (partOf(ACH_WATCH, id) === partsOfList(ACH_WATCH)[0]) return id;
  }
}

async function sent(
  settings: object = {},
  fields: Partial<StoredSubscription> = {},
): Promise<StoredSubscription> {
  const record = await here.member({ has_debit_card: false, ...settings }, fields);
  expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
  return here.row(record);
}

const statuses = (records: readonly StoredSubscription[]) =>
  Promise.all(records.map(async (record) => (await here.row(record)).billingStatus));

/** Another row of the same user that nobody can read. */
async function spoil(record: StoredSubscription): Promise<() => Promise<void>> {
  const billingDate = plusDays(record.billingDate, -400);
  const row = (await here.store.billingRow(record.userId, formatInstant(record.billingDate)))!;
  await here.store.putBillingRow(
    changed(row, {
      billing_date: formatInstant(billingDate),
      subscription_id: randomUUID(),
      billing_amount: 'a lot',
    }),
  );
  return () => here.store.removeBillingRow(record.userId, billingDate);
}

it('a round with nothing to do asks nobody', async () => {
  await sent();
  expect(await round()).toEqual({ asked: 0, settled: 0, left: 0, failed: 0 });
});

it('a round settles every attempt and entry that is due, and leaves what nobody knows', async () => {
  const lost = [await unanswered(), await unanswered()];
  const never = await unanswered('error-before');
  const paid = await Promise.all(Array.from({ length: 6 }, () => sent()));
  const returned = await sent({ ach: { mode: 'return', code: 'R01' } });
  await on.at(plusDays(START, 4));

  expect(await round()).toEqual({ asked: 10, settled: 9, left: 1, failed: 0 });
  expect(await statuses([...lost, never])).toEqual(['COMPLETED', 'COMPLETED', 'SCHEDULED']);
  expect(await statuses(paid)).toEqual(paid.map(() => 'COMPLETED'));
  expect(await statuses([returned])).toEqual(['ERROR']);
  expect(await round()).toEqual({ asked: 1, settled: 0, left: 1, failed: 0 });
  expect(troubles).toEqual([]);
});

it('one user whose records cannot be read does not stop it, and is asked about again in the next', async () => {
  const badAttempt = await unanswered();
  const badEntry = await sent();
  const good = [await unanswered(), await sent(), await sent()];
  const mends = [await spoil(badAttempt), await spoil(badEntry)];
  await on.at(plusDays(START, 4));

  expect(await round()).toEqual({ asked: 5, settled: 3, left: 0, failed: 2 });
  expect(await statuses(good)).toEqual(good.map(() => 'COMPLETED'));
  expect(troubles.map(({ ids }) => ids)).toEqual(
    [badAttempt, badEntry].map(({ userId, subscriptionId }) => ({ userId, subscriptionId })),
  );
  expect(troubles.every(({ error }) => error instanceof MalformedRowError)).toBe(true);

  expect(await round()).toEqual({ asked: 2, settled: 0, left: 0, failed: 2 });
  for (const mend of mends) await mend();
  expect(await round()).toEqual({ asked: 2, settled: 2, left: 0, failed: 0 });
  expect(await statuses([badAttempt, badEntry])).toEqual(['COMPLETED', 'COMPLETED']);
  expect((await on.audit()).violations).toEqual([]);
});

it('a processor that does not answer fails the round’s questions, not the round', async () => {
  await unanswered();
  await sent();
  await on.at(plusDays(START, 4));
  await here.faults([{ id: 'down', service: 'lookups', fault: 'error-before' }]);
  expect(await round()).toEqual({ asked: 2, settled: 0, left: 0, failed: 2 });
  await here.faults([]);
  expect(await round()).toEqual({ asked: 2, settled: 2, left: 0, failed: 0 });
});

it('a list that cannot be read does not stop the other, nor does one item of it the others', async () => {
  const entry = await sent();
  const attempt = await unanswered();
  await on.at(plusDays(START, 4));
  const watch = (await here.dependencies.pipeline.watches.get(entry.subscriptionId))!;
  const { client, tables } = here.store;
  const broken = { ...writeWatch(watch, START), ...marshall({ pk: 'SUB#broken', checks: 'many' }) };
  await client.send(new PutItemCommand({ TableName: tables.pipeline, Item: broken }));
  const faults = injectFaults(client);
  faults.script('QueryCommand', fail(new Error('no capacity')));
  const counts = await round();
  faults.remove();
  expect(counts).toEqual({ asked: 1, settled: 1, left: 0, failed: 2 });
  expect(await statuses([entry, attempt])).toEqual(['COMPLETED', 'SCHEDULED']);
  expect(troubles.map(({ ids }) => ids)).toEqual([{ list: 'open-attempts' }, { list: 'ach-watch' }]);
});

it('asks about four at once, no more', async () => {
  // All in one part of the list: only then are they on one page.
  for (let i = 0; i < 10; i += 1) await sent({}, { subscriptionId: inFirstPart() });
  await on.at(plusDays(START, 4));
  const { processor } = here.dependencies;
  let asked = 0;
  let most = 0;
  let release = (): void => undefined;
  const fourAreThere = new Promise<void>((resolve) => (release = resolve));
  const counting: typeof processor = {
    charge: (key, request) => processor.charge(key, request),
    refund: (key, id) => processor.refund(key, id),
    findByKey: (key) => processor.findByKey(key),
    async findByConfirmation(id) {
      most = Math.max(most, (asked += 1));
      if (asked === 4) release();
      await fourAreThere;
      const found = await processor.findByConfirmation(id);
      asked -= 1;
      return found;
    },
  };
  const counts = await janitorRound(
    { ...here.dependencies, processor: counting },
    { abandonAfterMs: DAY },
    (ids, error) => troubles.push({ ids, error }),
  );
  expect(counts).toMatchObject({ asked: 10, settled: 10 });
  expect(most).toBe(4);
});
