import { readFileSync } from 'node:fs';

/** The last lines of a log, for an error message. */
export function logTail(path: string, lines = 12): string[] {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines);
  } catch {
    return [];
  }
}
