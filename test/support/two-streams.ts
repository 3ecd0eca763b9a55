import { randomUUID } from 'node:crypto';
import { HttpService } from '../../src/adapters/services/http.ts';
import { HttpProcessor } from '../../src/adapters/services/processor.ts';
import { aFewAtOnce } from '../../src/app/a-few-at-once.ts';
import { collectSubscription } from '../../src/app/collect-subscription.ts';
import type { CollectAnyDependencies } from '../../src/app/any-product.ts';
import { settleAch } from '../../src/app/settle-ach.ts';
import type { HandledEvent } from '../../src/domain/memberships/membership-event.ts';
import type { Path } from '../../src/domain/paths.ts';
import type { BillingStatus, UserId } from '../../src/domain/subscription.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import type { EventOutcome } from '../../src/ports/inbox.ts';
import type { OnStep } from '../../src/ports/steps.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import type { Violation } from '../../src/audit/violation.ts';
import type { Bench } from '../audit/bench.ts';
import type { MembershipDesk } from './membership-desk.ts';
import type { PaymentDesk } from './payment-desk.ts';
import { at } from './records.ts';
import type { World } from './world.ts';

/**
 * How a member stands when the two events come. This month's period was charged over ACH and the next one is open.
 * Unanswered: whoever charged died before the answer was written down; such a period can be cancelled or paused still.
 */
export const STARTS = [
  'sent',
  'completed',
  'sent and leaving',
  'unanswered',
  'unanswered and paused',
] as const;
export type Start = (typeof STARTS)[number];

/** What the bank says about the charge. */
export const WORDS = ['COMPLETED', 'RETURNED R01', 'RETURNED R02', 'REFUNDED', 'CHARGED_BACK'] as const;
export type Word = (typeof WORDS)[number];

export const ORDERS = ['membership first', 'payment first'] as const;
export type Order = (typeof ORDERS)[number];

/** One member, one event of each stream, one order. */
export interface Pair {
  readonly start: Start;
  readonly membership: HandledEvent;
  readonly word: Word;
  readonly order: Order;
}

export interface Ending extends Pair {
  readonly charged: StoredSubscription;
  readonly membershipOutcome: EventOutcome;
  readonly paymentOutcome: EventOutcome;
  readonly newHistoryRows: number;
  /** The member's records by date, right after both events. */
  readonly after: readonly StoredSubscription[];
  /** The same when the runs of a month have gone over them. */
  readonly monthLater: readonly StoredSubscription[];
}

export interface BothOrders {
  readonly endings: readonly Ending[];
  readonly violations: { readonly after: readonly Violation[]; readonly monthLater: readonly Violation[] };
  /** By record: what the bank has taken and not given back, in cents. */
  readonly keptCents: ReadonlyMap<string, number>;
}

export interface Desks {
  readonly on: Bench;
  readonly memberships: MembershipDesk;
  readonly payments: PaymentDesk;
}

interface TwoStreams extends Desks {
  readonly dependencies: CollectAnyDependencies;
}

/** A Monday, when the period is charged, and what matters after it. */
const CHARGED = at('2026-11-16T08:00:00Z');
/** The entries are complete, and nothing has come back yet that comes late. */
const COMPLETE = at('2026-11-20T08:00:00Z');
const TOLD = at('2026-11-23T08:00:00Z');
/** Late enough to present a returned entry again, too early to write it off. */
const RETRIED = at('2026-11-30T08:00:00Z');
const NEXT_PERIOD = at('2026-12-16T08:00:00Z');

const AT_ONCE = 8;
/** It is the orders that matter here, not a bank that answers late because the machine is busy. */
const PATIENCE_MS = 15_000;
const DIED = 'died';
const ONE_MONTH = { pause_duration_months: 1 };
const DATA: Partial<Record<HandledEvent, object>> = { SUB_PAUSED: ONE_MONTH, RETRACT: { term: 'MONTHLY' } };
const RUN_OF: Partial<Record<BillingStatus, Path>> = {
  ERROR: 'RETRY',
  SCHEDULED: 'INITIAL',
  PAUSED: 'PAUSE',
};

