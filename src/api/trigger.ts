import { randomUUID } from 'node:crypto';
import { requestIdOf } from '../domain/request-id.ts';
import type { RequestContext } from './route.ts';

/** Under a key it is the same wish, however often the caller has to send it. */
export const triggerOf = (kind: string, { caller, key }: RequestContext): string =>
  key === null ? `${kind}.${randomUUID()}` : requestIdOf(kind, caller.name, key);
