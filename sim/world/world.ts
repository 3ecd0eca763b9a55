import {
  ConditionalCheckFailedException,
  InternalServerError,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient, TransactWriteItemsInput } from '@aws-sdk/client-dynamodb';
import { ensureTable, tableDefinitions } from '../../src/adapters/dynamodb/tables.ts';
import type { TableNames } from '../../src/adapters/dynamodb/tables.ts';
import { ServiceDownError, StreamThrottledError } from '../../src/errors.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Dials } from '../dials.ts';
import { calm, dialsOf } from '../dials.ts';
import { MemoryDynamo } from '../dynamodb/memory-dynamo.ts';
import type { ItemChange } from '../dynamodb/memory-dynamo.ts';
import { clientOver } from '../dynamodb/client-over.ts';
import type { Random } from '../random.ts';
import { randomOf } from '../random.ts';
import { Broker } from './broker.ts';
import type { Fate, Link, WorstMoment } from './network.ts';
import { Network } from './network.ts';
import { SimBank } from './sim-bank.ts';
import type { BankHooks } from './sim-bank.ts';
import { SimMembers } from './sim-members.ts';
import type { SimProcess } from './sim-process.ts';
import type { BrokerWire } from './sim-queues.ts';
import { SimStream } from './sim-stream.ts';
import { Timeline } from './timeline.ts';
import { Trace } from './trace.ts';

export const TABLES: TableNames = {
  billing: 'billing-activity',
  history: 'billing-activity-history',
  locks: 'locks',
  pipeline: 'collections-pipeline',
  floats: 'local-float-service',
  collectionHistory: 'collection-history',
  bypass: 'requirements-bypass',
  recurring: 'recurring-payments',
  gateways: 'gateway-subscriptions',
};

/** What is done to the store in one request: everything that it changed, in one moment. */
export interface StoreOperation {
  readonly operation: string;
  readonly input: object;
  readonly process: SimProcess;
  /** When its sender sent it first: it may have been repeated since, or late. */
  readonly sentMs: number;
  readonly changes: readonly ItemChange[];
}

export interface WorldHooks extends Pick<BankHooks, 'onLedger' | 'onKeyReused' | 'onRefundedAgain'> {
  readonly onStoreOperation: (operation: StoreOperation) => void;
  readonly onPublished: (
    stream: 'users' | 'payments',
    event: {
      readonly id: string;
      readonly type: string;
      readonly userId: string;
      readonly isMalformed: boolean;
    },
  ) => void;
}

export const STALL_MS = 20_000;

/** Everything that the pipeline meets: time, network, store, broker, streams, bank, members. One per seed. */
export class World {
  readonly seed: number;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly dynamo: MemoryDynamo;
  readonly broker: Broker;
  readonly members = new SimMembers();
  readonly bank: SimBank;
  readonly streams: { readonly users: SimStream; readonly payments: SimStream };
  dials: Dials;
  /** Faults that were injected, by kind. */
  readonly faults = new Map<string, number>();
  private readonly network: Network;
  private readonly hooks: WorldHooks;
  private changes: ItemChange[] = [];
  private storeBrownoutUntilMs = 0;
  private bankBrownoutUntilMs = 0;
  private readonly sentByToken = new Map<string, number>();
  /** By lock: requests that wait until another process takes it. */
  private readonly onTakeover = new Map<string, (() => void)[]>();
  private ids = 0;
  private readonly ambush: {
    writing?: (process: SimProcess) => void;
    charging?: (process: SimProcess) => void;
  } = {};

