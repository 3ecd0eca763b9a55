import type { Request, Response, Router } from 'express';
import express from 'express';
import type { Instant } from '../src/domain/instant.ts';
import { plusDays } from '../src/domain/instant.ts';
import { explain } from '../src/app/explain.ts';
import { findRequest } from '../src/app/find-request.ts';
import type { FloatId } from '../src/domain/floats/float.ts';
import { floatIdOf } from '../src/domain/floats/record-id.ts';
import { recurringOf } from '../src/domain/recurring/record-id.ts';
import type { AccountId } from '../src/domain/recurring/recurring.ts';
import { parseRunId } from '../src/domain/runs.ts';
import type { RunId } from '../src/domain/runs.ts';
import type { SubscriptionId, UserId } from '../src/domain/subscription.ts';
import type { Verdict, VerdictName } from '../src/domain/verdict.ts';
import { VERDICTS } from '../src/domain/verdict.ts';
import { MalformedRowError } from '../src/errors.ts';
import type { CollectionRequest } from '../src/ports/requests.ts';
import type { Run } from '../src/ports/runs.ts';
import type { PageKey } from '../src/ports/subscriptions.ts';
import { actRoutes } from './acts.ts';
import type { ConsoleContext } from './console-context.ts';
import { mayAct, queryText, sessionOf, show } from './console-context.ts';
import { markOf, outageBanner } from './frame.ts';
import { gatewayPages } from './gateways.ts';
import { recurringPages } from './recurring.ts';
import type { Html } from './html.ts';
import type { Fragments } from './live.ts';
import { MOST_TOPICS } from './live.ts';
import type { MemberFloats } from './member-floats.ts';
import { hasFloats, lookedAt, readMemberFloats } from './member-floats.ts';
import { noticeOf } from './notices.ts';
import { PageError, notThere } from './page-error.ts';
import { floatUrl } from './pages/float-parts.ts';
import type { FloatsView } from './pages/floats.ts';
import { floatsFragments, floatsPage } from './pages/floats.ts';
import { forecastPage, forecastPart } from './pages/forecast.ts';
import { freezesPage } from './pages/freezes.ts';
import { memberFloats } from './pages/member-floats.ts';
import { quarantinePage } from './pages/quarantine.ts';
import type { Gathered, UnsettledView } from './pages/unsettled.ts';
import { unsettledPage } from './pages/unsettled.ts';
import { recurringUrl } from './pages/recurring.ts';
import { recordsPage, runPage, runReport } from './pages/run.ts';
import type { TodayView } from './pages/today.ts';
import { todayFragments, todayPage } from './pages/today.ts';
import type { UserView } from './pages/users.ts';
import { requestPart, searchPage, userPage } from './pages/users.ts';

/** The operator console: pages to look at, and what operators do (`acts.ts`). */
export function consoleRoutes(context: ConsoleContext): Router {
  const router = express.Router();
  const { stores, patience, clock } = context;

  router.get('/', (_request, response) =>
    show(
      context,
      response,
      { title: 'Today', section: '/', topics: ['today'] },
      today(context).then(todayPage),
    ),
  );

  router.get('/runs/:runId', async (request, response) => {
    const run = await runOf(context, request);
    const topics = [`run:${run.runId}`];
    const page = context.overview.progressOf(run).then(runPage);
    await show(context, response, { title: `Run ${run.runId}`, section: null, topics }, page);
  });

  router.get('/runs/:runId/records', async (request, response) => {
    const run = await runOf(context, request);
    const page = records(context, run, queryText(request, 'verdict'), queryText(request, 'after'));
    await show(context, response, { title: `Records of ${run.runId}`, section: null }, page);
  });

  router.get('/forecast', (request, response) => {
    const frame = {
      title: 'Forecast',
      section: '/forecast',
      topics: ['forecast'],
      notice: noticeOf(request),
    } as const;
    return show(
      context,
      response,
      frame,
      context.forecasts.list().then((all) => forecastPage(all, mayAct(response))),
    );
  });

  router.get('/floats', (_request, response) =>
    show(
      context,
      response,
      { title: 'Floats', section: '/floats', topics: ['floats'] },
      floats(context).then(floatsPage),
    ),
  );

  router.get('/freezes', async (request, response) => {
    const frame = { title: 'Freezes', section: '/freezes', notice: noticeOf(request) } as const;
    const orders = patience.ask(() => stores.freezes.list());
    const page = orders.then((answer) =>
      freezesPage({ orders: answer, now: clock.now(), mayAct: mayAct(response) }),
    );
    await show(context, response, frame, page);
  });

  router.get('/unsettled', (request, response) =>
    show(
      context,
      response,
      { title: 'Unsettled', section: '/unsettled' },
      unsettled(context, request).then(unsettledPage),
    ),
  );

  router.get('/quarantine', async (request, response) => {
    const frame = { title: 'Quarantine', section: '/quarantine', notice: noticeOf(request) } as const;
    const after = queryText(request, 'after') as PageKey | null;
    const page = patience
      .ask(() => stores.quarantine.list(after))
      .then((answer) => quarantinePage(answer, mayAct(response)));
    await show(context, response, frame, page);
  });

  router.get('/users', (request, response) => search(context, request, response));
  router.get('/users/:userId', (request, response) => member(context, request, response));

  router.use(gatewayPages(context));
  router.use(recurringPages(context));

  router.get('/live', (request, response) => listen(context, request, response));

  router.use(actRoutes(context));
  return router;
}

