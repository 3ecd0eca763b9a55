import { runAudit } from './audit-command.ts';
import { collectDue, dayTable } from './collect-due.ts';
import type { Environment } from '../config/read-config.ts';
import { dataDir } from './local-environment.ts';
import { startLocalSystem } from './local-system.ts';
import { seed } from './sandbox-commands.ts';
import { colour, terminal } from './terminal.ts';

/**
 * The whole system on one machine, with nothing configured. Stays up until Ctrl-C; `--once` stops after the summary.
 * Everything it starts ends with it. (Killed together with its guard it leaves servers, which the next start ends.)
 */
const out = terminal();
const once = process.argv.includes('--once');
const stopped = new AbortController();
const DEMO_MEMBERS = 200;

/** Under npm one Ctrl-C comes twice: from the terminal, and passed on by npm. A person is not that fast. */
const SAME_KEY_MS = 1_000;
let askedMs: number | null = null;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const isImpatient = askedMs !== null && performance.now() - askedMs > SAME_KEY_MS;
    if (isImpatient) process.exit(130);
    askedMs ??= performance.now();
    stopped.abort();
  });
}

// npm passes a signal on, but when npm itself is killed nobody tells us: then its process is no longer our parent.
if (process.env['npm_lifecycle_event'] === 'start') {
  const npm = process.ppid;
  setInterval(() => process.ppid !== npm && stopped.abort(), 500).unref();
}

async function seedMembers(environment: Environment): Promise<void> {
  const seeded = await seed(environment, { users: DEMO_MEMBERS, prefix: 'demo', onlyIfMissing: true }, out);
  if (seeded === null) return;
  out.line(
    `seeded ${seeded.members} demo members with ${seeded.records} billing records, ${seeded.floats} floats and ${seeded.recurring} recurring payments`,
  );
}

try {
  const system = await startLocalSystem(process.env, out, stopped.signal, {
    stack: { dataDir: dataDir(process.env) },
    seed: seedMembers,
  });
  try {
    // Without its servers a run would wait for them for ever.
    const ended = system.untilStopped(stopped.signal).then(() => Promise.reject(new Error('stopped')));
    const runs = await Promise.race([collectDue(system.environment, out, stopped.signal), ended]);
    out.line();
    dayTable(runs, out);
    if ((await runAudit(system.environment, { json: false }, out)) !== 0) process.exitCode = 1;
    system.summary();
    if (!once) {
      out.line(`Ctrl-C stops everything; the data stays in ${system.dataDir}/ for the next start.`);
      await system.untilStopped(stopped.signal);
    }
  } finally {
    await system.stop();
  }
  out.line('stopped');
} catch (error) {
  if (!stopped.signal.aborted) {
    process.stderr.write(
      `${colour('red', 'failed')}: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exitCode = 1;
  }
}
// Connections that idle in a pool would hold the process for a few more seconds.
process.exit();
