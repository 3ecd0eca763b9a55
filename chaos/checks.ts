import type { Promised, PutEvent } from './book.ts';

/*
 * What must not have happened, decided from what was written down and what can be read. Pure, and on purpose without any
 * code of the pipeline or of its audit: the two are to come to the same end by different ways.
 */

/** Money that moved, as the bank has it. An ACH entry is sent first, and debits when it settles. */
export interface LedgerLine {
  readonly effect: 'sent' | 'debit' | 'credit';
  readonly kind: string;
  readonly reference_id: string;
  /** The bank's name for the payment. */
  readonly confirmation_id: string;
}

const BALANCE: Record<LedgerLine['effect'], number> = { sent: 0, debit: 1, credit: -1 };

/**
 * References that were debited while an earlier debit stood, in the order of the ledger: that one of the two was given
 * back later does not make it good.
 */
export function doubleDebits(ledger: readonly LedgerLine[]): string[] {
  const standing = new Map<string, number>();
  const doubled: string[] = [];
  for (const { effect, kind, reference_id } of ledger) {
    const what = `${kind} ${reference_id}`;
    // What was given back too often makes no room for a debit more.
    const now = Math.max(0, (standing.get(what) ?? 0) + BALANCE[effect]);
    standing.set(what, now);
    if (effect === 'debit' && now > 1) doubled.push(what);
  }
  return doubled;
}

/** What the bank must have of a period that is said to be paid, or on its way. */
const BEHIND: Readonly<Record<string, readonly LedgerLine['effect'][]>> = {
  COMPLETED: ['debit'],
  ACHSENT: ['sent', 'debit'],
};

/** Periods that count as paid, or on their way, while the bank has no money for them that it did not give back. */
export function unpaidPeriods(
  rows: readonly Row[],
  ledger: readonly LedgerLine[],
  paidBefore: ReadonlySet<string>,
): string[] {
  const stands = standingAt(ledger);
  return rows
    .filter(({ status, subscriptionId: id }) => {
      const needed = BEHIND[status];
      if (needed === undefined || paidBefore.has(id)) return false;
      return !needed.some((effect) => stands.has(`${effect} SUBSCRIPTION ${id}`));
    })
    .map(({ subscriptionId, status }) => `${subscriptionId} is ${status}`);
}

/** The last that happened to each payment, named by effect, kind and reference. */
function standingAt(ledger: readonly LedgerLine[]): Set<string> {
  const last = new Map(ledger.map((line) => [line.confirmation_id, line]));
  return new Set(
    [...last.values()].map(({ effect, kind, reference_id }) => `${effect} ${kind} ${reference_id}`),
  );
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

/** In quarantine although nothing is wrong with them: a dependency was down, and a worker counted that as a failed try. */
export const heldBackEvents = (put: readonly PutEvent[], { quarantined }: DealtWith): PutEvent[] =>
  put.filter((event) => event.isGood && quarantined.has(eventName(event)));

/** Applied although they cannot be read: a worker made up what they say. */
export const misreadEvents = (put: readonly PutEvent[], { applied }: DealtWith): PutEvent[] =>
  put.filter((event) => !event.isGood && applied.has(eventName(event)));

/**
 * `told`: what the subscriptions stream carried, named by record and time of the change. What a record is now must be
 * among it.
 */
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

/** What a caller who asks after a promise hears. Null: it is unknown. */
export interface Outcome {
  readonly status: string;
  readonly outcome: string | null;
  /** What was to be paid, by kind and reference as the bank has them. A run is about nothing in particular. */
  readonly about: string | null;
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

/** What the bank must have had of a promise that ended so. What was sent may have come back since. */
const TAKEN: Readonly<Record<string, readonly LedgerLine['effect'][]>> = {
  collected: ['debit'],
  sent: ['sent', 'debit', 'credit'],
};

/** Those whose callers heard that money was taken, and the bank does not know of it. */
export function unpaidRequests(
  promised: readonly Promised[],
  outcomes: ReadonlyMap<string, Outcome | null>,
  ledger: readonly LedgerLine[],
): Promised[] {
  const stands = standingAt(ledger);
  return promised.filter(({ statusUrl }) => {
    const heard = outcomes.get(statusUrl);
    const needed = TAKEN[heard?.outcome ?? ''];
    return needed !== undefined && !needed.some((effect) => stands.has(`${effect} ${heard?.about}`));
  });
}

/** How many promises came to which end, for people: a storm without payments proves little. */
export function endings(
  promised: readonly Promised[],
  outcomes: ReadonlyMap<string, Outcome | null>,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { what, statusUrl } of promised) {
    const { status = 'not known', outcome = null } = outcomes.get(statusUrl) ?? {};
    const ending = [`${what} ${status}`, ...(outcome === null ? [] : [outcome])].join(': ');
    counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  return counts;
}

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

/** Periods that were due and that the last run did not try, and members of whom no further period is to come. */
export const lostPeriods = (rows: readonly Row[], lastRun: LastRun): string[] => [
  ...rows
    .filter((row) => wasForgotten(row, lastRun))
    .map(({ subscriptionId }) => `${subscriptionId} was due and not tried`),
  ...chainsOf(rows)
    .filter(endsTooSoon)
    .map((chain) => `${chain.at(-1)?.subscriptionId} is the last of a member who has not left`),
];

/** Earlier attempts do not matter: a SCHEDULED record that is due needs a verdict of the last run that lets it wait. */
function wasForgotten({ status, billingDate, subscriptionId }: Row, { tick, verdicts }: LastRun): boolean {
  if (status !== 'SCHEDULED' || billingDate >= tick) return false;
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

/** The last runs over what is owed: one tries it again, the other writes off what is too old for that. */
export interface LastDebtRuns {
  /** When the first of them began. */
  readonly beganMs: number;
  /** What either has left a verdict on, whichever. */
  readonly considered: ReadonlySet<string>;
}

/** Debts that neither run looked at. What became one since they began is for the next. */
export const forgottenDebts = (rows: readonly Row[], { beganMs, considered }: LastDebtRuns): string[] =>
  rows
    .filter(({ status, lastRunDate }) => status === 'ERROR' && Date.parse(lastRunDate) < beganMs)
    .filter(({ subscriptionId }) => !considered.has(subscriptionId))
    .map(({ subscriptionId }) => `${subscriptionId} is owed and no run looked at it`);

/** Periods to come of members who have closed their account, which is known. */
export function periodsAfterClosing(
  rows: readonly Row[],
  put: readonly PutEvent[],
  { applied }: DealtWith,
): string[] {
  const closings = put.filter((event) => event.type === 'CLOSEACCOUNT' && applied.has(eventName(event)));
  const gone = new Set(closings.map(({ userId }) => userId));
  return rows
    .filter(({ userId, status }) => gone.has(userId) && TO_COME.includes(status))
    .map(({ subscriptionId, status }) => `${subscriptionId} is ${status}`);
}
