import { randomUUID } from 'node:crypto';
import type { KinesisClient } from '@aws-sdk/client-kinesis';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { createKinesisClient } from '../src/adapters/kinesis/client.ts';
import type { Ground } from './ground.ts';
import type { SentEvent } from './lag.ts';
import { inParts } from './site.ts';

/** The most that one PutRecords takes. */
const RECORDS_AT_ONCE = 500;

/** Where membership events of the bench come from. */
export interface UsersStream {
  readonly name: string;
  /** An event of each of these users, in as few requests as possible. */
  put(userIds: readonly string[]): Promise<SentEvent[]>;
  close(): void;
}

/** The one that `makeTables` has made on this ground. */
export function usersStream(ground: Ground): UsersStream {
  const name = 'site-user-service-users';
  const client = createKinesisClient({ region: 'us-east-1', endpoint: ground.stack.kinesisUrl });
  return {
    name,
    async put(userIds) {
      const sent: SentEvent[] = [];
      for (const part of inParts(userIds, RECORDS_AT_ONCE)) sent.push(...(await putOnce(client, name, part)));
      return sent;
    },
    close: () => client.destroy(),
  };
}

/** Users that no service has to know: an event is stored before the user service is asked about its user. */
export const strangers = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

async function putOnce(
  client: KinesisClient,
  stream: string,
  userIds: readonly string[],
): Promise<SentEvent[]> {
  const request = new PutRecordsCommand({
    StreamName: stream,
    Records: userIds.map((userId) => ({
      PartitionKey: userId,
      Data: Buffer.from(JSON.stringify(cancellation(userId))),
    })),
  });
  const { Records = [] } = await client.send(request);
  const answeredAtMs = Date.now();
  return Records.map(({ ShardId, SequenceNumber }) => {
    if (!ShardId || !SequenceNumber) throw new Error(`${stream} refused an event`);
    return { shardId: ShardId, sequence: SequenceNumber, answeredAtMs };
  });
}

const cancellation = (userId: string) => ({
  id: randomUUID(),
  type: 'CANCEL',
  source: 'UserService',
  time: '2026-11-16T08:00:00Z',
  data: { user_id: userId, tier: 'Base', term: 'MONTHLY', status: 'ACTIVE' },
});
