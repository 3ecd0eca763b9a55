import type { KinesisClient } from '@aws-sdk/client-kinesis';
import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  waitUntilStreamExists,
} from '@aws-sdk/client-kinesis';

export type StreamStatus = 'made' | 'there' | 'missing';

export async function streamIsThere(client: KinesisClient, name: string): Promise<boolean> {
  try {
    await client.send(new DescribeStreamSummaryCommand({ StreamName: name }));
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false;
    throw error;
  }
}

/** Safe to repeat, and to run from two places at once. */
export async function ensureStream(
  client: KinesisClient,
  name: string,
  shards: number,
): Promise<StreamStatus> {
  if (await streamIsThere(client, name)) return 'there';
  let status: StreamStatus = 'made';
  try {
    await client.send(new CreateStreamCommand({ StreamName: name, ShardCount: shards }));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    status = 'there';
  }
  await waitUntilStreamExists({ client, maxWaitTime: 120, minDelay: 1 }, { StreamName: name });
  return status;
}
