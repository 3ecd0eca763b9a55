import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import type { QueueSet } from '../queues/queue-set.ts';
import { mayActAs } from '../src/api/caller.ts';
import type { Health } from '../src/ports/health.ts';
import type { OwnedUsers } from '../src/domain/ownership.ts';
import type { Tiers } from '../src/domain/tiers.ts';
import { readBy } from '../src/in-words.ts';
import type { Caller } from '../src/ports/caller.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Gateway } from '../src/ports/gateways.ts';
import type { Log } from '../src/ports/log.ts';
import type { Stores } from '../src/wiring/stores.ts';
import type { FloatsDesk } from './floats-desk.ts';
import type { Forecasts } from './forecasts.ts';
import type { Frame } from './frame.ts';
import { framedPage } from './frame.ts';
import type { Html } from './html.ts';
import type { LiveHub } from './live.ts';
import type { OverviewDesk } from './overview.ts';
import { PageError } from './page-error.ts';
import type { Patience } from './patience.ts';
import type { Session } from './session.ts';

/** What the console's pages are made of. */
export interface ConsoleContext {
  readonly stores: Stores;
  readonly queues: Pick<QueueSet, 'addRequest' | 'ensureEvent' | 'ensureGatewayEvent'>;
  readonly gateways: readonly Gateway[];
  readonly overview: OverviewDesk;
  readonly forecasts: Forecasts;
  readonly floats: FloatsDesk;
  readonly live: LiveHub;
  readonly health: Health;
  readonly patience: Patience;
  readonly owned: OwnedUsers;
  readonly tiers: Tiers;
  readonly ratePerS: number | null;
  readonly clock: Clock;
  /** Of the wall, for sessions. */
  readonly nowMs: () => number;
  readonly log: Log;
}

/** What the handlers before a page found out. */
interface Found {
  session?: Session;
}

export const rememberSession = (response: Response, session: Session): void => {
  (response.locals as Found).session = session;
};

export const knownSession = (response: Response): Session | null =>
  (response.locals as Found).session ?? null;

export function sessionOf(response: Response): Session {
  const session = knownSession(response);
  if (session === null) throw new PageError(401, 'Not signed in', 'Sign in first.', '/sign-in');
  return session;
}

export const callerIn = (response: Response): Caller => sessionOf(response).caller;

export const mayAct = (response: Response): boolean => mayActAs(callerIn(response), 'operator');

export const operatorsOnly: RequestHandler = (_request, response, next) => {
  if (mayAct(response)) return next();
  throw new PageError(403, 'Not allowed', 'This needs the role operator; you may look, and not act.');
};

export type PageFrame = Omit<Frame, 'caller' | 'health'>;

/** Asks how every dependency is while the page is made: what is down is said above whatever could still be shown. */
export async function show(
  { health }: Pick<ConsoleContext, 'health'>,
  response: Response,
  frame: PageFrame,
  body: Html | Promise<Html>,
): Promise<void> {
  const [report, content] = await Promise.all([health(), body]);
  response.type('html').send(framedPage({ ...frame, caller: callerIn(response), health: report }, content));
}

/** What was filled in. A value that is refused is named. */
export function formOf<T>(request: Request, schema: z.ZodType<T>, back: string): T {
  const read = readBy(schema, request.body ?? {});
  if ('wrong' in read) throw new PageError(400, 'Not understood', read.wrong, back);
  return read.data;
}

/** A plain text of the query; null when it is missing, empty or given twice. */
export function queryText(request: Request, name: string): string | null {
  const value = request.query[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
