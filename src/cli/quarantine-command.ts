import type { Command } from 'commander';
import { NO_LOG } from '../adapters/logging/logger.ts';
import type { Replay } from '../app/quarantine.ts';
import { dropQuarantined, listQuarantine, replayQuarantined } from '../app/quarantine.ts';
import { readAgain } from '../app/read-again.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import type { OwnedUsers } from '../domain/ownership.ts';
import { formatInstant } from '../domain/instant.ts';
import { quarantinedFigures } from '../figures/quarantine-figures.ts';
import type { InboxEvent, Quarantined } from '../ports/inbox.ts';
import { nonEmpty } from './arguments.ts';
import type { CliContext } from './context.ts';
import { queuesOn, reachRedis, soon } from './reach-redis.ts';
import type { Terminal } from './terminal.ts';
import { colour, terminal } from './terminal.ts';
import { thisUser } from './this-user.ts';
import type { Opened } from './with-stores.ts';
import { withStores } from './with-stores.ts';

export function addQuarantineCommands(program: Command, { environment, target }: CliContext): void {
  const quarantine = program
    .command('quarantine')
    .description('events that could not be read or applied and wait for somebody');

  quarantine
    .command('list')
    .description('list what is in quarantine and why, oldest first')
    .option('--json', 'the last line on standard output is one JSON object, with what the events say', false)
    .action(({ json }: { json: boolean }) =>
      withQuarantine(environment, (opened) =>
        list(opened, json, terminal(json ? process.stderr : undefined)),
      ),
    );

  quarantine
    .command('replay')
    .description('put an event back, to be applied again: after what stood against it was mended')
    .argument('<id>', 'as `quarantine list` names it', nonEmpty)
    .option('--force', 'although later events of the same member were applied meanwhile', false)
    .action((id: string, { force }: { force: boolean }) => {
      const { redis } = readConfig(environment, { redis: sections.redis });
      return withQuarantine(environment, async (opened) => {
        const out = terminal();
        out.line(target);
        tell(id, await replay(opened, id, { force, redisUrl: redis.REDIS_URL }), out);
      });
    });

  quarantine
    .command('drop')
    .description('give an event up: it is never applied. Who did so and why stays on record for a year')
    .argument('<id>', 'as `quarantine list` names it', nonEmpty)
    .requiredOption('--reason <text>', 'why, for whoever asks later', nonEmpty)
    .option('--who <name>', 'who decided it; the name of the user of this machine when left out', nonEmpty)
    .action((id: string, { reason, who = thisUser() }: { reason: string; who?: string }) =>
      withQuarantine(environment, async ({ stores, clock }) => {
        const out = terminal();
        out.line(target);
        const { quarantine: held } = stores;
        const { result } = await dropQuarantined({ quarantine: held, clock }, id, { who, reason });
        if (result === 'unknown') throw notThere(id);
        out.line(`dropped: ${id} is not applied, also when it is delivered again`);
      }),
    );
}

type OpenedQuarantine = Opened & { readonly owned: OwnedUsers };

function withQuarantine(
  environment: Environment,
  work: (opened: OpenedQuarantine) => Promise<void>,
): Promise<void> {
  const config = readConfig(environment, {
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    ownership: sections.ownership,
  });
  return withStores(config, (opened) => work({ ...opened, owned: config.ownership.OWNED_USERS }));
}

async function list({ stores }: OpenedQuarantine, json: boolean, out: Terminal): Promise<void> {
  const items: Quarantined[] = [];
  for await (const page of listQuarantine(stores)) {
    items.push(...page.items);
    for (const { message } of page.unreadable) out.line(`${colour('red', '✗')} ${message}`);
  }
  if (items.length === 0) out.line('nothing is in quarantine');
  else out.table(['id', 'since', 'event', 'member', 'because'], items.map(row));
  if (json) process.stdout.write(`${JSON.stringify({ quarantined: items.map(quarantinedFigures) })}\n`);
}

const row = ({ quarantineId, userId, at, event, reason }: Quarantined): string[] => [
  quarantineId,
  formatInstant(at),
  event?.type ?? 'not readable',
  userId ?? '',
  reason,
];

function replay(
  { stores, clock, owned }: OpenedQuarantine,
  id: string,
  { force, redisUrl }: { readonly force: boolean; readonly redisUrl: string },
): Promise<Replay> {
  const { quarantine, locks } = stores;
  return replayQuarantined(
    {
      quarantine,
      locks,
      clock,
      log: NO_LOG,
      readAgain: (item) => readAgain(item, { owned, receivedAt: clock.now() }),
      enqueue: (event) => enqueue(redisUrl, event),
    },
    id,
    { force },
  );
}

/** Only now: an operator whose command is refused need not wait for a Redis that is away. */
async function enqueue(redisUrl: string, event: InboxEvent): Promise<void> {
  const redis = await reachRedis(redisUrl);
  try {
    const queues = redis === null ? null : await queuesOn(redis);
    const added = queues !== null && (await soon(queues.ensureEvent(event).then(() => true))) === true;
    if (!added) throw new Error('Redis does not answer');
  } finally {
    redis?.disconnect();
  }
}

const NOT_HANDED_OVER = `${colour('yellow', '!')} Redis does not answer: the sweep will hand it to the workers when Redis is back`;

function tell(id: string, answer: Replay, out: Terminal): void {
  switch (answer.result) {
    case 'replayed':
      for (const { type, sequence } of answer.later) out.line(`applied before it: ${type} ${sequence}`);
      out.line(`replayed: ${id} is back in the inbox`);
      return out.line(answer.handedOver ? 'the workers have it' : NOT_HANDED_OVER);
    case 'overtaken':
      for (const { type, sequence, at } of answer.later)
        out.line(`applied meanwhile: ${type} ${sequence} at ${formatInstant(at)}`);
      throw new Error(
        `${answer.later.length} later event${answer.later.length === 1 ? ' was' : 's were'} applied: --force replays ${id} all the same`,
      );
    case 'dealt-with':
      throw new Error(`${id} was dealt with when it was delivered again: it can only be dropped`);
    case 'unreadable':
      throw new Error(`${id} still cannot be read as an event of ours: ${answer.reason}`);
    case 'busy':
      throw new Error('somebody works on this member right now: try again in a moment');
    case 'unknown':
      throw notThere(id);
  }
}

const notThere = (id: string): Error =>
  new Error(`${id} is not in quarantine; \`quarantine list\` tells what is`);
