import { bankVariables } from './ground.ts';
import { dueMembers, membersNotDue } from './members.ts';
import type { Bench } from './bench.ts';
import type { Measured } from './figures.ts';
import type { Exchange } from './recording-proxy.ts';
import { startProxy } from './recording-proxy.ts';
import { timedRun } from './scheduled-run.ts';
import { openSite } from './site.ts';
import { Template, operationOf } from './template.ts';

const DUE = 100;
const NOT_DUE = 1_000;

/**
 * What a worker asks for, seen from outside: through a proxy in front of DynamoDB and one in front of the bank. The same
 * worker as in life; only slower.
 */
export async function measureRequests({ ground, say }: Bench): Promise<Measured & { template: Template }> {
  const site = await openSite(ground);
  const [dynamodb, bank] = await Promise.all([
    startProxy(ground.stack.dynamodbUrl),
    startProxy(ground.bankUrl),
  ]);
  const worker = await ground.worker({
    ...site.environment,
    ...bankVariables(bank.url),
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
  });
  try {
    await site.fill(membersNotDue(NOT_DUE));

    const [model] = dueMembers(1);
    if (model === undefined) throw new Error('one member was asked for');
    await site.settle([model]);
    await timedRun(site, 1);
    const template = Template.of(
      [...dynamodb.take(), ...bank.take()].filter(isNoHeartbeat),
      model,
      site.environment,
    );
    say(`one collection: ${template.describe()}`);

    await site.settle(dueMembers(DUE));
    await timedRun(site, DUE);
    const seen = dynamodb.take();
    const per = (kind: Kind): number => seen.filter((one) => kindOf(one) === kind).length / DUE;
    const indexReads = seen.reduce((sum, one) => sum + dueItemsRead(one), 0);
    return {
      template,
      dynamo_calls_per_collection: per('collection'),
      dynamo_run_calls_per_collection: per('run'),
      dynamo_heartbeats_per_collection: per('heartbeat'),
      index_reads_per_due: indexReads / DUE,
    };
  } finally {
    await worker.stop();
    dynamodb.close();
    bank.close();
    await site.close();
  }
}

const isNoHeartbeat = (exchange: Exchange): boolean => kindOf(exchange) !== 'heartbeat';

type Kind = 'run' | 'heartbeat' | 'collection';

/** What is not plainly the run's own or a heartbeat counts for the collection. */
function kindOf({ headers, body }: Exchange): Kind {
  const operation = operationOf(headers);
  if (operation === 'DescribeTable' || /"IndexName"|"S":"(RUNS|SCHEDULE)"|"S":"RUN#/.test(body)) return 'run';
  const isRenewal = operation === 'UpdateItem' && body.includes('#deleteOn = :deleteOn');
  return isRenewal ? 'heartbeat' : 'collection';
}

/** Read, not returned: what a filter throws away was read and paid for all the same. */
function dueItemsRead({ headers, body, answer }: Exchange): number {
  if (operationOf(headers) !== 'Query' || !/"IndexName":"billing_status-/.test(body)) return 0;
  return (JSON.parse(answer) as { ScannedCount: number }).ScannedCount;
}
