import { createHash } from 'node:crypto';

/** The same cause always gives the same request, however often it comes: `batch.3f…`. */
export const requestIdOf = (kind: string, ...cause: readonly string[]): string =>
  `${kind}.${createHash('sha256').update(JSON.stringify(cause)).digest('hex').slice(0, 40)}`;
