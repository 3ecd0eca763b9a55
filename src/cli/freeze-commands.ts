import type { Command } from 'commander';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import type { Instant } from '../domain/instant.ts';
import { formatInstant } from '../domain/instant.ts';
import type { FreezeOrder, FreezeTarget } from '../ports/freezes.ts';
import { freezeTargetName } from '../ports/freezes.ts';
import { freezeTarget, instant, nonEmpty } from './arguments.ts';
import type { CliContext } from './context.ts';
import { terminal } from './terminal.ts';
import { thisUser } from './this-user.ts';
import type { Opened } from './with-stores.ts';
import { withStores } from './with-stores.ts';

const TARGETS = 'global (everything), pinless (cards), ach (bank accounts), or user:ID (one member)';
const WHO = 'who orders it, for the log; the name of the user of this machine when left out';

export function addFreezeCommands(program: Command, { environment, target: system }: CliContext): void {
  const out = terminal();

  program
    .command('freeze')
    .description('stop charging: everybody, one rail or one member. Records are deferred, not lost')
    .argument('<what>', TARGETS, freezeTarget)
    .requiredOption('--reason <text>', 'why, for other operators', nonEmpty)
    .option('--until <time>', 'when it ends by itself; when left out, by `unfreeze` only', instant)
    .option('--who <name>', WHO, nonEmpty)
    .action(async (target: FreezeTarget, options: { reason: string; until?: Instant; who?: string }) => {
      out.line(system);
      await withFreezes(environment, async ({ stores, clock }) => {
        const at = clock.now();
        const { reason, until = null, who = thisUser() } = options;
        if (until !== null && until <= at)
          throw new Error(`--until ${formatInstant(until)} is over: it is ${formatInstant(at)}`);
        await stores.freezes.freeze({ target, reason, who, at, until });
        out.line(`frozen: ${STOPS[target.scope]}${ofWhom(target)}, ${untilText(until)}`);
        out.line(
          'it holds for every decision made from now on; a charge that is on its way is not called back',
        );
      });
    });

  program
    .command('unfreeze')
    .description('lift a freeze: what it deferred is collected by the next runs')
    .argument('<what>', TARGETS, freezeTarget)
    .option('--who <name>', WHO, nonEmpty)
    .action(async (target: FreezeTarget, { who = thisUser() }: { who?: string }) => {
      out.line(system);
      await withFreezes(environment, async ({ stores, clock }) => {
        const lifted = await stores.freezes.unfreeze(target, { who, at: clock.now() });
        if (lifted) return out.line(`lifted: ${freezeTargetName(target)} is not frozen any more`);
        throw new Error(`${freezeTargetName(target)} is not frozen; \`freezes\` lists what is`);
      });
    });

  program
    .command('freezes')
    .description('list what is frozen, why, by whom and until when')
    .action(() =>
      withFreezes(environment, async ({ stores, clock }) => {
        const orders = await stores.freezes.list();
        if (orders.length === 0) return out.line('nothing is frozen');
        const now = clock.now();
        out.table(
          ['frozen', 'since', 'until', 'by', 'because'],
          orders.map((order) => row(order, now)),
        );
      }),
    );
}

function withFreezes(environment: Environment, work: (opened: Opened) => Promise<void>): Promise<void> {
  const config = readConfig(environment, {
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
  });
  return withStores(config, work);
}

const STOPS: Record<FreezeTarget['scope'], string> = {
  global: 'nobody is charged, cancelled, waived or written off',
  PINLESS: 'nobody is charged over a card, and nobody who has one over the account instead',
  ACH: 'no bank account is charged, also not where a card has no money',
  user: 'nothing is collected from member',
};

const ofWhom = (target: FreezeTarget): string => (target.scope === 'user' ? ` ${target.userId}` : '');

const untilText = (until: Instant | null): string =>
  until === null ? 'until somebody lifts it' : `until ${formatInstant(until)}`;

const row = ({ target, at, until, who, reason }: FreezeOrder, now: Instant): string[] => [
  freezeTargetName(target),
  formatInstant(at),
  `${untilText(until)}${until !== null && until <= now ? ' (over)' : ''}`,
  who,
  reason,
];
