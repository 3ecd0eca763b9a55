import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { NO_LOG } from '../adapters/logging/logger.ts';
import type { OrderedBatch } from '../app/order-batch.ts';
import { orderBatch } from '../app/order-batch.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import type { SubscriptionId } from '../domain/subscription.ts';
import type { CollectionRequest } from '../ports/requests.ts';
import { nonEmpty } from './arguments.ts';
import type { CliContext } from './context.ts';
import { queuesOn, reachRedis, soon } from './reach-redis.ts';
import type { Terminal } from './terminal.ts';
import { colour, terminal } from './terminal.ts';
import { thisUser } from './this-user.ts';
import { withStores } from './with-stores.ts';

interface BatchOptions {
  readonly file?: string;
  readonly id?: string;
  readonly json: boolean;
}

export function addBatchCommand(program: Command, context: CliContext): void {
  program
    .command('batch')
    .description('collect those of a list of records that are due: each is handed to the workers once')
    .argument('[ids...]', 'ids of records')
    .option('--file <path>', 'a file with one id per line', nonEmpty)
    .option('--id <name>', 'names the batch: ordered again under its name it is the same batch', nonEmpty)
    .option('--json', 'the last line on standard output is one JSON object', false)
    .action(async (ids: string[], options: BatchOptions) => {
      const listed = options.file === undefined ? [] : linesOf(options.file);
      await order(context, [...ids, ...listed], options);
    });
}

const linesOf = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

async function order({ environment, target }: CliContext, ids: readonly string[], options: BatchOptions) {
  if (ids.length === 0) throw new Error('name the records: as arguments, or one per line in --file');
  const config = readConfig(environment, {
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    ownership: sections.ownership,
  });
  const out = options.json ? terminal(process.stderr) : terminal();
  out.line(target);
  const redis = await reachRedis(config.redis.REDIS_URL);
  const queues = redis === null ? null : await queuesOn(redis);
  const enqueue = async (request: CollectionRequest): Promise<void> => {
    const added = queues === null ? null : await soon(queues.addRequest(request).then(() => true));
    if (added === null) throw new Error('Redis does not answer');
  };
  try {
    const batchId = options.id ?? randomUUID();
    const ordered = await withStores(config, ({ stores, clock }) =>
      orderBatch(
        { ...stores, clock, log: NO_LOG, enqueue, owned: config.ownership.OWNED_USERS },
        { batchId, by: thisUser() },
        ids as SubscriptionId[],
      ),
    );
    show(ordered, queues !== null, out);
    if (options.json) process.stdout.write(`${JSON.stringify(figuresOf(batchId, ordered))}\n`);
    if (ordered.unknown.length + ordered.unreadable.length > 0) process.exitCode = 1;
  } finally {
    redis?.disconnect();
  }
}

function show(
  { accepted, unknown, notOwned, unreadable }: OrderedBatch,
  handedOver: boolean,
  out: Terminal,
): void {
  out.line(`${accepted.length} records are asked for; \`explain\` tells what came of each`);
  if (!handedOver) {
    out.line(`${colour('yellow', '!')} Redis does not answer: the scheduler hands them over when it is back`);
  }
  for (const id of unknown) out.line(`${colour('red', '✗')} no record has the id ${id}`);
  for (const id of unreadable) out.line(`${colour('red', '✗')} the row of ${id} cannot be read`);
  for (const id of notOwned) {
    out.line(`${colour('yellow', '!')} ${id} belongs to the older service (OWNED_USERS)`);
  }
}

const figuresOf = (batchId: string, { accepted, unknown, notOwned, unreadable }: OrderedBatch) => ({
  batch_id: batchId,
  requests: accepted.map(({ requestId, subscriptionId, status }) => ({
    job_id: requestId,
    subscription_id: subscriptionId,
    status,
  })),
  unknown,
  not_owned: notOwned,
  unreadable,
});