async function today({ overview, ratePerS }: ConsoleContext): Promise<TodayView> {
  const [look, days] = await Promise.all([overview.look(), overview.days()]);
  return { overview: look, days, ratePerS };
}

async function floats({ floats: desk, overview }: ConsoleContext): Promise<FloatsView> {
  const [figures, runs] = await Promise.all([desk.look(), overview.runs()]);
  const ofFloats = runs?.value.filter(({ run }) => run.process.startsWith('float-')) ?? null;
  return { figures, runs: ofFloats === null ? null : { value: ofFloats } };
}

/** Whenever they are asked about next. */
const WHENEVER_DAYS = 3_650;
/** A list is stored in parts, and a page of it is one part's: so many are gathered, or as many as there are. */
const UNSETTLED_SHOWN = 100;

async function gather<T>(
  from: PageKey | null,
  read: (key: PageKey | null) => Promise<Omit<Gathered<T>, 'isWhole'>>,
): Promise<Gathered<T>> {
  const all = { items: [] as T[], unreadable: [] as Error[] };
  let key = from;
  do {
    const { items, unreadable, nextKey } = await read(key);
    all.items.push(...items);
    all.unreadable.push(...unreadable);
    key = nextKey;
  } while (key !== null && all.items.length < UNSETTLED_SHOWN);
  return { ...all, nextKey: key, isWhole: from === null && key === null };
}

async function unsettled(
  { stores: { pipeline }, patience, clock }: ConsoleContext,
  request: Request,
): Promise<UnsettledView> {
  const whenever = plusDays(clock.now(), WHENEVER_DAYS);
  const after = (list: string): PageKey | null => queryText(request, list) as PageKey | null;
  const [open, refused, returned] = await Promise.all([
    patience.ask(() =>
      gather(after('open'), async (key) => {
        const { attempts: items, ...page } = await pipeline.openAttempts(whenever, key);
        return { items, ...page };
      }),
    ),
    patience.ask(() => gather(after('refused'), (key) => pipeline.refusedRefunds.list(whenever, key))),
    patience.ask(() => gather(after('returned'), (key) => pipeline.staleReturns.list(whenever, key))),
  ]);
  return { open, refused, returned };
}

async function runOf({ stores, patience }: ConsoleContext, request: Request): Promise<Run> {
  const id = String(request.params['runId']);
  const run = parseRunId(id) === null ? null : await patience.inTime(() => stores.runs.get(id as RunId));
  if (run === null) throw notThere('There is no such run.');
  return run;
}

/** About a screenful, and how far to look for it among verdicts of other kinds. */
const RECORDS_SHOWN = 50;
const MOST_PAGES_READ = 20;

