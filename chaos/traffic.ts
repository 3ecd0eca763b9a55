import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutRecordCommand } from '@aws-sdk/client-kinesis';
import { z } from 'zod';
import type { DemoMember } from '../src/demo/population.ts';
import { dateInZone } from '../src/domain/calendar-date.ts';
import type { RunProcess } from '../src/domain/runs.ts';
import type { ApiDesk, Asked } from './api-desk.ts';
import type { Book } from './book.ts';
import type { Chance } from './chance.ts';
import type { Ground } from './ground.ts';

const PAYMENT_EVERY_MS = 500;
const EVENT_EVERY_MS = 900;
const SIGNAL_EVERY_MS = 3_000;
const PUT_AGAIN_MS = 200;
/** Those who joined last have something to pay; most others have paid. */
const NEWCOMERS = 60;

const UNREADABLE = { pause_duration_months: 'some' };

/** Most events are of the ordinary kind; the last cannot be read and belongs in quarantine. */
const EVENTS: readonly (readonly [type: string, data: object])[] = [
  ['SUB_PAUSED', { pause_duration_months: 1 }],
  ['SUB_PAUSED', { pause_duration_months: 2 }],
  ['UNPAUSE', {}],
  ['UNPAUSE', {}],
  ['UNPAUSE_CHARGE', {}],
  ['CANCEL', {}],
  ['RETRACT', {}],
  ['RETRACT', {}],
  ['PAYNOW', {}],
  ['REACTIVATE', {}],
  ['CLOSEACCOUNT', {}],
  ['SUB_PAUSED', UNREADABLE],
];

/** Those that an operator would start by hand: what is due now, once more. */
const RUNS: readonly RunProcess[] = ['scheduled', 'retry', 'pause', 'float-today', 'recurring-payments'];

/** What routes answer that promise something. */
const promise = z.object({ status_url: z.string() });
const signalTaken = z.object({ requests: z.array(promise).optional() });
const runTaken = z.object({ run_id: z.string() });

/** Asked for at a time when it may not be had: a run charges the record, it is paid, and the like. */
const REFUSED = 409;

/** Members and neighbours who know nothing of the storm. They write down what they were promised. */
export class Traffic {
  private readonly ground: Ground;
  private readonly desk: ApiDesk;
  private readonly book: Book;
  private readonly chance: Chance;
  private readonly members: DemoMember[] = [];
  private readonly ending = new AbortController();
  private readonly flows: Promise<void>[] = [];
  private readonly asked = new Set<Promise<void>>();
  private readonly troubles: unknown[] = [];

  constructor(ground: Ground, { desk, book, chance }: { desk: ApiDesk; book: Book; chance: Chance }) {
    this.ground = ground;
    this.desk = desk;
    this.book = book;
    this.chance = chance;
  }

  join(members: readonly DemoMember[]): void {
    this.members.push(...members);
    for (const { billingStatus, subscriptionId } of members.flatMap(({ records }) => records))
      if (billingStatus === 'COMPLETED') this.book.paidBefore.add(subscriptionId);
  }

  begin(): void {
    this.flow(PAYMENT_EVERY_MS, () => this.pay());
    this.flow(EVENT_EVERY_MS, () => this.tell());
    this.flow(SIGNAL_EVERY_MS, () => this.signal());
  }

  /** No caller asks for anything new. Settles when every caller has an answer to what they asked for. */
  async end(): Promise<void> {
    this.ending.abort();
    await Promise.all(this.flows);
    await Promise.all(this.asked);
    if (this.troubles.length > 0) throw this.troubles[0];
  }

  /** No caller waits for the answer of another before they ask. */
  private flow(everyMs: number, ask: () => Promise<void>): void {
    const { signal } = this.ending;
    const flowing = async (): Promise<void> => {
      while (!signal.aborted) {
        const asking = ask()
          .catch((error: unknown) => void this.troubles.push(error))
          .finally(() => this.asked.delete(asking));
        this.asked.add(asking);
        await sleep(everyMs, undefined, { signal }).catch(() => undefined);
      }
    };
    this.flows.push(flowing());
  }

  /** Some are impatient and ask twice at once, under different keys. */
  private async pay(): Promise<void> {
    const path = this.chance.oneOf(payable(this.chance.oneOf(this.members.slice(-NEWCOMERS))));
    const times = this.chance.below(3) === 0 ? 2 : 1;
    const orders = Array.from({ length: times }, async () => {
      const body = await this.order({ method: 'POST', path, key: randomUUID() });
      if (body !== null) this.book.promise({ what: 'payment', statusUrl: promise.parse(body).status_url });
    });
    await Promise.all(orders);
  }

  private async signal(): Promise<void> {
    const { bankUser } = this.chance.oneOf(this.members);
    const { now } = await this.ground.bank.time();
    const data = { user_id: bankUser.user_id, amount: '180.00', date: dateInZone(now, 'America/Chicago') };
    const body = await this.order({
      method: 'POST',
      path: '/events/income',
      body: { id: randomUUID(), source: 'chaos', type: 'income_txn', data },
    });
    for (const { status_url: statusUrl } of signalTaken.parse(body ?? {}).requests ?? [])
      this.book.promise({ what: 'signal', statusUrl });
  }

  /** An operator starts a run by hand. Settles when it is promised. */
  async run(): Promise<void> {
    const process = this.chance.oneOf(RUNS);
    const body = await this.order({ method: 'POST', path: '/ops/runs', body: { process } });
    if (body !== null)
      this.book.promise({ what: 'run', statusUrl: `/ops/runs/${runTaken.parse(body).run_id}` });
  }

  /** What was promised; null when it was refused. */
  private async order(asked: Asked): Promise<unknown> {
    const { status, body } = await this.desk.ask(asked);
    if (status >= 200 && status < 300) return body;
    if (status !== REFUSED) throw new Error(`${asked.method} ${asked.path} was answered ${status}`);
    this.book.refused += 1;
    return null;
  }

  /** Some events come twice, as streams deliver them. */
  private async tell(): Promise<void> {
    const userId = this.chance.oneOf(this.members).bankUser.user_id;
    const [type, more] = this.chance.oneOf(EVENTS);
    const times = this.chance.below(5) === 0 ? 2 : 1;
    const { now } = await this.ground.bank.time();
    const data = { user_id: userId, tier: 'Base', term: 'MONTHLY', status: 'ACTIVE', ...more };
    const event = { id: randomUUID(), type, source: 'UserService', time: dateInZone(now, 'UTC'), data };
    for (let n = 0; n < times; n += 1) await this.put(userId, event);
    this.book.put({ stream: 'users', identity: event.id, userId, type, isGood: more !== UNREADABLE });
  }

  /** Until the stream has taken it. Perhaps it took it before as well: that is what its id is for. */
  private async put(userId: string, event: object): Promise<void> {
    const { kinesis, usersStream } = this.ground;
    const record = {
      StreamName: usersStream,
      PartitionKey: userId,
      Data: Buffer.from(JSON.stringify(event)),
    };
    for (;;) {
      const taken = await kinesis.send(new PutRecordCommand(record)).catch(() => null);
      if (taken !== null) return;
      await sleep(PUT_AGAIN_MS);
    }
  }
}

/** Where a member can ask to be charged: for what is due or comes next, and for a float. */
const payable = ({ records, floats }: DemoMember): string[] => [
  ...records
    .slice(1)
    .map(({ userId, subscriptionId }) => `/v1/${userId}/subscriptions/${subscriptionId}/pay`),
  ...floats.map(({ float: { userId, floatId } }) => `/v1/${userId}/floats/${floatId}/payback`),
];
