import { KinesisClient } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { emulator } from '../aws-emulator.ts';
import '../aws-notice.ts';

export interface KinesisClientOptions {
  readonly region: string;
  /** Unset: AWS, over HTTP/2 as the SDK does by itself. */
  readonly endpoint?: string | undefined;
}

/** The emulator speaks HTTP/1 only. */
export const createKinesisClient = ({ region, endpoint }: KinesisClientOptions): KinesisClient =>
  new KinesisClient({
    region,
    ...(endpoint === undefined ? {} : { requestHandler: new NodeHttpHandler({ connectionTimeout: 2_000 }) }),
    ...emulator(endpoint),
  });