  constructor(seed: number, startMs: number, hooks: WorldHooks) {
    this.seed = seed;
    this.hooks = hooks;
    this.timeline = new Timeline(startMs);
    this.trace = new Trace(() => this.timeline.nowMs);
    this.dials = dialsOf(this.random('dials'));
    this.network = new Network(this.timeline, this.random('network'), (process, link, fate) =>
      this.noteFate(process, link, fate),
    );
    this.dynamo = new MemoryDynamo({ nowMs: () => this.timeline.nowMs });
    this.dynamo.onChange((change) => {
      this.changes.push(change);
      this.noteTakeover(change);
    });
    this.broker = new Broker(this.timeline, this.random('broker'), {
      stallMs: STALL_MS,
      trace: (what) => this.trace.write('redis', what),
      onStalled: () => this.noteFault('job-stalled'),
    });
    const stream = (name: string): SimStream =>
      new SimStream(name, this.timeline, this.random(`${name}-stream`), () =>
        this.noteFault('stream-read-again'),
      );
    this.streams = { users: stream('users'), payments: stream('payments') };
    this.bank = new SimBank(this.timeline, this.random('bank'), {
      dial: () => this.dials.bank,
      members: this.members,
      hooks: {
        ...hooks,
        publish: (userId, event) => this.publish('payments', userId, event),
        onTrouble: (kind) => this.noteFault(`bank-${kind}`),
      },
    });
  }

  random(part: string): Random {
    return randomOf(this.seed, part);
  }

  /** Never repeats; the same in each run of the seed. In the shape that production ids have. */
  newId(): string {
    this.ids += 1;
    return `00000000-0000-4000-8000-${this.ids.toString(16).padStart(12, '0')}`;
  }

  async makeTables(): Promise<void> {
    for (const definition of tableDefinitions(TABLES))
      await ensureTable(this.directClient(), definition, { addIndex: false });
  }

  /** For making up the past and for looking: no network in between. */
  directClient(): DynamoDBClient {
    return clientOver((operation, input) => {
      const answer = this.dynamo.execute(operation, input);
      this.changes = [];
      return Promise.resolve(answer);
    });
  }

  client(process: SimProcess): DynamoDBClient {
    const link = this.storeLink();
    const random = this.random(`store of ${process.name}`);
    return clientOver((operation, input) => {
      if (operation === 'TransactWriteItems') this.fallInto('writing', process);
      if (operation === 'TransactWriteItems' && random.chance(this.storeDial().conflict)) {
        this.noteFault('store-conflict');
        return this.network.call(process, link, () => {
          throw conflict(input);
        });
      }
      const apply = this.noticingTwin({ process, operation, input, sentMs: this.firstSentMs(input) });
      return this.network.call(process, link, apply, this.worstMomentOf(input));
    });
  }

  /** Counts when a request meets what it has written itself, and its sender hears that its condition does not hold. */
  private noticingTwin(request: Omit<StoreOperation, 'changes'>): () => object {
    let isDone = false;
    return () => {
      try {
        const answer = this.execute(request);
        isDone = true;
        return answer;
      } catch (error) {
        if (isDone && error instanceof ConditionalCheckFailedException) this.noteFault('store-refused-twin');
        throw error;
      }
    };
  }

  /** Of what is written under a lock: when another process has taken it, and has not written anything yet. */
  private worstMomentOf({ TransactItems: parts = [] }: Partial<TransactWriteItemsInput>): WorstMoment | null {
    const key = parts.find(({ ConditionCheck: check }) => check?.TableName === TABLES.locks)?.ConditionCheck
      ?.Key?.['PartitionKey']?.S;
    if (key === undefined) return null;
    return (callback) => {
      this.onTakeover.set(key, [...(this.onTakeover.get(key) ?? []), callback]);
    };
  }

  private noteTakeover({ table, before, after }: ItemChange): void {
    if (table !== TABLES.locks || after === null || after['isReleased'] !== undefined) return;
    if (after['ownerName']?.S === before?.['ownerName']?.S) return;
    const key = after['PartitionKey']?.S ?? '';
    const waiting = this.onTakeover.get(key) ?? [];
    this.onTakeover.delete(key);
    for (const callback of waiting) callback();
  }

  private firstSentMs({ ClientRequestToken: token }: { readonly ClientRequestToken?: string }): number {
    const { nowMs } = this.timeline;
    if (token === undefined) return nowMs;
    const firstMs = this.sentByToken.get(token) ?? nowMs;
    this.sentByToken.set(token, firstMs);
    return firstMs;
  }

