import type { TableNames } from '../src/adapters/dynamodb/tables.ts';
import { tableNames } from '../src/cli/make-tables.ts';
import { readConfig } from '../src/config/read-config.ts';
import * as sections from '../src/config/sections.ts';
import type { DemoMember } from '../src/demo/population.ts';
import { AT_ONCE, bankVariables } from './ground.ts';
import { dueMembers, membersNotDue } from './members.ts';
import type { Bench } from './bench.ts';
import { askForUnits, unitsOf } from './capacity.ts';
import type { Measured } from './figures.ts';
import { leftBehind } from './left-behind.ts';
import type { Exchange } from './recording-proxy.ts';
import { startProxy } from './recording-proxy.ts';
import { timedRun } from './scheduled-run.ts';
import { openSite } from './site.ts';
import type { StepTime } from './steps.ts';
import { stepTimes } from './steps.ts';
import { tableUnitsIn } from './stored.ts';
import { Template, operationOf } from './template.ts';
import type { WriteUnits } from './write-units.ts';
import { ofOneCollection, sumOf } from './write-units.ts';

const DUE = 100;
/** One after the other, so that none waits for another: eight at once wait for the proxies most of all. */
const DUE_ALONE = 40;
const NOT_DUE = 1_000;

export interface Requests {
  readonly template: Template;
  readonly steps: readonly StepTime[];
  readonly writeUnits: readonly WriteUnits[];
  readonly figures: Measured;
}

/**
 * What a worker asks for, seen from outside: through a proxy in front of DynamoDB and one in front of the bank. The same
 * worker as in life; only slower.
 */
export async function measureRequests({ ground, say }: Bench): Promise<Requests> {
  const site = await openSite(ground);
  const [dynamodb, bank] = await Promise.all([
    startProxy(ground.stack.dynamodbUrl, askForUnits),
    startProxy(ground.bankUrl),
  ]);
  const worker = await ground.worker({
    ...site.environment,
    ...bankVariables(bank.url),
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
  });
  const run = async (count: number) => {
    const members = dueMembers(count);
    await site.settle(members);
    await timedRun(site, count);
    return { members, toStore: dynamodb.take(), toBank: bank.take() };
  };
  try {
    await site.fill(membersNotDue(NOT_DUE));

    const first = await run(1);
    const [model] = first.members;
    if (model === undefined) throw new Error('one member was asked for');
    const template = Template.of(
      [...first.toStore.filter(isNoHeartbeat), ...first.toBank],
      model,
      site.environment,
    );
    say(`one collection: ${template.describe()}`);

    const atOnce = await run(DUE);
    await site.queues.limitCollections(1);
    const alone = await run(DUE_ALONE);
    await site.queues.limitCollections(AT_ONCE);
    const names = tableNames(readConfig(site.environment, { dynamodb: sections.dynamodb }).dynamodb);
    return {
      template,
      steps: stepTimes([...alone.toStore.filter(isOfCollection), ...alone.toBank], alone.members),
      ...unitsAndBytes(atOnce.toStore, atOnce.members, names),
    };
  } finally {
    await worker.stop();
    dynamodb.close();
    bank.close();
    await site.close();
  }
}

/** What the collections of these members have sent, counted and weighed. */
export function unitsAndBytes(
  seen: readonly Exchange[],
  members: readonly DemoMember[],
  names: TableNames,
): Pick<Requests, 'figures' | 'writeUnits'> {
  const { figures, indexUnits } = leftBehind(seen, members, names);
  const tableUnits = tableUnitsIn(seen.filter(isOfCollection));
  return {
    figures: {
      ...countsOf(seen, members.length, names),
      ...figures,
      table_write_units_per_collection: sumOf(tableUnits) / members.length,
    },
    writeUnits: ofOneCollection([...tableUnits, ...indexUnits], names, members.length),
  };
}

function countsOf(seen: readonly Exchange[], due: number, { locks }: TableNames): Measured {
  const of = (kind: Kind): Exchange[] => seen.filter((one) => kindOf(one) === kind);
  const collections = of('collection');
  const lockRequests = collections.filter(({ body }) => body.includes(`"${locks}"`));
  return {
    dynamo_calls_per_collection: collections.length / due,
    lock_requests_per_collection: lockRequests.filter(isAlone).length / due,
    dynamo_run_calls_per_collection: of('run').length / due,
    dynamo_heartbeats_per_collection: of('heartbeat').length / due,
    read_units_per_collection: unitsOf(collections).read / due,
    run_read_units_per_collection: unitsOf(of('run')).read / due,
    index_reads_per_due: seen.reduce((sum, one) => sum + dueItemsRead(one), 0) / due,
  };
}

/** Not in a transaction, where looking at the lock costs no request. */
const isAlone = ({ headers }: Exchange): boolean => operationOf(headers) !== 'TransactWriteItems';

const isOfCollection = (exchange: Exchange): boolean => kindOf(exchange) === 'collection';
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
