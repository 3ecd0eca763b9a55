#!/usr/bin/env node
import { Command } from 'commander';
import type { SandboxClient } from '../adapters/sandbox-client.ts';
import type { Instant } from '../domain/instant.ts';
import { formatInstant } from '../domain/instant.ts';
import { addAdoptCommand } from './adopt-command.ts';
import { instant, prefix, wholeNumber } from './arguments.ts';
import type { Diagnosis } from './doctor.ts';
import { addBatchCommand } from './batch-command.ts';
import { addExplainCommand } from './explain-command.ts';
import { addForecastCommand } from './forecast-command.ts';
import { addFreezeCommands } from './freeze-commands.ts';
import { withLocalSystem } from './local-environment.ts';
import { addQuarantineCommands } from './quarantine-command.ts';
import { addRunCommand } from './run-command.ts';
import { colour, terminal } from './terminal.ts';

// What a command works with is loaded by its action: all of it together takes longer than most commands.
const out = terminal();
const { environment, local } = withLocalSystem(process.env);

const program = new Command('collections')
  .description(
    'Operates the collections pipeline. Without configuration it works on the system that `npm start` runs in this folder.',
  )
  .showHelpAfterError('(add --help for what is possible)')
  .configureHelp({ showGlobalOptions: true });

program
  .command('tables')
  .description('make the tables, indexes, TTLs and streams that are missing; safe to repeat')
  .option(
    '--add-index',
    'also add the index by date to an existing billing table (filling it costs write capacity)',
    false,
  )
  .action(async ({ addIndex }: { addIndex: boolean }) => {
    const { makeTables } = await import('./make-tables.ts');
    out.line(target());
    for await (const { name, what, status, remedy, optional } of makeTables(environment, { addIndex })) {
      out.line(`${mark(status)} ${name}: ${what} ${status}${remedy === undefined ? '' : `; ${remedy}`}`);
      if (status === 'wrong' && optional !== true) process.exitCode = 1;
    }
  });

program
  .command('doctor')
  .description('check every dependency and say what is wrong and how to mend it')
  .action(async () => {
    const { examine } = await import('./doctor.ts');
    out.line(target());
    let bad = 0;
    for await (const diagnosis of examine(environment)) {
      out.line(`${HEALTH[diagnosis.health]} ${diagnosis.dependency}: ${diagnosis.what}: ${diagnosis.detail}`);
      if (diagnosis.health === 'bad') bad += 1;
    }
    out.line(
      bad === 0
        ? colour('green', 'healthy')
        : colour('red', `${bad} thing${bad === 1 ? ' is' : 's are'} wrong`),
    );
    if (bad > 0) process.exitCode = 1;
  });

program
  .command('audit')
  .description('check live data against the rules that must always hold; ends with 1 when one is broken')
  .option('--json', 'the last line on standard output is one JSON object', false)
  .action(async ({ json }: { json: boolean }) => {
    const { runAudit } = await import('./audit-command.ts');
    process.exitCode = await runAudit(environment, { json }, json ? terminal(process.stderr) : out);
  });

const context = { environment, target: target() };
addRunCommand(program, context);
addForecastCommand(program, context);
addExplainCommand(program, context);
addBatchCommand(program, context);
addFreezeCommands(program, context);
addAdoptCommand(program, context);
addQuarantineCommands(program, context);

const sandbox = program.command('sandbox').description('the pretend bank: its members and its clock');

sandbox
  .command('seed')
  .description(
    'make demo members with billing records, some with floats and recurring payments; members that exist are left alone',
  )
  .option('-u, --users <count>', 'how many', wholeNumber, 500)
  .option('-p, --prefix <text>', 'members are named <prefix>-000001 and so on', prefix, 'demo')
  .action(async ({ users, prefix: name }: { users: number; prefix: string }) => {
    const { seed } = await import('./sandbox-commands.ts');
    const result = await seed(environment, { users, prefix: name, onlyIfMissing: false }, out);
    if (result === null) return;
    const { members, records, floats, recurring, skipped } = result;
    const known = skipped === 0 ? '' : `; ${skipped} were there already`;
    out.line(`${members} members made with ${records} records${known}`);
    if (floats > 0) out.line(`${floats} of them have a float`);
    if (recurring > 0) out.line(`${recurring} recurring payments are among what they pay for`);
  });

sandbox
  .command('clock [time]')
  .description('show the clock, or set it: a time such as 2026-11-16T08:00:00Z, or "system"')
  .action(async (time: string | undefined) => {
    const bank = await theBank();
    if (time === undefined) out.line(formatInstant((await bank.time()).now));
    else tellTime(await bank.setTime(time === 'system' ? null : instant(time)));
  });

sandbox
  .command('advance <by>')
  .description(
    'let time pass: 1d, 36h, 30m. ACH entries settle or return and their callbacks are published on the way',
  )
  .action(async (by: string) => {
    tellTime(await (await theBank()).advance(by));
  });

async function theBank(): Promise<SandboxClient> {
  const { sandboxClient } = await import('./sandbox-commands.ts');
  return sandboxClient(environment);
}

/** Before anything is made or judged: on what? */
function target(): string {
  if (local) return 'the local system of `npm start`';
  const endpoint = environment['AWS_ENDPOINT_URL_DYNAMODB'] ?? '';
  return `the system that the environment names: DynamoDB at ${endpoint === '' ? 'AWS' : endpoint}`;
}

function tellTime({ now, pendingCallbacks }: { now: Instant; pendingCallbacks: number }): void {
  out.line(
    `it is ${formatInstant(now)}${pendingCallbacks === 0 ? '' : `; ${pendingCallbacks} callbacks wait for the stream`}`,
  );
}

const HEALTH: Record<Diagnosis['health'], string> = {
  ok: colour('green', '✓'),
  warn: colour('yellow', '!'),
  bad: colour('red', '✗'),
};

function mark(status: string): string {
  if (status === 'made') return colour('green', '+');
  return status === 'there' ? colour('dim', '=') : HEALTH.warn;
}

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${colour('red', 'failed')}: ${describe(error)}\n`);
  process.exitCode = 1;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const nobodyAnswers =
    error.message === 'fetch failed' || ('code' in error && error.code === 'ECONNREFUSED');
  return nobodyAnswers
    ? 'nobody answers. Is the system up? `npm run cli -- doctor` tells what is wrong'
    : error.message;
}
