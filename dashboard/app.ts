import type { ErrorRequestHandler, Express, Request, RequestHandler, Response, Router } from 'express';
import express from 'express';
import helmet from 'helmet';
import { callerOf } from '../src/api/caller.ts';
import type { Health } from '../src/ports/health.ts';
import { probeStatus } from '../src/ports/health.ts';
import type { ApiToken, Caller } from '../src/ports/caller.ts';
import type { Log } from '../src/ports/log.ts';
import { SCRIPT } from './assets/script.ts';
import { STYLE } from './assets/style.ts';
import { knownSession, queryText, rememberSession } from './console-context.ts';
import { ICON, doorPage, framedPage } from './frame.ts';
import { PageError, pageErrorOf } from './page-error.ts';
import { messagePage, signInForm } from './pages/messages.ts';
import { isFromOurPages } from './same-origin.ts';
import { SESSION_COOKIE, SESSION_MS } from './session.ts';
import type { Sessions } from './session.ts';
import type { SignInGuard } from './sign-in-guard.ts';

export interface DashboardOptions {
  readonly tokens: readonly ApiToken[];
  readonly sessions: Sessions;
  readonly signInGuard: SignInGuard;
  /** How many proxies stand in front: so many addresses of the way here are believed. */
  readonly trustedProxies: number;
  readonly health: Health;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly console: Router;
  readonly board: RequestHandler;
  readonly log: Log;
}

const FORM_LIMIT = '16kb';

/** The way of a request: is it one of ours, which user sends it, and then the page. */
export function createDashboard(options: DashboardOptions): Express {
  const { tokens, sessions, health, metrics, log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.set('trust proxy', options.trustedProxies);
  app.use(accessLog(log), securityHeaders, recognised(sessions));
  app.get('/health/live', (_request, response) => void response.json({ status: 'live' }));
  app.get('/health/ready', async (_request, response) => {
    const report = await health();
    response.status(probeStatus(report)).json(report);
  });
  app.get('/metrics', tokenOrSession(tokens), async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.text());
  });
  app.use('/assets', assets());
  app.use(oursOnly);
  app.use(signInRoutes(options));
  app.use(signedInOnly);
  app.use('/queues', seenOnly(health), options.board);
  app.use(express.urlencoded({ extended: false, limit: FORM_LIMIT }), options.console);
  app.use(() => {
    throw new PageError(404, 'Not there', 'There is no such page.');
  });
  app.use(toldAsPage(options));
  return app;
}

/** The way to the page as it is written, never as it came: ids may stand in there. */
function accessLog(log: Log): RequestHandler {
  return (request, response, next) => {
    const startedMs = performance.now();
    response.on('close', () => {
      const ms = Math.round(performance.now() - startedMs);
      const route = (request.route as { path?: string } | undefined)?.path;
      const by = knownSession(response)?.caller.name;
      log.info({ by, method: request.method, route, status: response.statusCode, ms }, 'request');
    });
    next();
  };
}

/** Nothing from elsewhere, nothing inline. TLS ends before us, so no page sends its reader to https. */
const OWN_PAGES = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'same-origin' },
});

/** Bull Board writes styles into its elements. */
const BOARD_PAGES = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'same-origin' },
});

const securityHeaders: RequestHandler = (request, response, next) => {
  response.set('cache-control', 'no-store');
  const isBoard = request.path === '/queues' || request.path.startsWith('/queues/');
  return (isBoard ? BOARD_PAGES : OWN_PAGES)(request, response, next);
};

const recognised =
  (sessions: Sessions): RequestHandler =>
  (request, response, next) => {
    const session = sessions.read(request.get('cookie'));
    if (session !== null) rememberSession(response, session);
    next();
  };

/** A scraper has a token and no cookie. */
function tokenOrSession(tokens: readonly ApiToken[]): RequestHandler {
  const find = callerOf(tokens);
  return (request, response, next) => {
    if (knownSession(response) !== null || find(request.get('authorization')) !== null) return next();
    response.status(401).set('www-authenticate', 'Bearer').type('text').send('a token is needed\n');
  };
}

const KEPT = 'public, max-age=31536000, immutable';

function assets(): Router {
  const router = express.Router();
  const serve = (path: string, type: string, text: string): void => {
    router.get(path, (_request, response) => void response.set('cache-control', KEPT).type(type).send(text));
  };
  serve('/console.css', 'css', STYLE);
  serve('/console.js', 'js', SCRIPT);
  serve('/icon.svg', 'svg', ICON);
  return router;
}