  wire(process: SimProcess, whenDown: 'wait' | 'fail'): BrokerWire {
    const { broker, timeline } = this;
    return {
      process,
      broker,
      nowMs: () => timeline.nowMs,
      send: (command) => {
        if (broker.isDown && whenDown === 'fail')
          return new Promise((_, reject) => {
            process.deliver(2, () => reject(new Error('redis: the connection is reconnecting')));
          });
        return this.network.call(
          process,
          { ...REDIS, latencyMs: [broker.downForMs, broker.downForMs + 1] },
          command,
        );
      },
    };
  }

  /** To the processor: what becomes of a charge without an answer is the whole point. */
  callBank<T>(process: SimProcess, patienceMs: number, apply: () => T): Promise<T> {
    this.fallInto('charging', process);
    const dial = () => (this.timeline.nowMs < this.bankBrownoutUntilMs ? BANK_BROWNOUT : this.dials.bankLink);
    return this.network.call(process, { ...BANK, patienceMs, dial }, apply);
  }

  callService<T>(process: SimProcess, apply: () => T): Promise<T> {
    return this.network.call(process, { ...SERVICE, dial: () => this.dials.services }, apply);
  }

  callStream<T>(process: SimProcess, apply: () => T): Promise<T> {
    return this.network.call(process, { ...STREAM, dial: () => this.dials.streams }, apply);
  }

  publish(stream: 'users' | 'payments', userId: string, event: object, isMalformed = false): void {
    const { id, type } = event as { readonly id: string; readonly type: string };
    this.hooks.onPublished(stream, { id, type, userId, isMalformed });
    this.trace.write('world', `published ${stream} ${userId} ${type}`);
    this.streams[stream].put(userId, event);
    if (!this.random(`twice ${this.timeline.steps}`).chance(this.dials.publishedTwice)) return;
    this.noteFault('published-twice');
    this.streams[stream].put(userId, event);
  }

  /** The weather turns fine: what members and banks do goes on, and nothing breaks any more. */
  becomeCalm(): void {
    this.dials = calm(this.dials);
    delete this.ambush.writing;
    delete this.ambush.charging;
  }

  /** The next process to do this dies at it. */
  killNext(what: 'writing' | 'charging', kill: (process: SimProcess) => void): void {
    this.ambush[what] = kill;
  }

  private fallInto(what: 'writing' | 'charging', process: SimProcess): void {
    const kill = this.ambush[what];
    if (kill === undefined) return;
    delete this.ambush[what];
    // While the request is on its way, or its answer.
    this.timeline.after(this.random(`ambush ${this.timeline.steps}`).next() * AMBUSH_MS[what], () =>
      kill(process),
    );
  }

  noteFault(kind: string): void {
    this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
  }

  brownOut(what: 'store' | 'bank', forMs: number): void {
    const untilMs = this.timeline.nowMs + forMs;
    if (what === 'store') this.storeBrownoutUntilMs = untilMs;
    else this.bankBrownoutUntilMs = untilMs;
  }

  /** What production code logs goes into the trace. */
  log(process: SimProcess, fields: object = {}): Log {
    const line = (level: string) => (more: object, message: string) =>
      this.trace.write(process.name, `${level} ${message} ${fieldsText({ ...fields, ...more })}`);
    return {
      debug: () => undefined,
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
      child: (more) => this.log(process, { ...fields, ...more }),
    };
  }

  private execute(request: Omit<StoreOperation, 'changes'>): object {
    const { process, operation, input } = request;
    this.changes = [];
    try {
      const answer = this.dynamo.execute(operation, input);
      if (this.changes.length > 0) {
        this.trace.write(process.name, `${operation} ${changesText(this.changes)}`);
        this.hooks.onStoreOperation({ ...request, changes: this.changes });
      }
      return answer;
    } catch (error) {
      this.trace.write(process.name, `${operation} refused: ${(error as Error).name}`);
      throw error;
    } finally {
      this.changes = [];
    }
  }

