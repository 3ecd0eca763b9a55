import type { Environment } from '../config/read-config.ts';

/** What every command works on. */
export interface CliContext {
  readonly environment: Environment;
  /** The system that is meant, in a line for people: before anything is changed they see where. */
  readonly target: string;
}