/** What changes something must come from a page of ours. The cookie's SameSite says the same; browsers differ, both hold. */
const oursOnly: RequestHandler = (request, _response, next) => {
  const isLooking = request.method === 'GET' || request.method === 'HEAD';
  if (isLooking || isFromOurPages(request)) return next();
  throw new PageError(403, 'Not from here', 'This did not come from a page of the console.');
};

function signInRoutes({ tokens, sessions, signInGuard, log }: DashboardOptions): Router {
  const router = express.Router();
  const find = callerOf(tokens);
  const door = (response: Response, status: number, next: string, failure: string | null): void =>
    void response
      .status(status)
      .type('html')
      .send(doorPage('Sign in', signInForm({ next, failure })));

  router.get('/sign-in', (request, response) => {
    const next = wayBack(queryText(request, 'next'));
    if (knownSession(response) !== null) return response.redirect(303, next);
    door(response, 200, next, null);
  });

  router.post(
    '/sign-in',
    express.urlencoded({ extended: false, limit: FORM_LIMIT }),
    async (request, response) => {
      const { name = '', token = '', next: asked } = (request.body ?? {}) as Record<string, unknown>;
      const next = wayBack(typeof asked === 'string' ? asked : null);
      const check = (): Caller | null => {
        const caller = find(`Bearer ${String(token)}`);
        return caller?.name === name ? caller : null;
      };
      const visitor = { address: request.ip ?? '', name: typeof name === 'string' ? name : '' };
      const guarded = await signInGuard.guard(visitor, check);
      if (guarded === null) return door(response, 429, next, 'Too many at once. Try again in a moment.');
      if (guarded.result === null) {
        log.warn({ from: request.ip }, 'a sign-in failed');
        return door(response, 401, next, 'No such name and token.');
      }
      log.info({ by: guarded.result.name }, 'signed in');
      response.cookie(SESSION_COOKIE, sessions.issue(guarded.result), {
        ...cookieOptions(request),
        maxAge: SESSION_MS,
      });
      response.redirect(303, next);
    },
  );

  router.post('/sign-out', (request, response) => {
    response.clearCookie(SESSION_COOKIE, cookieOptions(request));
    response.redirect(303, '/sign-in');
  });
  return router;
}

/** Where TLS ends before us, the proxy that ends it says so. Said falsely, it only keeps the liar's own cookie to https. */
const cookieOptions = (request: Request) => ({
  httpOnly: true,
  sameSite: 'strict' as const,
  path: '/',
  secure: request.secure || request.get('x-forwarded-proto') === 'https',
});

/** Only to a page of ours: `//elsewhere` and `/\elsewhere` would lead away. */
const wayBack = (next: string | null): string =>
  next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/';

const signedInOnly: RequestHandler = (request, response, next) => {
  if (knownSession(response) !== null) return next();
  const isPage = request.method === 'GET' && request.accepts(['html', 'json']) === 'html';
  if (isPage && request.path !== '/live')
    return response.redirect(303, `/sign-in?next=${encodeURIComponent(request.originalUrl)}`);
  throw new PageError(401, 'Not signed in', 'Sign in first.', '/sign-in');
};

/** Bull Board knows no outage: its page would load for ever. */
const seenOnly =
  (health: Health): RequestHandler =>
  async (request, _response, next) => {
    const isPage = request.method === 'GET' && !/^\/(api|static)\//.test(request.path);
    if (isPage && (await health()).checks['redis'] === 'down')
      throw new PageError(503, 'Not now', 'The queues are in Redis. They can be seen again when it is back.');
    next();
  };

function toldAsPage({ health, log }: DashboardOptions): ErrorRequestHandler {
  return async (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const report = await health();
    const told = pageErrorOf(error, report.checks['dynamodb'] === 'down');
    if (told.status >= 500) log.error({ err: error }, 'a page failed');
    const session = knownSession(response);
    const body = messagePage(told.title, told.message, told.back);
    response.status(told.status);
    if (request.path.startsWith('/queues/api/')) return void response.json({ error: told.message });
    response
      .type('html')
      .send(
        session === null
          ? doorPage(told.title, body)
          : framedPage({ title: told.title, section: null, caller: session.caller, health: report }, body),
      );
  };
}
