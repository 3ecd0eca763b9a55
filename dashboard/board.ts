import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Application, RequestHandler } from 'express';
import type { QueueName } from '../queues/queue-names.ts';
import { QUEUE_GROUPS } from '../queues/queue-names.ts';
import type { QueueSet } from '../queues/queue-set.ts';
import { withoutAddresses, withoutPersonalData } from '../src/adapters/logging/personal-data.ts';
import type { Log } from '../src/ports/log.ts';
import { callerIn, mayAct } from './console-context.ts';
import { PageError } from './page-error.ts';

const BASE = '/queues';

/** Between a group and a queue, in the tree that people see. */
const DELIMITER = '.';

/** What jobs carry: ids. Whatever else might come to stand in one is not for a screen. */
const SHOWN = new Set([
  'runId',
  'pass',
  'page',
  'userId',
  'subscriptionId',
  'requestId',
  'eventId',
  'stream',
  'shardId',
  'sequence',
  'type',
  'seen',
]);

/**
 * Bull Board, twice: one that only shows, for callers who may only look. What operators may do with a job stays within
 * what the pipeline can take: jobs are hints, so one may be tried again, brought forward or thrown away, and a queue
 * may be held. A job written by hand would carry no operator's name; those of the console and the API do.
 */
export function bullBoard(queues: Pick<QueueSet, 'get'>, log: Log): RequestHandler {
  const [toLook, toAct] = [board(queues, true), board(queues, false)];
  return (request, response, next) => {
    const isLooking = request.method === 'GET' || request.method === 'HEAD';
    if (!isLooking) {
      if (!mayAct(response)) throw new PageError(403, 'Not allowed', 'This needs the role operator.', BASE);
      if (!isAllowed(request.path))
        throw new PageError(403, 'Not allowed', 'This is not done by hand.', BASE);
      log.info({ by: callerIn(response).name, act: 'queue', what: request.path }, 'an operator acted');
    }
    return (mayAct(response) ? toAct : toLook)(request, response, next);
  };
}

const ALLOWED =
  /^\/api\/queues(\/[^/]+){0,2}\/(pause|resume|retry|promote|clean)(\/(failed|completed|delayed))?$/;

const isAllowed = (path: string): boolean => ALLOWED.test(path);

function board(queues: Pick<QueueSet, 'get'>, readOnlyMode: boolean): RequestHandler {
  const serverAdapter = new ExpressAdapter();
  serverAdapter.setBasePath(BASE);
  createBullBoard({
    queues: Object.entries(QUEUE_GROUPS).flatMap(([group, names]) =>
      names.map((name: QueueName) =>
        shownQueue(queues, name, { prefix: `${group}${DELIMITER}`, readOnlyMode }),
      ),
    ),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Queues',
        miscLinks: [{ text: 'Console', url: '/' }],
        hideDocsLink: true,
        hideRedisDetails: true,
        sortQueues: false,
        overview: { groupByDelimiter: true },
        pollingInterval: { showSetting: true, forceInterval: 5 },
      },
      // Reasons of failures are texts of other programs, which no formatter sees.
      handlerHooks: {
        after: (_context, result) => ({ ...result, body: textsCleaned(result.body) as object }),
      },
    },
  });
  return withoutForeignFonts(serverAdapter.getRouter() as Application);
}

const FOREIGN_FONTS = /<link href="https:[^>]*>/g;

/** The page would ask a foreign server for a font, which tells that server who looks; it has others. */
function withoutForeignFonts(app: Application): RequestHandler {
  const render = app.render.bind(app);
  app.render = (name: string, options?: unknown, done?: (error: Error, page: string) => void): void =>
    render(name, options as object, (error, page: string | undefined) =>
      done?.(error, (page ?? '').replaceAll(FOREIGN_FONTS, '')),
    );
  return app;
}

function shownQueue(
  queues: Pick<QueueSet, 'get'>,
  name: QueueName,
  options: { readonly prefix: string; readonly readOnlyMode: boolean },
): BullMQAdapter {
  const adapter = new BullMQAdapter(queues.get(name), { ...options, delimiter: DELIMITER });
  adapter.setFormatter('data', idsOnly);
  adapter.setFormatter('returnValue', (value: unknown) =>
    typeof value === 'object' && value !== null ? withoutPersonalData(value) : value,
  );
  return adapter;
}

function idsOnly(data: unknown): object {
  const entries = typeof data === 'object' && data !== null ? Object.entries(data) : [];
  return Object.fromEntries(
    entries.map(([key, value]: [string, unknown]) => [key, SHOWN.has(key) ? value : '[hidden]']),
  );
}

function textsCleaned(value: unknown): unknown {
  if (typeof value === 'string') return withoutAddresses(value);
  if (Array.isArray(value)) return value.map(textsCleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, textsCleaned(entry)]));
}
