import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { emulator } from '../aws-emulator.ts';
import '../aws-notice.ts';

export interface DynamoClientOptions {
  readonly region: string;
  /** Unset: AWS. */
  readonly endpoint?: string | undefined;
}

/**
 * The SDK repeats throttled and failed requests by itself, with jitter. The limits are short: a request that hangs
 * longer than a few heartbeats is better lost and asked about again.
 */
export function createDynamoClient({ region, endpoint }: DynamoClientOptions): DynamoDBClient {
  const client = new DynamoDBClient({
    region,
    maxAttempts: 5,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: 2_000,
      requestTimeout: 3_000,
      throwOnRequestTimeout: true,
    }),
    ...emulator(endpoint),
  });
  // It copies every request and every answer for a log that is not kept: a tenth of what reading a page costs.
  client.middlewareStack.remove('loggerMiddleware');
  return client;
}
