import { readSync } from 'node:fs';

/*
 * Loaded into every process of the bench before its own code, which stays as it is in life: it answers what the process
 * has used, holds it up when asked to, and ends it when the bench is gone.
 */

export interface Usage {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** The pipe through which a process that is held up is let go. The descriptors before it are Node's own. */
const GATE = 4;

process.on('message', (message) => {
  const { attend } = message as { attend?: string };
  if (attend === 'usage') process.send?.(usage());
  if (attend === 'hold') process.send?.('held', undefined, undefined, hold);
});
process.once('disconnect', () => process.exit(1));

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { rssBytes: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000 };
}

/** Nothing of this process goes on meanwhile. Reading a pipe also ends when the process at the other end is gone. */
function hold(): void {
  if (readSync(GATE, Buffer.alloc(1)) === 0) process.exit(1);
}
