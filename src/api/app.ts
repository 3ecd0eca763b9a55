import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import express from 'express';
import helmet from 'helmet';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ApiToken, Caller } from '../ports/caller.ts';
import { callerOf, mayActAs } from './caller.ts';
import { docsPage } from './docs-page.ts';
import type { Health } from './health.ts';
import { keyIn } from './idempotency.ts';
import { openApiDocument } from './openapi.ts';
import { Problem, problemOf } from './problems.ts';
import type { Answer, Route } from './route.ts';

export interface ApiOptions {
  readonly routes: readonly Route[];
  readonly tokens: readonly ApiToken[];
  readonly health: Health;
  /** Asked after the caller is known and before anything is read. */
  readonly rateLimit: RequestHandler;
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'httpRequest'>;
  readonly log: Log;
}

/** More than a batch of a thousand ids needs. */
const BODY_LIMIT = '256kb';

/** TLS ends before us; a page that sent its reader to https would not load behind another name. */
const OVER_HTTP = { contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } };

/** The HTTP side of the house: who calls, may they, is it readable; then the route, then the answer or a problem. */
export function createApi({ routes, tokens, health, rateLimit, metrics, log }: ApiOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  // `?a[b]=c` would arrive as an object: queries here are plain names and texts.
  app.set('query parser', 'simple');
  app.use(named, accessLog(log, metrics), helmet(OVER_HTTP));
  app.get('/health/live', (_request, response) => void response.json({ status: 'live' }));
  app.get('/health/ready', async (_request, response) => {
    const { isReady, ...report } = await health();
    response.status(isReady ? 200 : 503).json(report);
  });
  app.use(docsPage(openApiDocument(routes)));
  app.use(authenticated(tokens), rateLimit);
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.text());
  });
  app.use(express.json({ limit: BODY_LIMIT, type: () => true, strict: false }));
  for (const route of routes) app[route.method](expressPath(route.path), serve(route));
  app.use(notThere(routes));
  app.use(toldAsProblem(log));
  return app;
}

/** What the handlers before a route found out. */
interface Found {
  requestId: string;
  caller?: Caller;
  /** The route's path as it is written, which names nobody. */
  path?: string;
}

const found = (response: Response): Found => response.locals as Found;

/** A caller's own id for the request is kept, so that both sides' logs can be laid side by side. */
const named: RequestHandler = (request, response, next) => {
  const given = request.get('x-request-id') ?? '';
  found(response).requestId = /^[\w-]{1,64}$/.test(given) ? given : randomUUID();
  response.set('x-request-id', found(response).requestId);
  next();
};

/** The path as the route writes it, never as it came: anything may stand in there. */
function accessLog(log: Log, metrics: Pick<Metrics, 'httpRequest'>): RequestHandler {
  return (request, response, next) => {
    const startedMs = performance.now();
    response.on('close', () => {
      const { requestId, caller, path } = found(response);
      const ms = Math.round(performance.now() - startedMs);
      const { statusCode: status, writableFinished } = response;
      const fields = { requestId, caller: caller?.name, method: request.method, route: path, status, ms };
      log.info(writableFinished ? fields : { ...fields, cutOff: true }, 'request');
      metrics.httpRequest({ method: request.method, route: path ?? 'none', status }, ms / 1_000);
    });
    next();
  };
}

function authenticated(tokens: readonly ApiToken[]): RequestHandler {
  const find = callerOf(tokens);
  return (request, response, next) => {
    const caller = find(request.get('authorization'));
    if (caller === null) {
      throw new Problem('unauthenticated', 'send a token as Authorization: Bearer …', {
        headers: { 'www-authenticate': 'Bearer' },
      });
    }
    found(response).caller = caller;
    next();
  };
}

function serve(route: Route): RequestHandler {
  return async (request, response) => {
    const { requestId, caller } = found(response);
    found(response).path = route.path;
    if (caller === undefined || !mayActAs(caller, route.role)) {
      throw new Problem('forbidden', `this needs the role ${route.role}`);
    }
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const key = keyIn(request.get('idempotency-key'));
    const answer = await route.answer(request, { caller, requestId, key, gone: gone.signal });
    send(response, answer);
  };
}

function send(response: Response, { status, body, headers = {} }: Answer): void {
  response.status(status).set(headers);
  if (body === undefined) response.end();
  else response.json(body);
}

/** `{user_id}` as Express writes it. */
const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

function notThere(routes: readonly Route[]): RequestHandler {
  const patterns = routes.map(({ path, method }) => ({
    method: method.toUpperCase(),
    matches: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return (request: Request) => {
    const allowed = patterns.filter(({ matches }) => matches.test(request.path)).map(({ method }) => method);
    if (allowed.length === 0) throw new Problem('not-found', 'no such route; /docs shows those that are');
    const allow = allowed.join(', ');
    throw new Problem('method-not-allowed', `use ${allow}`, { headers: { allow } });
  };
}

function toldAsProblem(log: Log): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const { requestId, path } = found(response);
    const problem = problemOf(error);
    if (problem.status >= 500) log.error({ requestId, route: path, err: error }, 'a request failed');
    if (response.headersSent) return next(error);
    send(response, problem.answer(requestId));
  };
}
