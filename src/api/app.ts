import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import express from 'express';
import helmet from 'helmet';
import type { Health } from '../ports/health.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ApiToken, Caller } from '../ports/caller.ts';
import { callerOf, mayActAs } from './caller.ts';
import { docsPage } from './docs-page.ts';
import { keyIn } from './idempotency.ts';
import { openApiDocument } from './openapi.ts';
import type { Probe } from './probes.ts';
import { probesOf } from './probes.ts';
import { Problem, problemOf } from './problems.ts';
import type { Answer, Route } from './route.ts';
import type { Webhook } from './webhook.ts';

export interface ApiOptions {
  readonly routes: readonly Route[];
  readonly webhooks: readonly Webhook[];
  readonly tokens: readonly ApiToken[];
  readonly health: Health;
  /** Asked after the caller is known and before anything is read. */
  readonly rateLimit: RequestHandler;
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'httpRequest'>;
  /** Whether the store failed for a while, and nothing is wrong with what was asked. */
  readonly isStoreDown: (error: Error) => boolean;
  readonly log: Log;
}

/** More than a batch of a thousand ids needs. */
const BODY_LIMIT = '256kb';

/** A signature is over these bytes: nothing is unpacked, decoded or parsed. */
const AS_IT_CAME = express.raw({ limit: BODY_LIMIT, type: () => true, inflate: false });

/** TLS ends before us; a page that sent its reader to https would not load behind another name. */
const OVER_HTTP = { contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } };

/** The HTTP side of the house: which caller, may they, is it readable; then the route, then the answer or a problem. */
export function createApi({
  routes,
  webhooks,
  tokens,
  health,
  rateLimit,
  metrics,
  log,
  isStoreDown,
}: ApiOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  // `?a[b]=c` would arrive as an object: queries here are plain names and texts.
  app.set('query parser', 'simple');
  const probes = probesOf(health, metrics);
  const offer = (probe: Probe): void => void app.get(probe.path, answerProbe(probe));
  const known = [...routes, ...webhooks.map(({ path }) => ({ path, method: 'post' }))];
  app.use(named, recognised(known), accessLog(log, metrics), helmet(OVER_HTTP));
  probes.filter(({ needsToken }) => !needsToken).forEach(offer);
  app.use(docsPage(openApiDocument(routes, probes, webhooks)));
  for (const webhook of webhooks) app.post(webhook.path, AS_IT_CAME, serveWebhook(webhook));
  app.use(authenticated(tokens), rateLimit);
  probes.filter(({ needsToken }) => needsToken).forEach(offer);
  app.use(express.json({ limit: BODY_LIMIT, type: () => true, strict: false }));
  for (const route of routes) app[route.method](expressPath(route.path), serve(route));
  app.use(notThere(known));
  app.use(toldAsProblem({ log, isStoreDown }));
  return app;
}

/** What the handlers before a route found out. */
interface Found {
  requestId: string;
  caller?: Caller;
  /** The route's path as it is written, without anybody's id. */
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

/** Before anything can go wrong: also what is refused or cut off is counted by the route that was meant. */
function recognised(routes: readonly Place[]): RequestHandler {
  const known = matchersOf(routes);
  return ({ method, path }, response, next) => {
    const meant = known.find((route) => route.method === method && route.matches.test(path));
    if (meant !== undefined) found(response).path = meant.path;
    next();
  };
}

/** What proxies write down for a request whose caller did not wait for the answer. */
const CUT_OFF = 499;

/** The path as the route writes it, never as it came: anything may stand in there. */
function accessLog(log: Log, metrics: Pick<Metrics, 'httpRequest'>): RequestHandler {
  return (request, response, next) => {
    const startedMs = performance.now();
    response.on('close', () => {
      const { requestId, caller, path } = found(response);
      const ms = Math.round(performance.now() - startedMs);
      const { statusCode, writableFinished } = response;
      const status = writableFinished ? statusCode : CUT_OFF;
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

const answerProbe =
  ({ path, answer }: Probe): RequestHandler =>
  async (_request, response) => {
    found(response).path = path;
    const { status, contentType, body } = await answer();
    response.status(status).type(contentType).send(body);
  };

function serve(route: Route): RequestHandler {
  return async (request, response) => {
    const { requestId, caller } = found(response);
    // Express takes other spellings of a path for the same, such as one that ends with a slash.
    found(response).path = route.path;
    if (caller === undefined || !mayActAs(caller, route.role)) {
      throw new Problem('forbidden', `this needs the role ${route.role}`);
    }
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const key = keyIn(request.get('idempotency-key'));
    const context = { caller, requestId, key, keySince: null, gone: gone.signal };
    const answer = await route.answer(request, context);
    send(response, answer);
  };
}

function serveWebhook({ path, answer }: Webhook): RequestHandler {
  return async (request, response) => {
    found(response).path = path;
    const body: unknown = request.body;
    const delivery = {
      body: body instanceof Uint8Array ? body : new Uint8Array(),
      header: (header: string) => request.get(header),
    };
    send(response, await answer(delivery));
  };
}

function send(response: Response, { status, body, headers = {} }: Answer): void {
  response.status(status).set(headers);
  if (body === undefined) response.end();
  else response.json(body);
}

/** `{user_id}` as Express writes it. */
const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Where something is, and with which method. */
interface Place {
  readonly path: string;
  readonly method: string;
}

const matchersOf = (routes: readonly Place[]) =>
  routes.map(({ path, method }) => ({
    path,
    method: method.toUpperCase(),
    matches: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

function notThere(routes: readonly Place[]): RequestHandler {
  const known = matchersOf(routes);
  return (request: Request) => {
    const allowed = known.filter(({ matches }) => matches.test(request.path)).map(({ method }) => method);
    if (allowed.length === 0) throw new Problem('not-found', 'no such route; /docs shows those that are');
    const allow = allowed.join(', ');
    throw new Problem('method-not-allowed', `use ${allow}`, { headers: { allow } });
  };
}

function toldAsProblem({ log, isStoreDown }: Pick<ApiOptions, 'log' | 'isStoreDown'>): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    // The caller went away in the middle of the body: there is nobody to answer, and nothing of ours has failed.
    if (request.destroyed && !request.complete) return;
    const { requestId, path } = found(response);
    const problem = problemOf(error, isStoreDown);
    if (problem.status >= 500) log.error({ requestId, route: path, err: error }, 'a request failed');
    if (response.headersSent) return next(error);
    send(response, problem.answer(requestId));
  };
}
