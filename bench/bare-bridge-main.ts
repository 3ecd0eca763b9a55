import type { WriteRequest } from '@aws-sdk/client-dynamodb';
import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { GetRecordsCommandOutput, _Record as StreamRecord } from '@aws-sdk/client-kinesis';
import { GetRecordsCommand, GetShardIteratorCommand, KinesisClient } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { connectRedis } from '../queues/connection.ts';
import type { EventJob } from '../queues/jobs.ts';
import { QUEUE_OF_STREAM, eventJobId } from '../queues/jobs.ts';
import { QueueSet } from '../queues/queue-set.ts';
import { inboxItems } from '../src/adapters/dynamodb/inbox-items.ts';
import type { UserId } from '../src/domain/subscription.ts';
import type { InboxEvent } from '../src/ports/inbox.ts';
import { NOW } from './ground.ts';
import { inParts, someAtOnce } from './site.ts';

/*
 * A bare loop from a stream to a queue: GetRecords and addBulk, as large as the bridge's, shard beside shard. No leases, no
 * checkpoints, no checks, no pauses; the SDK as it comes. It can store each event before that, as one item, and forgets
 * about members who must not be charged meanwhile.
 */

export interface BareWork {
  /** How many to take from each shard. */
  readonly events: Readonly<Record<string, number>>;
  readonly stores: boolean;
}

export interface BareDone {
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

/** As the bridge does it. */
const RECORDS_AT_ONCE = 1_000;
const ITEMS_AT_ONCE = 25;
const REQUESTS_AT_ONCE = 4;

const { USERS_STREAM, PIPELINE_TABLE = '', REDIS_URL = '' } = process.env;
const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
const kinesis = new KinesisClient({
  ...local,
  endpoint: process.env['AWS_ENDPOINT_URL_KINESIS'] ?? '',
  // The emulator speaks HTTP/1 only.
  requestHandler: new NodeHttpHandler(),
});
const dynamodb = new DynamoDBClient({ ...local, endpoint: process.env['AWS_ENDPOINT_URL_DYNAMODB'] ?? '' });
const redis = connectRedis({ url: REDIS_URL, whenDown: 'wait', onError: () => undefined });
const queue = new QueueSet(redis).get(QUEUE_OF_STREAM.users);

/** The last event taken, by kind of loop and shard. */
const places = new Map<string, string>();

async function iteratorAfter(shardId: string, sequence: string | undefined): Promise<string> {
  const { ShardIterator = '' } = await kinesis.send(
    new GetShardIteratorCommand({
      StreamName: USERS_STREAM,
      ShardId: shardId,
      ...(sequence === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', StartingSequenceNumber: sequence }),
    }),
  );
  return ShardIterator;
}

const eventOf =
  (shardId: string) =>
  ({ SequenceNumber: sequence = '', Data = new Uint8Array() }: StreamRecord): InboxEvent => {
    const { id, type, data } = JSON.parse(Buffer.from(Data).toString()) as {
      id: string;
      type: string;
      data: { user_id: UserId };
    };
    const position = { stream: 'users', shardId, sequence } as const;
    return { ...position, userId: data.user_id, identity: id, type, data, receivedAt: NOW };
  };

const jobOf = ({ stream, shardId, sequence, userId, type }: InboxEvent) => {
  const data: EventJob = { stream, shardId, sequence, userId, type };
  return { name: type, data, opts: { jobId: eventJobId(data) } };
};

async function store(events: readonly InboxEvent[]): Promise<void> {
  const puts = events.map((event): WriteRequest => ({ PutRequest: { Item: inboxItems.event.write(event) } }));
  await someAtOnce(inParts(puts, ITEMS_AT_ONCE), REQUESTS_AT_ONCE, async (part) => {
    await dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [PIPELINE_TABLE]: part } }));
  });
}

async function takeShard(shardId: string, iterator: string, { events, stores }: BareWork): Promise<void> {
  let left = events[shardId] ?? 0;
  let next: string | undefined = iterator;
  while (left > 0) {
    const answer: GetRecordsCommandOutput = await kinesis.send(
      new GetRecordsCommand({ ShardIterator: next, Limit: RECORDS_AT_ONCE }),
    );
    const taken = (answer.Records ?? []).map(eventOf(shardId));
    if (stores) await store(taken);
    await queue.addBulk(taken.map(jobOf));
    left -= taken.length;
    next = answer.NextShardIterator;
    const last = taken.at(-1);
    if (last !== undefined) places.set(`${stores}/${shardId}`, last.sequence);
  }
}

async function work(wanted: BareWork): Promise<BareDone> {
  const shards = await Promise.all(
    Object.keys(wanted.events).map(async (shardId) => {
      const iterator = await iteratorAfter(shardId, places.get(`${wanted.stores}/${shardId}`));
      return { shardId, iterator };
    }),
  );
  const cpu = process.cpuUsage();
  const beganMs = performance.now();
  await Promise.all(shards.map(({ shardId, iterator }) => takeShard(shardId, iterator, wanted)));
  const elapsedMs = performance.now() - beganMs;
  const { user, system } = process.cpuUsage(cpu);
  return { elapsedMs, cpuMs: (user + system) / 1_000 };
}

process.on('message', (message: BareWork | { readonly attend: string }) => {
  if ('attend' in message) return;
  work(message).then(
    (done) => process.send?.(done),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.once('SIGTERM', () => process.exit(0));
process.send?.('up');
