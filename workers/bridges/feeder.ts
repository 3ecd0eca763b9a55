import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { changeStreamOf } from '../../src/adapters/dynamodb/change-stream.ts';
import { createDynamoClient } from '../../src/adapters/dynamodb/client.ts';
import { plainChange } from '../../src/adapters/dynamodb/plain-row.ts';
import { createStreamsClient } from '../../src/adapters/dynamodb/streams-client.ts';
import type { TableChange } from '../../src/adapters/dynamodb/table-stream-source.ts';
import { TableStreamSource } from '../../src/adapters/dynamodb/table-stream-source.ts';
import type { KinesisPublisherOptions } from '../../src/adapters/kinesis/publisher.ts';
import { KinesisPublisher } from '../../src/adapters/kinesis/publisher.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { BridgeTimes } from '../../src/app/bridge/bridge.ts';
import { Bridge } from '../../src/app/bridge/bridge.ts';
import { publishChanges } from '../../src/app/publish-changes.ts';
import type * as sections from '../../src/config/sections.ts';
import type { Attendance } from '../../src/ports/attendance.ts';
import type { Checkpoints } from '../../src/ports/checkpoints.ts';
import type { LockClient } from '../../src/ports/lock.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Metrics } from '../../src/ports/metrics.ts';

export interface FeederSettings {
  readonly dynamodb: z.output<typeof sections.dynamodb>;
  readonly kinesis: Pick<z.output<typeof sections.kinesis>, 'SUBSCRIPTIONS_STREAM'>;
  readonly ownership: z.output<typeof sections.ownership>;
}

export interface FeederTools {
  readonly checkpoints: Checkpoints;
  readonly attendance: Attendance;
  readonly locks: LockClient;
  readonly kinesis: KinesisPublisherOptions['client'];
  readonly times: BridgeTimes;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'streamRecord' | 'streamLag'>;
}

export interface Feeder {
  /** Where it publishes. */
  readonly stream: string;
  readonly bridge: Bridge<TableChange>;
  /** After the bridge has stopped. */
  close(): void;
}

/** Under this name the table's stream is checkpointed. No stream of Kinesis can have it. */
export const feederStream = (billingTable: string): string => `table:${billingTable}`;

/** Reads the changes of the billing table and tells others of them. */
export async function openFeeder(
  { dynamodb, kinesis, ownership }: FeederSettings,
  tools: FeederTools,
): Promise<Feeder> {
  const table = dynamodb.BILLING_TABLE;
  const endpoint = { region: dynamodb.DYNAMO_REGION, endpoint: dynamodb.AWS_ENDPOINT_URL_DYNAMODB };
  const tables = createDynamoClient(endpoint);
  const streamArn = await changeStreamOf(tables, table).finally(() => tables.destroy());
  const log = tools.log.child({ feeds: kinesis.SUBSCRIPTIONS_STREAM });
  log.info({ streamArn }, 'changes of billing records are published');
  const client = createStreamsClient(endpoint);
  const publisher = new KinesisPublisher({
    client: tools.kinesis,
    stream: kinesis.SUBSCRIPTIONS_STREAM,
    timer: systemTimer,
    random: Math.random,
  });
  const publish = publishChanges({
    publisher,
    owned: ownership.OWNED_USERS,
    count: (fate) => tools.metrics.streamRecord('billing', fate),
    log,
  });
  const bridge = new Bridge<TableChange>({
    ...tools,
    stream: feederStream(table),
    source: new TableStreamSource({ client, table }),
    beginning: 'start',
    deliver: (shardId, records) =>
      publish(
        shardId,
        records.map((record) => ({ ...record, data: plainChange(record.data) })),
      ),
    bridgeId: randomUUID(),
    timer: systemTimer,
    random: Math.random,
    log,
    onLag: (shardId, lagMs) => tools.metrics.streamLag('billing', shardId, lagMs),
  });
  return {
    stream: kinesis.SUBSCRIPTIONS_STREAM,
    bridge,
    close: () => client.destroy(),
  };
}
