import type { Log } from '../../src/ports/log.ts';

export interface NotedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: object;
}

/** A log whose lines a test can look at. */
export function notedLog(): { readonly log: Log; readonly lines: NotedLine[] } {
  const lines: NotedLine[] = [];
  const at = (level: NotedLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, message, fields });
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  };
  return { log, lines };
}
