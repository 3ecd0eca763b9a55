import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Bank } from '../bank.ts';
import { Problem } from '../problem.ts';
import { clockRoutes } from './clock-routes.ts';
import { ledgerRoutes } from './ledger-routes.ts';
import { notificationRoutes } from './notification-routes.ts';
import { operatorRoutes } from './operator-routes.ts';
import { paymentRoutes } from './payment-routes.ts';
import { problemReply, send } from './reply.ts';
import { userRoutes } from './user-routes.ts';

/** A thousand scripted users fit; nothing else comes near. */
const LARGEST_BODY = '5mb';

const CODES: Readonly<Record<number, string>> = { 400: 'malformed_request', 413: 'body_too_large' };

/** Errors of Express and its body parser carry the status they stand for; anything else is our own fault. */
function problemOf(error: unknown, log: Logger): Problem {
  if (error instanceof Problem) return error;
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new Problem(
      status,
      CODES[status] ?? 'bad_request',
      'the request could not be read as JSON over HTTP',
    );
  }
  log.error({ err: error }, 'unexpected error');
  return new Problem(500, 'internal_error', 'the sandbox failed; its log says more');
}

/** Every refusal leaves a line. A ledger that cannot be written must still not turn into a stack trace. */
function recorded(problem: Problem, request: string, bank: Bank, log: Logger): Problem {
  const { status: http_status, code } = problem;
  if (http_status >= 500) return problem;
  try {
    bank.timeline.record({ type: 'request.rejected', request: request.slice(0, 200), http_status, code });
    return problem;
  } catch (error) {
    return problemOf(error, log);
  }
}

function rejection(bank: Bank, log: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) return next(error);
    const problem = recorded(problemOf(error, log), `${req.method} ${req.path}`, bank, log);
    send(res, problemReply(problem));
  };
}

function health(bank: Bank): RequestHandler {
  return (_req, res) => {
    const { obstacle } = bank.ledger;
    if (obstacle !== undefined) {
      send(res, problemReply(new Problem(503, 'ledger_not_writable', obstacle)));
      return;
    }
    const { users, payments } = bank.books;
    const callbacks = bank.publisher.report();
    res.json({
      status: 'ready',
      ledger: bank.ledger.lastSeq,
      users: users.size,
      payments: payments.size,
      callbacks,
    });
  };
}

/** At debug level: the ledger is the record, this is for watching. Paths carry ids only. */
function requestLog(log: Logger): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      const ms = Math.round(performance.now() - startedAt);
      log.debug({ method: req.method, path: req.path, status: res.statusCode, ms }, 'request');
    });
    next();
  };
}

const unknownRoute: RequestHandler = () => {
  throw new Problem(404, 'no_such_route', 'the sandbox has no such route');
};

export function sandboxApp(bank: Bank, log: Logger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  if (log.isLevelEnabled('debug')) app.use(requestLog(log));
  app.get('/health/live', (_req, res) => {
    res.json({ status: 'live' });
  });
  app.get('/health/ready', health(bank));
  // Whatever the content type says: everything here is JSON, and what is not gets a 400.
  app.use(express.json({ limit: LARGEST_BODY, type: () => true }));
  app.use(userRoutes(bank), paymentRoutes(bank), notificationRoutes(bank));
  app.use(ledgerRoutes(bank), clockRoutes(bank), operatorRoutes(bank));
  app.use(unknownRoute);
  app.use(rejection(bank, log));
  return app;
}