/** Brings every pair to its start, lets its events come in its order, and then the runs of a month. */
export async function liveThrough(desks: Desks, pairs: readonly Pair[]): Promise<BothOrders> {
  const { on } = desks;
  const streams: TwoStreams = { ...desks, dependencies: patient(on.here) };
  await on.at(CHARGED);
  const begun = await aFewAtOnce(AT_ONCE, pairs, (pair) => begin(streams, pair));
  await on.at(COMPLETE);
  const completed = begun.filter(({ start }) => start === 'completed');
  await aFewAtOnce(AT_ONCE, completed, ({ charged }) => settleAch(streams.dependencies, charged));
  await on.at(TOLD);
  await refundAtTheBank(streams, begun);
  const news = await newsFromTheBank(streams);
  const told = await aFewAtOnce(AT_ONCE, begun, (pair) => tell(streams, pair, news));
  const after = (await on.audit()).violations;
  await aMonth(streams, begun);
  const monthLater = (await on.audit()).violations;
  const endings = await aFewAtOnce(AT_ONCE, told, async (pair) => ({
    ...pair,
    monthLater: await on.here.partition(pair.charged.userId),
  }));
  return { endings, violations: { after, monthLater }, keptCents: await moneyKept(streams) };
}

interface Begun extends Pair {
  readonly charged: StoredSubscription;
}

async function begin(streams: TwoStreams, pair: Pair): Promise<Begun> {
  const { here } = streams.on;
  const charged = await here.member({ has_debit_card: false, ...bankScript(pair) });
  if (pair.start.startsWith('unanswered')) await chargeWithoutAnswer(streams, charged);
  else await collect(streams.dependencies, 'INITIAL', charged);
  const { memberships } = streams;
  if (pair.start.endsWith('paused')) await memberships.happens(charged.userId, 'SUB_PAUSED', ONE_MONTH);
  if (pair.start.endsWith('leaving')) await memberships.happens(charged.userId, 'CANCEL');
  return { ...pair, charged };
}

/** What the bank does with the first charge. What comes back of something that was complete comes late. */
function bankScript({ start, word }: Pair): object {
  const [news, code] = word.split(' ');
  if (news === 'CHARGED_BACK') return { charge_back: { after_days: 2, times: 1 } };
  if (news !== 'RETURNED') return {};
  return start === 'completed'
    ? { late_return: { code, after_days: 2, times: 1 } }
    : { ach: { mode: 'return', code, times: 1 } };
}

/** The bank has the charge; whoever sent it died before it could write that down. */
async function chargeWithoutAnswer({ dependencies }: TwoStreams, record: StoredSubscription): Promise<void> {
  const onStep: OnStep = (step) => {
    if (step === 'charged') throw new Error(DIED);
  };
  const ended = await collect({ ...dependencies, onStep }, 'INITIAL', record).catch(
    (error: unknown) => (error as Error).message,
  );
  if (ended !== DIED) throw new Error(`it should have died: ${JSON.stringify(ended)}`);
}

async function collect(
  dependencies: CollectAnyDependencies,
  path: Path,
  { userId, subscriptionId }: StoredSubscription,
): Promise<Verdict> {
  const request = { path, userId, subscriptionId, triggerId: `trigger-${randomUUID()}`, run: undefined };
  const result = await collectSubscription(dependencies, request);
  if ('busy' in result) throw new Error('somebody else works on this member');
  return result.verdict;
}

function patient(here: World): CollectAnyDependencies {
  const service = new HttpService({ url: here.url, name: 'payments service', timeoutMs: PATIENCE_MS });
  const processor = new HttpProcessor(service);
  return { ...here.dependencies, processor, processorTimeoutMs: PATIENCE_MS };
}

/** What the bank would publish, by record and type. */
type BankNews = ReadonlyMap<string, { readonly type: string; readonly data: Record<string, unknown> }>;

interface LedgerLine {
  readonly reference_id: string;
  readonly effect?: 'debit' | 'credit';
  readonly amount?: string;
  readonly event?: { readonly type: string; readonly data: Record<string, unknown> };
}

