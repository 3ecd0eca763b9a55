/**
 * What the pictures show beside what `npm start` does by itself: a past of two months, which is written into the store, and
 * what members and gateways tell, which takes the same way as in life, so that whatever comes of it is the code's own word.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { PutRecordCommand } from '@aws-sdk/client-kinesis';
import { clockFrom } from '../../dist/src/adapters/clock/clock-from.js';
import { createDynamoClient } from '../../dist/src/adapters/dynamodb/client.js';
import { createKinesisClient } from '../../dist/src/adapters/kinesis/client.js';
import { NO_LOG } from '../../dist/src/adapters/logging/logger.js';
import { readConfig } from '../../dist/src/config/read-config.js';
import * as sections from '../../dist/src/config/sections.js';
import { addDays, dateOf, isWeekend, midnightOf } from '../../dist/src/domain/calendar-date.js';
import { formatInstant, plusDays, plusMs, wholeSecond } from '../../dist/src/domain/instant.js';
import { runId } from '../../dist/src/domain/runs.js';
import { newestTick } from '../../dist/src/domain/schedule.js';
import { openStores } from '../../dist/src/wiring/stores.js';

export const WEBHOOK_SECRET = 'a-signing-secret-for-pictures-only';
/** Whoever has bought the same twice. */
export const TWICE_SOLD = 'demo-000023';

/** Gives the time at which everything stands. */
export async function makeUp(environment, api) {
  const config = readConfig(environment, {
    dynamodb: sections.dynamodb,
    kinesis: sections.kinesis,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
  });
  const { clock, close } = await clockFrom(config.clock);
  const stores = openStores(config, clock, NO_LOG);
  const now = clock.now();
  await addPast(stores, now);
  await addFreeze(stores, now);
  await addUnreadableEvent(config, stores, now);
  await addGatewayEvents(api.url, stores, now);
  await addUnanswered(environment.PAYMENTS_SERVICE_URL, api);
  await addMoneyToDecide(config, stores, now);
  await stores.close();
  await close();
  return now;
}

async function eventually(what, condition) {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await condition()) return;
    await sleep(200);
  }
  throw new Error(`in a minute it did not come to be that ${what}`);
}

async function addPast(stores, now) {
  for (let days = 1; days < 60; days += 1) {
    const day = addDays(dateOf(now), -days);
    if (isWeekend(day)) continue;
    const runs = ['scheduled', 'retry'].map((process) => pastRun(process, tickOf(process, day), days));
    for (const run of runs) await stores.runs.start(run);
    const sent = runs.reduce((sum, { report }) => sum + report.byVerdict.sent.count, 0);
    await stores.pipeline.meters.add(runs[0].runId, day, pastReturns(sent, days));
  }
}

const tickOf = (process, day) => newestTick(process, midnightOf(addDays(day, 1)));

/** Made up, always the same, with a rough patch in the middle. */
function pastRun(process, tick, days) {
  const wave = Math.round(40 * Math.sin(days / 3) + ((days * 37) % 29));
  const [collected, sent] = process === 'scheduled' ? [310 + wave, 120 + (wave >> 1)] : [18 + (days % 7), 9];
  const declined = (process === 'scheduled' ? 34 : 52) + (days > 24 && days < 29 ? 90 : 0) + (days % 5);
  const tally = (count, reasons) => ({ count, amount: count * 499, reasons });
  const byVerdict = {
    collected: tally(collected, { PINLESS: collected }),
    sent: tally(sent, { ACH: sent }),
    declined: tally(declined, { 'insufficient-funds': declined }),
    cancelled: tally(6 + (days % 4), { 'pending-cancellation': 6 + (days % 4) }),
  };
  const records = Object.values(byVerdict).reduce((sum, { count }) => sum + count, 0);
  return {
    runId: runId(process, tick),
    process,
    tick,
    status: 'complete',
    pass: 2,
    page: 0,
    cursor: null,
    due: records,
    enqueuedInPass: 0,
    enqueued: records,
    notOwned: 0,
    startedAt: tick,
    progressAt: tick,
    finishedAt: tick,
    report: { records, amount: records * 499, byVerdict, byPlan: {} },
    forecast: null,
  };
}

/** What came back of the debits that were sent: all below the limits, closed accounts not by much. */
function pastReturns(debits, days) {
  const [unauthorized, administrative] = [days % 5 === 0 ? 1 : 0, Math.round(debits * 0.027)];
  const overall = unauthorized + administrative + Math.round(debits * 0.055);
  return { debits, returns: { unauthorized, administrative, overall } };
}

function addFreeze(stores, now) {
  return stores.freezes.freeze({
    target: { scope: 'user', userId: 'demo-000017' },
    reason: 'asked for a break until payday',
    who: 'jane',
    at: wholeSecond(now),
    until: plusDays(wholeSecond(now), 3),
  });
}

