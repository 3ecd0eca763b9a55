import type { ServerName } from './data-folder.ts';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** One of the three servers: how to start it on a port, and how to know that it serves. */
export interface Server {
  readonly name: ServerName;
  readonly command: (port: number) => Command;
  readonly answers: (port: number) => Promise<boolean>;
}
