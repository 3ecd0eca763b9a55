import type { RequestHandler } from 'express';
import type { Store } from 'express-rate-limit';
import { rateLimit } from 'express-rate-limit';
import { Problem } from './problems.ts';
import type { Caller } from '../ports/caller.ts';
import type { Log } from '../ports/log.ts';

const WINDOW_MS = 60_000;

/** So many calls per minute and token. Open while the store is away: an API that refuses every caller protects none. */
export function limitRate(perMinute: number, store: Store, log: Log): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: perMinute,
    store,
    passOnStoreError: true,
    logger: {
      error: (...said) => log.warn({ err: errorIn(said) }, 'requests are not counted'),
      warn: (...said) => log.warn({ err: errorIn(said) }, 'rate limit'),
    },
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => (response.locals as { caller: Caller }).caller.name,
    handler: (_request, _response, next) =>
      next(new Problem('too-many-requests', `at most ${perMinute} requests a minute with one token`)),
  });
}

const errorIn = (said: readonly unknown[]): unknown => said.find((part) => part instanceof Error);
