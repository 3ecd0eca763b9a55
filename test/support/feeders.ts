import type { KinesisClient, PutRecordsCommandInput, PutRecordsCommandOutput } from '@aws-sdk/client-kinesis';
import { createKinesisClient } from '../../src/adapters/kinesis/client.ts';
import { KinesisSource } from '../../src/adapters/kinesis/kinesis-source.ts';
import { NO_LOG, createLogger } from '../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../src/adapters/metrics/prometheus.ts';
import { readConfig } from '../../src/config/read-config.ts';
import * as sections from '../../src/config/sections.ts';
import type { ChangeEvent } from '../../src/domain/change-event.ts';
import type { Checkpoints } from '../../src/ports/checkpoints.ts';
import { openStores } from '../../src/wiring/stores.ts';
import { feederStream, openFeeder } from '../../workers/bridges/feeder.ts';
import type { BillingStore } from './billing-store.ts';
import { billingStore } from './billing-store.ts';
import { LEASE_MS, SHORT_TIMES } from './bridges.ts';
import { eventStream } from './event-stream.ts';
import { at } from './records.ts';
import { sharedStack } from './stack.ts';

/** What becomes of a request: of each record whether it is stored, and whether the caller hears of it. */
export type Mishap = (texts: readonly string[]) => {
  readonly refused: readonly boolean[];
  readonly loseAnswer?: boolean;
};

export interface RunningFeeder {
  stop(): Promise<void>;
}

/** A billing table, a stream of ours, and feeders between the two. */
export interface FeederBench {
  readonly store: BillingStore;
  readonly checkpoints: Checkpoints;
  readonly environment: Record<string, string>;
  /** A feeder as a process of its own would be: its own connections, lock client and name. */
  feeder(mishap?: Mishap, environment?: Record<string, string>): Promise<RunningFeeder>;
  /** What was published so far, shard by shard. */
  published(): Promise<ChangeEvent[]>;
  close(): Promise<void>;
}

const region = 'us-east-1';

export async function feederBench(shards: number): Promise<FeederBench> {
  const [stream, store] = await Promise.all([eventStream(shards), billingStore()]);
  const { dynamodbUrl, kinesisUrl, redisUrl } = sharedStack();
  const environment = {
    REDIS_URL: redisUrl,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl,
    AWS_ENDPOINT_URL_KINESIS: kinesisUrl,
    BILLING_TABLE: store.tables.billing,
    HISTORY_TABLE: store.tables.history,
    LOCKS_TABLE: store.tables.locks,
    PIPELINE_TABLE: store.tables.pipeline,
    SUBSCRIPTIONS_STREAM: stream.name,
    LOCK_LEASE_MS: String(LEASE_MS),
    LOCK_HEARTBEAT_MS: '200',
  };
  const running: RunningFeeder[] = [];
  const open = (more: Record<string, string>) => {
    const { dynamodb, kinesis, ownership, lock, janitor } = sections;
    const config = readConfig({ ...environment, ...more }, { dynamodb, kinesis, ownership, lock, janitor });
    return { config, stores: openStores(config, { now: () => at('2026-11-16T08:00:00Z') }, NO_LOG) };
  };
  const onlooker = open({});
  return {
    store,
    checkpoints: onlooker.stores.checkpoints,
    environment,
    async feeder(mishap, more = {}) {
      const { config, stores } = open(more);
      const kinesis = createKinesisClient({ region, endpoint: kinesisUrl });
      if (mishap !== undefined) injectMishaps(kinesis, mishap);
      const feeder = await openFeeder(config, {
        ...stores,
        locks: stores.locks,
        kinesis,
        times: SHORT_TIMES,
        log: createLogger({ role: 'test', level: 'silent' }),
        metrics: createMetrics(),
      });
      let stopped: Promise<void> | null = null;
      const stop = async (): Promise<void> => {
        await feeder.bridge.stop();
        feeder.close();
        await stores.close();
        kinesis.destroy();
      };
      const one = { stop: () => (stopped ??= stop()) };
      running.push(one);
      return one;
    },
    async published() {
      const source = new KinesisSource({ client: stream.client, stream: stream.name });
      const events: ChangeEvent[] = [];
      for (const { shardId } of await source.listShards()) {
        let handle = await source.read(shardId, 'start');
        for (;;) {
          const { records, next } = await source.next(handle);
          events.push(...records.map(({ data }) => JSON.parse(Buffer.from(data).toString()) as ChangeEvent));
          if (next === null || records.length === 0) break;
          handle = next;
        }
      }
      return events;
    },
    async close() {
      await Promise.all(running.map((one) => one.stop()));
      await onlooker.stores.close();
      stream.close();
      await store.drop();
    },
  };
}

export const checkpointOf = async ({ store, checkpoints }: FeederBench): Promise<string | null> =>
  [...(await checkpoints.list(feederStream(store.tables.billing))).values()][0]?.sequence ?? null;

/** The emulator never refuses a record of several: what is refused here is not sent, and put into the answer. */
function injectMishaps(client: KinesisClient, mishap: Mishap): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName !== 'PutRecordsCommand') return next(args);
      const { Records: all = [], ...request } = args.input as PutRecordsCommandInput;
      const { refused, loseAnswer = false } = mishap(all.map(({ Data }) => Buffer.from(Data!).toString()));
      const Records = all.filter((_, index) => refused[index] !== true);
      const answer = Records.length === 0 ? null : await next({ ...args, input: { ...request, Records } });
      if (loseAnswer) throw Object.assign(new Error('injected: timed out'), { name: 'TimeoutError' });
      const taken = [...((answer?.output as PutRecordsCommandOutput | undefined)?.Records ?? [])];
      const output = {
        $metadata: {},
        FailedRecordCount: all.length - Records.length,
        Records: all.map((_, index) =>
          refused[index] === true ? { ErrorCode: 'InternalFailure' } : taken.shift()!,
        ),
      };
      return { response: answer?.response, output };
    },
    { step: 'initialize', name: 'mishaps' },
  );
}
