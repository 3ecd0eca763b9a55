import { randomUUID } from 'node:crypto';
import {
  CreateStreamCommand,
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
  KinesisClient,
} from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { onTestFinished } from 'vitest';
import { sharedStack } from '../support/stack.ts';
import type { Json } from './bank-client.ts';
import { eventually } from '../support/processes.ts';

export interface StreamRecord extends Json {
  readonly id: string;
  readonly type: string;
  readonly data: Json;
  readonly partitionKey: string;
}

/** A payments stream of one test's own, read from its beginning. */
export class PaymentsStream {
  readonly name = `payments-${randomUUID()}`;
  readonly endpoint = sharedStack().kinesisUrl;
  readonly #client = new KinesisClient({
    endpoint: this.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    requestHandler: new NodeHttpHandler(),
  });

  /** Not made yet: a sandbox that publishes to it fails until `create`. */
  static forTest(): PaymentsStream {
    const stream = new PaymentsStream();
    onTestFinished(() => stream.#client.destroy());
    return stream;
  }

  static async create(): Promise<PaymentsStream> {
    const stream = PaymentsStream.forTest();
    await stream.create();
    return stream;
  }

  async create(): Promise<void> {
    await this.#client.send(new CreateStreamCommand({ StreamName: this.name, ShardCount: 1 }));
    await eventually(`${this.name} is active`, async () => {
      const { StreamDescription } = await this.#client.send(
        new DescribeStreamCommand({ StreamName: this.name }),
      );
      return StreamDescription?.StreamStatus === 'ACTIVE';
    });
  }

  get options(): { kinesisEndpoint: string; paymentsStream: string } {
    return { kinesisEndpoint: this.endpoint, paymentsStream: this.name };
  }

  async records(): Promise<StreamRecord[]> {
    const { StreamDescription } = await this.#client.send(
      new DescribeStreamCommand({ StreamName: this.name }),
    );
    const ShardId = StreamDescription?.Shards?.[0]?.ShardId;
    const { ShardIterator } = await this.#client.send(
      new GetShardIteratorCommand({ StreamName: this.name, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
    );
    const { Records } = await this.#client.send(new GetRecordsCommand({ ShardIterator }));
    return (Records ?? []).map((record) => ({
      ...(JSON.parse(Buffer.from(record.Data ?? []).toString()) as StreamRecord),
      partitionKey: record.PartitionKey ?? '',
    }));
  }

  async types(): Promise<string[]> {
    return (await this.records()).map((record) => record.type);
  }
}