  private storeDial(): Dials['store'] {
    return this.timeline.nowMs < this.storeBrownoutUntilMs ? STORE_BROWNOUT : this.dials.store;
  }

  private storeLink(): Link {
    return { ...STORE, dial: () => this.storeDial() };
  }

  private noteFate(process: SimProcess, link: string, fate: Fate): void {
    this.noteFault(`${link}-${fate}`);
    this.trace.write(process.name, `fault ${link} ${fate}`);
  }
}

const AMBUSH_MS = { writing: 12, charging: 1_500 } as const;

const STORE_BROWNOUT: Dials['store'] = {
  refused: 0.3,
  lost: 0.05,
  'answer-lost': 0.05,
  late: 0.02,
  'sent-twice': 0.03,
  conflict: 0.1,
};
const BANK_BROWNOUT = { refused: 0.1, lost: 0.3, 'answer-lost': 0.3, late: 0.1 };

const timedOut = (): Error => Object.assign(new Error('no answer in time'), { name: 'TimeoutError' });

const STORE: Omit<Link, 'dial'> = {
  name: 'store',
  latencyMs: [1, 6],
  patienceMs: 1_500,
  latestMs: 100_000,
  onRefused: () =>
    new ProvisionedThroughputExceededException({
      message: 'the simulated store is busy',
      $metadata: { httpStatusCode: 400 },
    }),
  onSilence: timedOut,
};

const REDIS: Link = {
  name: 'redis',
  latencyMs: [0, 1],
  patienceMs: 1_000,
  latestMs: 0,
  dial: () => ({}),
  onRefused: () => new Error('redis refused'),
  onSilence: timedOut,
};

const BANK: Omit<Link, 'dial' | 'patienceMs'> = {
  name: 'bank',
  latencyMs: [40, 900],
  // Just within what the house believes of a processor: after a day nothing is on its way any more.
  latestMs: 20 * 3_600_000,
  onRefused: () => new BankBusy('429'),
  onSilence: timedOut,
};

const SERVICE: Omit<Link, 'dial'> = {
  name: 'service',
  latencyMs: [5, 60],
  patienceMs: 2_000,
  latestMs: 5_000,
  onRefused: () => new ServiceDownError('the simulated service answers 503'),
  onSilence: () => new ServiceDownError('the simulated service does not answer'),
};

const STREAM: Omit<Link, 'dial'> = {
  name: 'stream',
  latencyMs: [3, 30],
  patienceMs: 2_000,
  latestMs: 5_000,
  onRefused: () => new StreamThrottledError('the simulated stream is read too often'),
  onSilence: () => new InternalServerError({ message: 'no answer', $metadata: { httpStatusCode: 500 } }),
};

/** The bank takes no charge now. */
export class BankBusy extends Error {}

function conflict(input: object): Error {
  const { TransactItems } = input as { readonly TransactItems: readonly unknown[] };
  return new TransactionCanceledException({
    message: 'another transaction is under way',
    CancellationReasons: TransactItems.map((_, i) => ({ Code: i === 0 ? 'TransactionConflict' : 'None' })),
    $metadata: { httpStatusCode: 400 },
  });
}

const changesText = (changes: readonly ItemChange[]): string =>
  changes
    .map(
      ({ table, before, after }) =>
        `${table} ${itemText(after ?? before ?? {})}${after === null ? ' gone' : ''}`,
    )
    .join(' | ');

const SHOWN = [
  'user_id',
  'billing_date',
  'billing_status',
  'last_run_date',
  'pk',
  'sk',
  'PartitionKey',
  'ownerName',
  'isReleased',
  'data_cause',
];

function itemText(item: object): string {
  const attributes = item as Record<string, { readonly S?: string }>;
  return SHOWN.flatMap((name) => attributes[name]?.S ?? []).join(' ');
}

const fieldsText = (fields: object): string =>
  Object.entries(fields)
    .map(
      ([name, value]) =>
        `${name}=${value instanceof Error ? `${value.name}: ${value.message}` : JSON.stringify(value)}`,
    )
    .join(' ');