async function ledger({ on: { here } }: TwoStreams, filter: string): Promise<LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for (let after: number | null = 0; after !== null;) {
    const path = `/ledger?${filter}&limit=5000&after=${after}`;
    const page = (await here.bank('GET', path)) as { entries: LedgerLine[]; next: number | null };
    lines.push(...page.entries);
    after = page.next;
  }
  return lines;
}

async function newsFromTheBank(streams: TwoStreams): Promise<BankNews> {
  const events = (await ledger(streams, 'type=callback.queued')).flatMap(({ event }) => event ?? []);
  return new Map(events.map((event) => [newsKey(event.data['subscription_id'], event.type), event]));
}

const newsKey = (subscriptionId: unknown, type: string): string => `${String(subscriptionId)} ${type}`;

async function refundAtTheBank(streams: TwoStreams, begun: readonly Begun[]): Promise<void> {
  const news = await newsFromTheBank(streams);
  const refunded = begun.filter(({ word }) => word === 'REFUNDED');
  await aFewAtOnce(AT_ONCE, refunded, ({ charged }) => {
    const paid = news.get(newsKey(charged.subscriptionId, 'SUBSCRIPTION_COMPLETED'));
    return streams.on.refund(String(paid?.data['confirmation_id']));
  });
}

async function tell(streams: TwoStreams, pair: Begun, news: BankNews): Promise<Omit<Ending, 'monthLater'>> {
  const { here } = streams.on;
  const { userId, subscriptionId } = pair.charged;
  const rows = async () => (await here.store.historyRows(userId)).length;
  const event = news.get(newsKey(subscriptionId, `SUBSCRIPTION_${pair.word.split(' ')[0]}`));
  if (event === undefined) throw new Error(`the bank says nothing: ${JSON.stringify(pair)}`);
  const data = DATA[pair.membership] ?? {};
  const membership = () => streams.memberships.happens(userId, pair.membership, data);
  const { processor } = streams.dependencies;
  const payment = async () =>
    streams.payments.apply(await streams.payments.receiveRaw({ ...event, userId }), { processor });

  const before = await rows();
  const isMembershipFirst = pair.order === 'membership first';
  const first = isMembershipFirst ? await membership() : await payment();
  const second = isMembershipFirst ? await payment() : await membership();
  return {
    ...pair,
    membershipOutcome: isMembershipFirst ? first : second,
    paymentOutcome: isMembershipFirst ? second : first,
    newHistoryRows: (await rows()) - before,
    after: await here.partition(userId),
  };
}

/** The runs, each record by itself, and the bank's word about what they send. */
async function aMonth(streams: TwoStreams, begun: readonly Begun[]): Promise<void> {
  const { on } = streams;
  const closed = begun.filter(({ membership }) => membership === 'CLOSEACCOUNT');
  // Where an account was closed the user service says so by then.
  await aFewAtOnce(AT_ONCE, closed, ({ charged: { userId } }) =>
    on.here.bank('PUT', `/sandbox/users/${userId}`, { status: 'PAUSED', has_debit_card: false }),
  );
  for (const day of [RETRIED, NEXT_PERIOD]) {
    await on.at(day);
    await aFewAtOnce(AT_ONCE, begun, ({ charged: { userId } }) => aDayOfRuns(streams, userId));
  }
}

async function aDayOfRuns({ on: { here }, dependencies }: TwoStreams, userId: UserId): Promise<void> {
  for (const record of await here.partition(userId)) {
    const path = RUN_OF[record.billingStatus];
    const isResuming = record.updatedEvent === 'pause-pending-resume';
    if (record.billingStatus === 'ACHSENT') await settleAch(dependencies, record);
    else if (path !== undefined && (isResuming || record.billingDate <= here.now))
      await collect(dependencies, isResuming ? 'PAUSE' : path, record);
  }
}

async function moneyKept(streams: TwoStreams): Promise<Map<string, number>> {
  const kept = new Map<string, number>();
  for (const [effect, sign] of [
    ['debit', 1],
    ['credit', -1],
  ] as const)
    for (const { reference_id, amount } of await ledger(streams, `effect=${effect}`))
      kept.set(reference_id, (kept.get(reference_id) ?? 0) + sign * Math.round(Number(amount) * 100));
  return kept;
}
