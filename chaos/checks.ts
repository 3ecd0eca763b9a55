import type { Promised, PutEvent } from './book.ts';

/*
 * What must not have happened, decided from what was written down and what can be read. Pure, and on purpose without any
 * code of the pipeline or of its audit: the two are to come to the same end by different ways.
 */

/** Money that moved, as the bank has it. */
export interface LedgerLine {
  readonly effect: 'debit' | 'credit';
  readonly kind: string;
  readonly reference_id: string;
}

/**
 * References that were debited while an earlier debit stood, in the order of the ledger: that one of the two was given
 * back later does not make it good.
 */
export function doubleDebits(ledger: readonly LedgerLine[]): string[] {
  const standing = new Map<string, number>();
  const doubled: string[] = [];
  for (const { effect, kind, reference_id } of ledger) {
    const what = `${kind} ${reference_id}`;
    const now = (standing.get(what) ?? 0) + (effect === 'debit' ? 1 : -1);
    standing.set(what, now);
    if (effect === 'debit' && now > 1) doubled.push(what);
  }
  return doubled;
}

/** What became of events, named by stream and identity. */
export interface DealtWith {
  readonly applied: ReadonlySet<string>;
  /** And it is said why. */
  readonly quarantined: ReadonlySet<string>;
}

/** Neither applied nor in quarantine. */
export const lostEvents = (put: readonly PutEvent[], { applied, quarantined }: DealtWith): PutEvent[] =>
  put.filter((event) => !applied.has(eventName(event)) && !quarantined.has(eventName(event)));

/** In quarantine although nothing is wrong with them: a dependency was down, and somebody counted that. */
export const heldBackEvents = (put: readonly PutEvent[], { quarantined }: DealtWith): PutEvent[] =>
  put.filter((event) => event.isGood && quarantined.has(eventName(event)));

/** `told`: what others heard of, named by record and time of the change. What a record is now must be among it. */
export const untoldChanges = (rows: readonly Row[], told: ReadonlySet<string>): string[] =>
  rows
    .map(({ subscriptionId, lastRunDate }) => changeName(subscriptionId, lastRunDate))
    .filter((name) => !told.has(name));

export const changeName = (subscriptionId: string, lastRunDate: string): string =>
  `${subscriptionId} ${lastRunDate}`;

export const eventName = ({
  stream,
  identity,
}: {
  readonly stream: string;
  readonly identity: string;
}): string => `${stream} ${identity}`;

/** What somebody who asks after a promise hears. Null: nobody knows of it. */
export interface Outcome {
  readonly status: string;
  readonly outcome: string | null;
}

const ENDED: Record<Promised['what'], readonly string[]> = {
  payment: ['done', 'failed'],
  signal: ['done', 'failed'],
  run: ['complete', 'stopped'],
};

/** `outcomes` by the address at which each was asked after. A payment also has to say what came of it. */
export const lostRequests = (
  promised: readonly Promised[],
  outcomes: ReadonlyMap<string, Outcome | null>,
): Promised[] =>
  promised.filter(({ what, statusUrl }) => {
    const heard = outcomes.get(statusUrl) ?? null;
    if (heard === null || !ENDED[what].includes(heard.status)) return true;
    return what !== 'run' && heard.outcome === null;
  });

/** A billing record as it stands in the table. */
export interface Row {
  readonly userId: string;
  readonly subscriptionId: string;
  readonly status: string;
  /** To the second and in UTC, so that texts sort by time. */
  readonly billingDate: string;
  readonly attempted: boolean;
  readonly updatedEvent: string;
  /** When it was last changed. */
  readonly lastRunDate: string;
}

/** The last run over everything that was due, after the faults. */
export interface LastRun {
  /** Everything before it was due. */
  readonly tick: string;
  /** Its verdict on each record that it considered. */
  readonly verdicts: ReadonlyMap<string, string>;
}

/** Verdicts with which a record that is due may rightly stay as it is: a person must act, or another day come. */
const MAY_WAIT: readonly string[] = ['deferred', 'skipped'];
const TO_COME: readonly string[] = ['SCHEDULED', 'PAUSED'];

/** Periods that were due and that nobody tried, and members of whom no further period is to come. */
export const lostPeriods = (rows: readonly Row[], lastRun: LastRun): string[] => [
  ...rows
    .filter((row) => wasForgotten(row, lastRun))
    .map(({ subscriptionId }) => `${subscriptionId} was due and not tried`),
  ...chainsOf(rows)
    .filter(endsTooSoon)
    .map((chain) => `${chain.at(-1)?.subscriptionId} is the last of a member who has not left`),
];

function wasForgotten(
  { status, attempted, billingDate, subscriptionId }: Row,
  { tick, verdicts }: LastRun,
): boolean {
  if (status !== 'SCHEDULED' || attempted || billingDate >= tick) return false;
  return !MAY_WAIT.includes(verdicts.get(subscriptionId) ?? 'not considered');
}

function chainsOf(rows: readonly Row[]): Row[][] {
  const chains = new Map<string, Row[]>();
  for (const row of rows) chains.set(row.userId, [...(chains.get(row.userId) ?? []), row]);
  return [...chains.values()].map((chain) => chain.sort((a, b) => (a.billingDate < b.billingDate ? -1 : 1)));
}

function endsTooSoon(chain: readonly Row[]): boolean {
  const last = chain.at(-1);
  // A charge that was under way when the account was closed is the last one, and rightly so.
  if (last === undefined || last.status === 'CANCELLED' || last.updatedEvent === 'account-closed')
    return false;
  const tried = chain.findLastIndex(({ attempted }) => attempted);
  return !chain.slice(tried + 1).some(({ status }) => TO_COME.includes(status));
}