/** As a user service would that has begun to send numbers as words. */
async function addUnreadableEvent({ dynamodb, kinesis }, stores, now) {
  const event = {
    id: '1c2f6a0e-5b0d-4a3e-9a55-0d6f3b7e4c11',
    type: 'SUB_PAUSED',
    source: 'UserService',
    time: formatInstant(now),
    data: { user_id: 'demo-000042', status: 'ACTIVE', pause_duration_months: 'three' },
  };
  const client = createKinesisClient({
    region: dynamodb.DYNAMO_REGION,
    endpoint: kinesis.AWS_ENDPOINT_URL_KINESIS,
  });
  const record = { PartitionKey: event.data.user_id, Data: Buffer.from(JSON.stringify(event)) };
  await client.send(new PutRecordCommand({ StreamName: kinesis.USERS_STREAM, ...record }));
  client.destroy();
  await eventually('it is in quarantine', async () => (await stores.quarantine.size()) > 0);
}

/** The oldest first: of nobody we know, a trial that was paid for, a card that failed for a while, and what is sold twice. */
const GATEWAY_EVENTS = [
  ['subscription_payment_failed', { ref: '20377' }],
  ['subscription_created', { ref: '20411', userId: TWICE_SOLD, status: 'on_trial' }],
  ['subscription_updated', { ref: '20411', userId: TWICE_SOLD, status: 'active' }],
  ['subscription_created', { ref: '20415', userId: 'demo-000031', status: 'active' }],
  ['subscription_payment_failed', { ref: '20415', userId: 'demo-000031' }],
  ['subscription_payment_recovered', { ref: '20415', userId: 'demo-000031' }],
  ['subscription_created', { ref: '20502', userId: TWICE_SOLD, status: 'active' }],
];

/** Each is applied before the next comes. */
async function addGatewayEvents(apiUrl, stores, now) {
  for (const [index, [name, about]] of GATEWAY_EVENTS.entries()) {
    const at = plusMs(now, (index - GATEWAY_EVENTS.length) * 60_000);
    const eventId = await deliver(apiUrl, gatewayBody(name, about, { at, renewsAt: plusDays(now, 30) }));
    await eventually(
      `${name} is applied`,
      async () => (await stores.gatewayEvents.get(eventId))?.outcome != null,
    );
  }
}

async function deliver(apiUrl, body) {
  const response = await fetch(`${apiUrl}/webhooks/lemonsqueezy`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-signature': createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex'),
    },
    body,
  });
  if (!response.ok) throw new Error(`a webhook was answered ${response.status}`);
  return (await response.json()).event_id;
}

/** An invoice where it is about a payment, the whole subscription where not. */
function gatewayBody(name, { ref, userId, status }, { at, renewsAt }) {
  const attributes = { created_at: formatInstant(at), updated_at: formatInstant(at) };
  const data =
    status === undefined
      ? {
          type: 'subscription-invoices',
          id: '900',
          attributes: { ...attributes, subscription_id: Number(ref) },
        }
      : {
          type: 'subscriptions',
          id: ref,
          attributes: { ...attributes, status, product_id: 5, renews_at: formatInstant(renewsAt) },
        };
  const custom = { app_id: 'reader', user_id: userId, sku: 'pro' };
  return JSON.stringify({ meta: { event_name: name, custom_data: custom }, data });
}

/** A refund that the processor refused, and a debit that came back when its period was written off already. */
async function addMoneyToDecide({ dynamodb }, { pipeline }, now) {
  const client = createDynamoClient({
    region: dynamodb.DYNAMO_REGION,
    endpoint: dynamodb.AWS_ENDPOINT_URL_DYNAMODB,
  });
  const money = (number, code, daysAgo) => ({
    userId: `demo-0000${number}`,
    subscriptionId: randomUUID(),
    confirmationId: randomUUID(),
    code,
    amount: 499,
    at: plusDays(wholeSecond(now), -daysAgo),
  });
  const notes = [
    pipeline.refusedRefunds.note(money(44, 'card-expired', 2)),
    pipeline.staleReturns.note(money(61, 'R10', 5)),
    pipeline.staleReturns.note(money(78, 'R01', 1)),
  ];
  for (const { item } of notes) await client.send(new PutItemCommand(item.Put));
  client.destroy();
}

const UNANSWERED = 3;

/**
 * The processor is down while some members pay by hand: nobody knows what became of it. Then it is back, and answers the
 * next: so the breaker closes.
 */
async function addUnanswered(bank, api) {
  const rules = [{ id: 'down', service: 'payments', fault: 'error-before' }];
  await send('PUT', `${bank}/sandbox/faults`, { rules });
  let number = 1;
  for (let unanswered = 0; unanswered < UNANSWERED; number += 1)
    if ((await paidBy(api, number)) === 'unknown') unanswered += 1;
  await send('DELETE', `${bank}/sandbox/faults`);
  while ((await paidBy(api, number)) !== 'collected') number += 1;
}

/** What came of it. Some have nothing to pay, or no card: those are refused. */
async function paidBy({ url, token }, number) {
  const userId = `demo-${String(number).padStart(6, '0')}`;
  const headers = { authorization: `Bearer ${token}` };
  const records = `${url}/v1/${userId}/subscriptions`;
  const { subscriptions } = await (await fetch(records, { headers })).json();
  const due = subscriptions.find(({ billing_status: status }) => status === 'SCHEDULED');
  if (due === undefined) return null;
  const pay = `${records}/${due.subscription_id}/pay?wait=20`;
  const { outcome } = await (await fetch(pay, { method: 'POST', headers })).json();
  return outcome ?? null;
}

async function send(method, url, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${url} was answered ${response.status}`);
}
