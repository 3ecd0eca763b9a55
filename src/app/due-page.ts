import type { Instant } from '../domain/instant.ts';
import { plusMs } from '../domain/instant.ts';
import { dateOf } from '../domain/calendar-date.ts';
import type { FloatRange } from '../domain/floats/due.ts';
import { floatRanges } from '../domain/floats/due.ts';
import { recordIdOf } from '../domain/floats/record-id.ts';
import type { FloatProcess } from '../domain/floats/runs.ts';
import { STAGE_OF_RUN, isFloatProcess } from '../domain/floats/runs.ts';
import { payerOf, recurringRecordId } from '../domain/recurring/record-id.ts';
import type { RecurringProcess } from '../domain/recurring/runs.ts';
import { isRecurringProcess } from '../domain/recurring/runs.ts';
import type { CollectionPolicy } from '../domain/policy.ts';
import { PATHS } from '../domain/paths.ts';
import type { BillingProcess, RunProcess } from '../domain/runs.ts';
import { PATH_OF_RUN, dueRange, isBilling, runId } from '../domain/runs.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { MalformedRowError } from '../errors.ts';
import type { FloatsRepository } from '../ports/floats.ts';
import type { PipelineStore } from '../ports/pipeline.ts';
import type { RecordRef, RunStore } from '../ports/runs.ts';
import type { DueDays } from './recurring/due-days.ts';
import { LIST_OF_RUN, readDueDays } from './recurring/due-days.ts';
import type { PageKey, SubscriptionPage, SubscriptionsRepository } from '../ports/subscriptions.ts';

export interface DueSources {
  readonly runs: Pick<RunStore, 'resumes'>;
  readonly subscriptions: SubscriptionsRepository;
  readonly floats: Pick<FloatsRepository, 'due'>;
  readonly pipeline: Pick<PipelineStore, 'readBackground'>;
  readonly recurring: DueDays;
  readonly policy: CollectionPolicy;
}

interface ListPage {
  readonly records: readonly RecordRef[];
  readonly malformed: readonly MalformedRowError[];
  readonly nextKey: PageKey | null;
}

export interface DuePage extends ListPage {
  /** Which of the run's lists it is of; `resumes` are due because their members asked for it. */
  readonly list: string;
}

/** What a run reads, named so that its cursor can tell where in which list it stands. */
interface DueList {
  readonly name: string;
  readonly read: (key: PageKey | null) => Promise<ListPage>;
}

export interface DueQuery<P extends RunProcess = RunProcess> {
  readonly process: P;
  readonly tick: Instant;
  /** Null: not yet. */
  readonly startedAt: Instant | null;
}

/**
 * So many empty pages are passed in one go: lists and their parts are mostly empty, and a page of its own costs each a job
 * and two writes. Not more: where an old index must be sifted, a run has to note how far it has come.
 */
const MOST_EMPTY_PAGES = 20;

/** What a run of that process and tick considers, a page at a time, list after list. A forecast reads the same. */
export async function readDuePage(
  sources: DueSources,
  { cursor, ...query }: DueQuery & { readonly cursor: PageKey | null },
): Promise<DuePage> {
  const lists = listsOf(sources, query);
  let page = await readPageAt(lists, cursor);
  for (let passed = 0; passed < MOST_EMPTY_PAGES && isEmpty(page) && page.nextKey !== null; passed += 1)
    page = await readPageAt(lists, page.nextKey);
  return page;
}

const isEmpty = ({ records, malformed }: ListPage): boolean => records.length === 0 && malformed.length === 0;

async function readPageAt(lists: readonly [DueList, ...DueList[]], cursor: PageKey | null): Promise<DuePage> {
  const { list, key, following } = placeIn(lists, cursor);
  const page = await list.read(key);
  const startOfNext = following === undefined ? null : cursorIn(following, '');
  const isFirst = list === lists[0];
  const nextKey = page.nextKey === null || isFirst ? page.nextKey : cursorIn(list, page.nextKey);
  return { ...page, list: list.name, nextKey: nextKey ?? startOfNext };
}

/** The first list's keys stand for themselves; those of the others carry their list's name. */
const cursorIn = ({ name }: DueList, key: string): PageKey => `${name}:${key}` as PageKey;

function placeIn(
  lists: readonly [DueList, ...DueList[]],
  cursor: PageKey | null,
): { readonly list: DueList; readonly key: PageKey | null; readonly following: DueList | undefined } {
  const found = lists.findIndex((list, at) => at > 0 && cursor?.startsWith(cursorIn(list, '')) === true);
  const [list, at] = [lists[found], found];
  if (list === undefined) return { list: lists[0], key: cursor, following: lists[1] };
  const key = cursor?.slice(cursorIn(list, '').length) ?? '';
  return { list, key: key === '' ? null : (key as PageKey), following: lists[at + 1] };
}

