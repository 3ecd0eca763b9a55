import { createHash } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { IdempotencyKeys, KeptAnswer, KeyedRequest } from '../ports/idempotency.ts';
import type { ProblemCode } from './problems.ts';
import { Problem, invalidField, problemOf } from './problems.ts';
import type { Answer, RawRequest, RequestContext, Route } from './route.ts';

/** They say that nothing was decided: asked again, the answer may be another one. */
const PASSING: ReadonlySet<ProblemCode> = new Set([
  'invalid-request',
  'user-busy',
  'attempt-open',
  'frozen',
  'malformed-record',
  'service-down',
  'too-many-requests',
  'internal',
]);

/**
 * The same key and the same request give the same answer, also when the first one was lost on its way. A repeat that
 * arrives while the first is still running, or after a crash, runs the route again. That is safe: everything a route
 * does under a key is named after the key, or after the time it first came.
 */
export function withIdempotency(
  route: Route,
  { keys, clock }: { readonly keys: IdempotencyKeys; readonly clock: Clock },
): Route {
  if (!route.movesMoney) return route;
  return {
    ...route,
    async answer(raw, context) {
      const { key } = context;
      if (key === null) return route.answer(raw, context);
      // What cannot be a request of this route uses no key up.
      route.check(raw);
      const request = keyed(route, raw, context, key);
      const claimed = await keys.claim(request, clock.now());
      if (claimed.state === 'conflict') {
        throw new Problem('idempotency-conflict', 'this Idempotency-Key came with another request before');
      }
      if (claimed.state === 'answered') return again(claimed.answer);
      const since = { ...context, keySince: claimed.since };
      const answer = await answered(() => route.answer(raw, since), context);
      await keys.keep(request, kept(answer), clock.now());
      return answer;
    },
  };
}

/** A key as the header holds it; null without one. */
export function keyIn(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (/^[\x20-\x7e]{1,200}$/.test(header)) return header;
  throw invalidField('header', 'Idempotency-Key', '1 to 200 visible ASCII characters');
}

const keyed = (
  { method, path }: Route,
  { params, body }: RawRequest,
  { caller }: RequestContext,
  key: string,
): KeyedRequest => ({
  caller: caller.name,
  key,
  hash: createHash('sha256')
    .update(JSON.stringify([method, path, params, body ?? null]))
    .digest('hex'),
});

/** A refusal is an answer too: the same request again gets the same refusal, unless it was one of the moment. */
async function answered(work: () => Promise<Answer>, { requestId }: RequestContext): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const problem = problemOf(error);
    if (PASSING.has(problem.code)) throw error;
    return problem.answer(requestId);
  }
}

const kept = ({ status, body, headers = {} }: Answer): KeptAnswer => ({
  status,
  contentType: headers['content-type'] ?? 'application/json',
  body: JSON.stringify(body),
});

const again = ({ status, body, contentType }: KeptAnswer): Answer => ({
  status,
  body: JSON.parse(body) as unknown,
  headers: { 'content-type': contentType, 'idempotency-replayed': 'true' },
});
