import type { DestinationStream, LevelWithSilent, Logger } from 'pino';
import { destination, pino, stdTimeFunctions } from 'pino';
import type { Log } from '../../ports/log.ts';
import { withoutAddresses, withoutPersonalData } from './personal-data.ts';

export interface LoggerOptions {
  /** `workers`, `scheduler`: which process of the system speaks. */
  readonly role: string;
  readonly level: LevelWithSilent;
  /** Standard output when left out. */
  readonly destination?: DestinationStream;
}

export function createLogger({ role, level, destination: to }: LoggerOptions): Log {
  const options = {
    level,
    base: { role, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    // Errors arrive here as plain fields; pino's own serializer would add to them.
    serializers: { err: (fields: unknown) => fields },
  };
  return logTo(to === undefined ? pino(options) : pino(options, to));
}

/** A file instead of standard output. */
export const logFile = (path: string): DestinationStream =>
  destination({ dest: path, mkdir: true, sync: false });

/** Discards everything: for tests, and for commands that print their own messages (batch, run, quarantine). */
export const NO_LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => NO_LOG,
};

function logTo(logger: Logger): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (logger.isLevelEnabled(level)) logger[level](withoutPersonalData(fields), withoutAddresses(message));
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => logTo(logger.child(withoutPersonalData(fields))),
  };
}