function listsOf(sources: DueSources, query: DueQuery): readonly [DueList, ...DueList[]] {
  const { process, tick, startedAt } = query;
  if (isFloatProcess(process)) return floatLists(sources, { process, tick, startedAt });
  if (isRecurringProcess(process)) return [recurringList(sources, { process, tick, startedAt })];
  const range: DueList = {
    name: 'range',
    read: (key) => readBilling(sources, { process, tick, startedAt }, key),
  };
  return process === 'pause'
    ? [range, { name: 'resumes', read: (key) => readResumes(sources, key) }]
    : [range];
}

const recurringList = (
  { recurring }: DueSources,
  { process, tick }: DueQuery<RecurringProcess>,
): DueList => ({
  name: LIST_OF_RUN[process],
  async read(cursor) {
    const query = { list: LIST_OF_RUN[process], today: dateOf(tick), cursor };
    const { due, malformed, nextKey } = await readDueDays(recurring, query);
    const records = due.map((ref) => ({
      userId: payerOf(ref.accountId),
      subscriptionId: recurringRecordId(ref),
    }));
    return { records, malformed, nextKey };
  },
});

async function readBilling(
  sources: DueSources,
  query: DueQuery<BillingProcess | 'notify'>,
  key: PageKey | null,
): Promise<ListPage> {
  const { subscriptions, malformed, nextKey } = await readRange(sources, query, key);
  const records = subscriptions
    .filter((record) => wasDue(query, record))
    .map(({ userId, subscriptionId }) => ({ userId, subscriptionId }));
  return { records, malformed, nextKey };
}

/**
 * What turned into an error while the run was under way is for tomorrow's: another run has just tried it, or the bank has
 * just sent it back. What this run itself has begun on is its own.
 */
function wasDue(
  { process, startedAt }: DueQuery<BillingProcess | 'notify'>,
  { billingStatus, lastRunDate, process: last }: Subscription,
): boolean {
  if (!isBilling(process) || billingStatus !== 'ERROR') return true;
  if (lastRunDate === null || !isSince(startedAt, lastRunDate)) return true;
  const own = PATHS[PATH_OF_RUN[process]].process;
  return own !== null && last === own;
}

/** Stamps run ahead of the clock by nanoseconds, so that each is greater than the one before. */
const isSince = (startedAt: Instant | null, stamp: Instant): boolean =>
  startedAt !== null && stamp > plusMs(startedAt, 1);

async function readResumes({ runs }: DueSources, key: PageKey | null): Promise<ListPage> {
  return { ...(await runs.resumes(key)), malformed: [] };
}

function readRange(
  { subscriptions, policy }: DueSources,
  { process, tick }: DueQuery<BillingProcess | 'notify'>,
  key: PageKey | null,
): Promise<SubscriptionPage> {
  const range = dueRange(process, tick, policy);
  if ('from' in range)
    return subscriptions.getNotificationSubscriptionPage(range.status, range.from, range.before, key);
  if ('after' in range) return subscriptions.getRetrySubscriptionPage(range.after, key);
  if ('upTo' in range) return subscriptions.getStaleSubscriptionPage(range.upTo, key);
  return range.status === 'SCHEDULED'
    ? subscriptions.getScheduledSubscriptionPage(range.before, key)
    : subscriptions.getPausedSubscriptionPage(range.before, key);
}

/** A list for each status that the stage collects. */
function floatLists(sources: DueSources, query: DueQuery<FloatProcess>): readonly [DueList, ...DueList[]] {
  const [first, ...others] = floatRanges(STAGE_OF_RUN[query.process], dateOf(query.tick)).map(
    (range): DueList => ({
      name: range.status,
      read: (key) => readFloats(sources, query, range, key),
    }),
  );
  if (first === undefined) throw new Error(`${query.process} collects floats of no status`);
  return [first, ...others];
}

async function readFloats(
  sources: DueSources,
  query: DueQuery<FloatProcess>,
  range: FloatRange,
  key: PageKey | null,
): Promise<ListPage> {
  const { process, startedAt } = query;
  const page = await sources.floats.due(range, key);
  const records: RecordRef[] = [];
  for (const { userId, floatId, lastRunTime } of page.floats) {
    const record = { userId, subscriptionId: recordIdOf(floatId) };
    const hasMoved = process === 'float-retry' && isSince(startedAt, lastRunTime);
    if (!hasMoved || (await isBegunHere(sources, query, record))) records.push(record);
  }
  return { records, malformed: page.malformed, nextKey: page.nextKey };
}

/**
 * What another run declined, or the bank sent back, while this one was under way is for tomorrow's retry. What this run
 * itself has begun on is its own, until there is an answer: the worker that began may have died.
 */
async function isBegunHere(
  { pipeline }: DueSources,
  { process, tick }: DueQuery<FloatProcess>,
  record: RecordRef,
): Promise<boolean> {
  const triggerId = runId(process, tick);
  const { state } = await pipeline.readBackground({ ...record, triggerId, accountId: null });
  return state.open?.triggerId === triggerId;
}
