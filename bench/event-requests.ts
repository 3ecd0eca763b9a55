import { QUEUE, putAndWait } from './applied.ts';
import type { Bench } from './bench.ts';
import { askForUnits, unitsOf } from './capacity.ts';
import type { Measured } from './figures.ts';
import { dueMembers } from './members.ts';
import { startProxy } from './recording-proxy.ts';
import { openSite } from './site.ts';
import { usersStream } from './users-stream.ts';

const WATCHED = 100;

/** What a bridge and a worker ask for because of members who cancel, seen by a proxy in front of DynamoDB. */
export async function measureEventRequests({ ground }: Bench): Promise<Measured> {
  const site = await openSite(ground);
  const stream = usersStream(ground);
  const dynamodb = await startProxy(ground.stack.dynamodbUrl, askForUnits);
  const environment = { ...site.environment, AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url };
  const bridge = await ground.bridge(environment);
  const worker = await ground.worker({ ...environment, QUEUES: QUEUE });
  try {
    const members = dueMembers(WATCHED);
    await site.settle(members);
    await putAndWait(site, stream, members);
    const users = members.map(({ bankUser }) => bankUser.user_id);
    // An idle bridge or worker renews its leases and looks for work all the same: that is not these events' doing.
    const seen = dynamodb.take().filter(({ body }) => users.some((user) => body.includes(user)));
    const { read, write } = unitsOf(seen);
    return {
      dynamo_calls_per_event: seen.length / WATCHED,
      write_units_per_event: write / WATCHED,
      read_units_per_event: read / WATCHED,
    };
  } finally {
    await Promise.all([bridge.stop(), worker.stop()]);
    dynamodb.close();
    stream.close();
    await site.close();
  }
}
