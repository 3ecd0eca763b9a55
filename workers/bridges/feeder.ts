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
import type { Deliver } from '../../src/app/bridge/shard-reader.ts';
import { publishGatewayChanges } from '../../src/app/gateways/publish-gateway-changes.ts';
import type { Telling } from '../../src/app/publish-changes.ts';
import { publishChanges } from '../../src/app/publish-changes.ts';
import type { RecordChange } from '../../src/domain/change-event.ts';
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
export const feederStream = (table: string): string => `table:${table}`;

/** Reads the changes of the billing table and tells others of them. */
export async function openFeeder(settings: FeederSettings, tools: FeederTools): Promise<Feeder> {
  const table = settings.dynamodb.BILLING_TABLE;
  const owned = settings.ownership.OWNED_USERS;
  const tables = createDynamoClient(endpointOf(settings));
  const streamArn = await changeStreamOf(tables, table).finally(() => tables.destroy());
  tools.log.info({ streamArn }, 'changes of billing records are published');
  return feed(settings, tools, {
    table,
    label: 'billing',
    mayBeMissing: false,
    publish: (telling) => publishChanges({ ...telling, owned }),
  });
}

/**
 * The same of gateway subscriptions, which no other service tells of. Where their table was not made yet it waits for
 * it: members' events must not.
 */
export const openGatewayFeeder = (settings: FeederSettings, tools: FeederTools): Feeder =>
  feed(settings, tools, {
    table: settings.dynamodb.GATEWAY_TABLE,
    label: 'gateways',
    mayBeMissing: true,
    publish: publishGatewayChanges,
  });

interface FedTable {
  readonly table: string;
  readonly label: 'billing' | 'gateways';
  readonly mayBeMissing: boolean;
  readonly publish: (telling: Telling) => Deliver<RecordChange>;
}

const endpointOf = ({ dynamodb }: FeederSettings) => ({
  region: dynamodb.DYNAMO_REGION,
  endpoint: dynamodb.AWS_ENDPOINT_URL_DYNAMODB,
});

function feed(
  settings: FeederSettings,
  tools: FeederTools,
  { table, label, mayBeMissing, publish }: FedTable,
): Feeder {
  const { SUBSCRIPTIONS_STREAM: stream } = settings.kinesis;
  const log = tools.log.child({ feeds: stream });
  const client = createStreamsClient(endpointOf(settings));
  const publisher = new KinesisPublisher({
    client: tools.kinesis,
    stream,
    timer: systemTimer,
    random: Math.random,
  });
  const deliver = publish({ publisher, count: (fate) => tools.metrics.streamRecord(label, fate), log });
  const onLost = (shardId: string): void =>
    log.error(
      { alarm: 'events-lost', stream: feederStream(table), shardId },
      'changes left the stream of a table before they were read',
    );
  const bridge = new Bridge<TableChange>({
    ...tools,
    stream: feederStream(table),
    source: new TableStreamSource({ client, table, mayBeMissing, onLost }),
    beginning: 'start',
    deliver: (shardId, records) =>
      deliver(
        shardId,
        records.map((record) => ({ ...record, data: plainChange(record.data) })),
      ),
    bridgeId: randomUUID(),
    timer: systemTimer,
    random: Math.random,
    log,
    onLag: (shardId, lagMs) => tools.metrics.streamLag(label, shardId, lagMs),
  });
  return { stream, bridge, close: () => client.destroy() };
}
