import { createLogger } from '../adapters/logging/logger.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { ConfigurationError } from '../errors.ts';
import type { Log } from '../ports/log.ts';

/** One role of the system, up and running. */
export interface RunningRole {
  /** Finishes or gives back what is in flight. In less than 30 seconds, whatever is down. */
  stop(): Promise<void>;
}

/** A process that is one role: configured by its environment, stopped by a signal. */
export async function runRole(role: string, start: (log: Log) => Promise<RunningRole>): Promise<void> {
  const stopped = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
  });
  try {
    const { general } = readConfig(process.env, { general: sections.general });
    const log = createLogger({ role, level: general.LOG_LEVEL });
    // Starting may take for ever while Redis is away; a signal to stop meanwhile must not wait for that.
    const running = await Promise.race([start(log), stopped]);
    log.info({ signal: await stopped }, 'stopping');
    if (typeof running !== 'string') await running.stop();
    log.info({}, 'stopped');
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    process.exit(1);
  }
}

function describe(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
