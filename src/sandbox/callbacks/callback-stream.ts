import type { PutRecordsResultEntry } from '@aws-sdk/client-kinesis';
import type { CallbackEvent } from './callback-event.ts';

/** The most records that one PutRecords takes. */
export const ROUND_SIZE = 500;

export interface CallbackStream {
  /** Says for each event, in order, whether the stream took it. */
  put(events: readonly CallbackEvent[]): Promise<boolean[]>;
  close(): void;
}

interface StreamSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly name: string;
}

const PRETEND_CREDENTIALS = { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' };

/** PutRecords succeeds as a whole when it refused some records, or all. Emulators spell "absent" as null. */
function wasTaken(record: PutRecordsResultEntry | undefined): boolean {
  return Boolean(record?.SequenceNumber) && !record?.ErrorCode;
}

/** Loads the AWS SDK only when there is a stream: a bank without one starts in half the time. */
export async function kinesisStream(
  { endpoint, region, name }: StreamSettings,
  env: NodeJS.ProcessEnv,
): Promise<CallbackStream> {
  const { KinesisClient, PutRecordsCommand } = await import('@aws-sdk/client-kinesis');
  const { NodeHttpHandler } = await import('@smithy/node-http-handler');
  const client = new KinesisClient({
    endpoint,
    region,
    // One try per call: the publisher owns the back-off, because it also keeps the order.
    maxAttempts: 1,
    // The emulator speaks HTTP/1 only.
    requestHandler: new NodeHttpHandler({ requestTimeout: 5000, connectionTimeout: 2000 }),
    ...(env['AWS_ACCESS_KEY_ID'] === undefined && { credentials: PRETEND_CREDENTIALS }),
  });
  return {
    async put(events) {
      const Records = events.map((event) => ({
        PartitionKey: event.data.user_id,
        Data: Buffer.from(JSON.stringify(event)),
      }));
      const result = await client.send(new PutRecordsCommand({ StreamName: name, Records }));
      return events.map((_, i) => wasTaken(result.Records?.[i]));
    },
    close: () => client.destroy(),
  };
}