async function records(
  { stores }: ConsoleContext,
  run: Run,
  verdict: string | null,
  after: string | null,
): Promise<Html> {
  const wanted = verdict === null ? null : verdictNamed(verdict);
  const found: Verdict[] = [];
  let key = after as PageKey | null;
  for (let pages = 0; pages < MOST_PAGES_READ && found.length < RECORDS_SHOWN; pages += 1) {
    const page = await stores.runs.verdicts(run.runId, key);
    found.push(...page.verdicts.filter((one) => wanted === null || one.verdict === wanted));
    key = page.nextKey;
    if (key === null) break;
  }
  return recordsPage({ run, wanted, verdicts: found, next: key });
}

function verdictNamed(text: string): VerdictName {
  const found = VERDICTS.find((name) => name === text);
  if (found === undefined) throw new PageError(400, 'Not understood', 'There is no such verdict.');
  return found;
}

/** What can be an id at all; the store would refuse others. */
const ID = /^[\x21-\x7e]{1,128}$/;

async function search(context: ConsoleContext, request: Request, response: Response): Promise<void> {
  const asked = queryText(request, 'q')?.trim() ?? null;
  const found =
    asked !== null && ID.test(asked) ? await context.patience.inTime(() => find(context, asked)) : null;
  if (found !== null) return response.redirect(303, found);
  await show(context, response, { title: 'Members', section: '/users' }, searchPage(asked));
}

/** The address of the member's page. */
async function find(context: ConsoleContext, id: string): Promise<string | null> {
  const { stores } = context;
  const { subscriptions, malformed } = await stores.subscriptions.listByUserID(id);
  if (subscriptions.length + malformed.length > 0) return `/users/${encodeURIComponent(id)}`;
  const record = await recordNamed(stores, id);
  if (record !== null)
    return `/users/${encodeURIComponent(record.userId)}?record=${encodeURIComponent(record.subscriptionId)}`;
  return findFloats(context, id);
}

/** Also of a row that cannot be read it is known whose it is, and the member's page tells of it. */
async function recordNamed(
  { subscriptions }: ConsoleContext['stores'],
  id: string,
): Promise<MalformedRowError['row'] | null> {
  try {
    return await subscriptions.getByID(id);
  } catch (error) {
    if (error instanceof MalformedRowError) return error.row;
    throw error;
  }
}

/** A float is known by its id, and by the name that runs and the audit give it; and members may have nothing else. */
async function findFloats({ stores, patience }: ConsoleContext, id: string): Promise<string | null> {
  const found = await patience.ask(() => stores.floats.get(floatIdOf(id) ?? (id as FloatId)));
  const float = found?.value ?? null;
  if (float !== null) return floatUrl(float);
  const listed = await patience.ask(() => stores.floats.listByUserID(id as UserId));
  if (listed !== null && listed.value.floats.length > 0) return `/users/${encodeURIComponent(id)}`;
  return findRecurring({ stores, patience }, id);
}

/** The same of what accounts pay for. */
async function findRecurring(
  { stores, patience }: Pick<ConsoleContext, 'stores' | 'patience'>,
  id: string,
): Promise<string | null> {
  const payment = recurringOf(id);
  const accountId = payment?.accountId ?? (id as AccountId);
  const found = await patience.ask(() => stores.recurring.getSubscriptionsByAccount(accountId));
  const isKnown = found !== null && found.value.subscriptions.length > 0;
  return isKnown ? recurringUrl(accountId, payment?.recurringId) : null;
}

async function member(context: ConsoleContext, request: Request, response: Response): Promise<void> {
  const userId = String(request.params['userId']) as UserId;
  if (!ID.test(userId)) throw notThere('There is no such member.', '/users');
  // Before the records: where it has ended, they show what came of it.
  const requestId = queryText(request, 'request');
  const ordered = await context.patience.inTime(() => requestOf(context, requestId, userId));
  const asked = { userId, ...lookedAt(request) };
  const found = await readMember(context, asked);
  const { view, advances } = found;
  if (view.records.length + view.malformed.length === 0 && !hasFloats(advances))
    throw notThere('There is no such member.', '/users');
  const frame = {
    title: `Member ${userId}`,
    section: '/users',
    topics: [...(ordered === null ? [] : [`request:${ordered.requestId}`]), memberTopic(asked)],
    mark: memberMark(found),
    notice: noticeOf(request),
  } as const;
  const shown = { ...view, request: ordered, mayAct: mayAct(response) };
  await show(context, response, frame, userPage(shown, memberFloats(advances)));
}

