import type { Command } from 'commander';
import type { AdoptCounts } from '../app/adopt.ts';
import { adopt } from '../app/adopt.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { owns } from '../domain/ownership.ts';
import type { CliContext } from './context.ts';
import { colour, terminal } from './terminal.ts';
import { withStores } from './with-stores.ts';

export function addAdoptCommand(program: Command, { environment, target }: CliContext): void {
  program
    .command('adopt')
    .description(
      'after OWNED_USERS has grown: note, for the members who are ours now, who wants to be charged on resuming and which bank entries are on their way. Safe to repeat',
    )
    .action(() => {
      const out = terminal();
      out.line(target);
      const config = readConfig(environment, {
        dynamodb: sections.dynamodb,
        lock: sections.lock,
        janitor: sections.janitor,
        clock: sections.clock,
        ownership: sections.ownership,
      });
      return withStores(config, async ({ stores: { subscriptions, pipeline }, clock }) => {
        const ours = config.ownership.OWNED_USERS;
        const counter = out.counter('looking at records');
        const counts = await adopt(
          { subscriptions, pipeline, clock, owns: (userId) => owns(ours, userId) },
          ({ seen }) => counter.update(seen, seen),
        );
        counter.finish();
        for (const text of told(counts)) out.line(text);
      });
    });
}

function* told(counts: AdoptCounts): Generator<string> {
  const { seen, resumes, watches, known, notOwned, outdated, unaskable, malformed } = counts;
  yield `looked at ${seen} records: ${resumes} wishes to be charged on resuming and ${watches} entries on their way are new, ${known} were known`;
  if (notOwned > 0) yield `${notOwned} belong to the older service (OWNED_USERS)`;
  if (outdated > 0) yield `${outdated} have gone on since the index listed them`;
  const warning = colour('yellow', '!');
  if (unaskable > 0)
    yield `${warning} ${unaskable} were sent to the bank by a row that names no payment: look at ACHSENT rows without transaction_id`;
  if (malformed > 0) yield `${warning} ${malformed} rows cannot be read; \`audit\` names them`;
}
