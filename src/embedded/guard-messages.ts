import type { ServerName } from './data-folder.ts';
import type { Owner } from './ownership.ts';
import type { ProcessRecord } from './process-record.ts';
import type { Programs } from './programs.ts';
import type { Endpoints } from './stack-file.ts';

/** What the guard is told at its start, as JSON in its only argument. */
export interface GuardOrders {
  readonly dataDir: string;
  readonly inMemory: boolean;
  readonly removeDataDir: boolean;
  readonly programs: Programs;
}

/** A part of the stack that ended without being asked to. */
export interface Death {
  readonly program: ServerName | 'guard';
  /** How it ended: `exit code 1`, `SIGKILL`. */
  readonly cause: string;
  readonly lastLogLines: readonly string[];
}

export type GuardMessage =
  | { readonly type: 'spawned'; readonly server: ProcessRecord }
  | { readonly type: 'ready'; readonly endpoints: Endpoints }
  | { readonly type: 'taken'; readonly by: Owner }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'died'; readonly death: Death }
  | { readonly type: 'serves-again'; readonly server: ServerName };

/** Trouble with one server that somebody asks for, to see how others bear it. */
export type Trouble =
  | { readonly type: 'crash'; readonly server: ServerName; readonly downMs: number }
  | { readonly type: 'pause'; readonly server: ServerName; readonly forMs: number };

export type ParentMessage = { readonly type: 'stop' } | Trouble;