interface MemberAsked {
  readonly userId: UserId;
  /** The record, or the float, whose story is told. Null: the one that most questions are about. */
  readonly record: string | null;
  readonly float: FloatId | null;
}

/** What is shown of a member to every viewer. */
interface Member {
  readonly view: Omit<UserView, 'request' | 'mayAct'>;
  readonly advances: MemberFloats;
}

const memberTopic = ({ userId, record, float }: MemberAsked): string =>
  `member:${new URLSearchParams({ user: userId, record: record ?? '', float: float ?? '' }).toString()}`;

function memberAsked(topic: string): MemberAsked {
  const asked = new URLSearchParams(topic);
  const named = (name: string): string | null => asked.get(name) || null;
  return {
    userId: (named('user') ?? '') as UserId,
    record: named('record'),
    float: named('float') as FloatId | null,
  };
}

async function readMember(context: ConsoleContext, { userId, record, float }: MemberAsked): Promise<Member> {
  const { stores, clock, patience } = context;
  const { subscriptions, malformed } = await patience.inTime(() => stores.subscriptions.listByUserID(userId));
  const advances = await readMemberFloats(context, userId, float, record !== null);
  const looked = record ?? (float === null ? newestDue(subscriptions, clock.now()) : null);
  const explanation =
    looked === null
      ? null
      : await explain({ ...stores, clock }, { userId, subscriptionId: looked as SubscriptionId });
  return { view: { userId, records: subscriptions, malformed, explanation }, advances };
}

const memberMark = ({ view, advances }: Member): Html =>
  markOf(userPage({ ...view, request: null, mayAct: false }, memberFloats(advances)));

/** The period that most questions are about: the last one that was due, or else the first. */
function newestDue(
  records: readonly { readonly subscriptionId: string; readonly billingDate: Instant }[],
  now: Instant,
): string | null {
  const due = records.filter(({ billingDate }) => billingDate <= now).at(-1) ?? records[0];
  return due?.subscriptionId ?? null;
}

async function requestOf(
  { stores }: ConsoleContext,
  requestId: string | null,
  userId: UserId,
): Promise<CollectionRequest | null> {
  const request = requestId === null ? null : await findRequest(stores, requestId);
  return request?.userId === userId ? request : null;
}

const TOPIC = /^(banner|today|forecast|floats|(run|request|member):[\x21-\x7e]{1,400})$/;

function listen({ live, nowMs }: ConsoleContext, request: Request, response: Response): void {
  const asked = [request.query['topic'] ?? []].flat().map(String);
  const topics = [...new Set(asked)].filter((topic) => TOPIC.test(topic)).slice(0, MOST_TOPICS);
  const { expiresAtMs } = sessionOf(response);
  if (!live.listen(response, topics, Math.max(0, expiresAtMs - nowMs())))
    throw new PageError(503, 'Too many listen', 'Load the page again later.');
}

/** What belongs to a topic, rendered for all who listen to it: nothing in it depends on the viewer. */
export async function renderTopic(context: ConsoleContext, topic: string): Promise<Fragments> {
  const [kind = '', ...rest] = topic.split(':');
  const id = rest.join(':');
  const { patience } = context;
  switch (kind) {
    case 'banner':
      return { banner: outageBanner(await context.health())?.toString() ?? '' };
    case 'today':
      return todayFragments(await today(context));
    case 'floats':
      return floatsFragments(await floats(context));
    case 'forecast':
      return Object.fromEntries(
        (await context.forecasts.list()).map((each) => [
          `forecast-${each.process}`,
          forecastPart(each).toString(),
        ]),
      );
    case 'run': {
      const run =
        parseRunId(id) === null ? null : await patience.inTime(() => context.stores.runs.get(id as RunId));
      return run === null ? {} : { run: runReport(await context.overview.progressOf(run)).toString() };
    }
    case 'request': {
      const request = await patience.inTime(() => findRequest(context.stores, id));
      return request === null ? {} : { request: requestPart(request).toString() };
    }
    case 'member': {
      const asked = memberAsked(id);
      if (!ID.test(asked.userId)) return {};
      return { mark: memberMark(await patience.inTime(() => readMember(context, asked))).toString() };
    }
    default:
      return {};
  }
}
