import type { z } from 'zod';
import type { Delivery } from '../ports/gateways.ts';
import type { ProblemCode } from './problems.ts';
import type { Answer } from './route.ts';

/**
 * Where gateways post what happened. No route of the table: a gateway has no token, and is known by a signature over
 * the body, which therefore is not read before.
 */
export interface Webhook {
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** What it may answer, by status, besides problems. */
  readonly answers: Readonly<Record<number, z.ZodType>>;
  readonly problems: readonly ProblemCode[];
  readonly answer: (delivery: Delivery) => Promise<Answer>;
}
