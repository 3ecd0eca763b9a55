import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { emulator } from '../aws-emulator.ts';
import '../aws-notice.ts';
import type { DynamoClientOptions } from './client.ts';

/** DynamoDB Local serves the streams of its tables under the same endpoint. */
export const createStreamsClient = ({ region, endpoint }: DynamoClientOptions): DynamoDBStreamsClient =>
  new DynamoDBStreamsClient({ region, ...emulator(endpoint) });
