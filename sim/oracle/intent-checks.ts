import type { Change, Item } from './items.ts';
import { cents, ms, text } from './items.ts';
import type { OwnPaymentChecks } from './own-payment-checks.ts';
import type { Report } from './verdict.ts';

/** Whoever looked just before a freeze was acknowledged may still send an intent. */
const FREEZE_GRACE_MS = 2_000;
/** A decision is older than its intent by a lease at most. */
const FACTS_GRACE_MS = 120_000;

/** So old can what a holder of the lock has read be when it writes. */
const LEASE_MS = 35_000;

/** A member has asked for it: to pay, to come back, to have a better plan (which has no name of its own). */
const BY_HAND: ReadonlySet<string> = new Set(['MANUAL_REPAYMENT', 'REACTIVATION', 'NOT_IDENTIFIED']);
const COLLECTABLE: ReadonlySet<string> = new Set(['SCHEDULED', 'ERROR']);

export interface Neighbours {
  readonly status: string | null;
  readonly statusSinceMs: number;
  readonly isEmployee: boolean;
  readonly hasAccount: boolean;
  readonly balanceCents: number;
  readonly balanceSinceMs: number;
}

/** What else the request changed, and when it was sent: what hangs on its way cannot be called back. */
interface Along {
  readonly rows: readonly Change[];
  readonly history: readonly Change[];
  readonly sentMs: number;
}

interface Tried {
  readonly kind: string;
  readonly recordId: string;
  readonly day: string;
}

interface Limit {
  /** What counts together. */
  readonly kind: string;
  readonly most: number;
  readonly perUser: boolean;
}

const SIGNAL: Limit = { kind: 'a signal', most: 2, perUser: false };

/** How often a path may try. Refused balances count as well, and are counted where they are written. */
const PER_DAY: Readonly<Record<string, Limit>> = {
  INITIAL: { kind: 'the first attempt', most: 1, perUser: true },
  RETRY: { kind: 'a retry', most: 1, perUser: false },
  WEBHOOK: SIGNAL,
  WEBHOOK_BALANCE: SIGNAL,
};

/** Two days, and what clocks may differ. */
const SENT_AGAIN_FOR_MS = 51 * 3_600_000;

/** So many working days lie between two presentments of an entry; holidays make it longer. */
const BETWEEN_PRESENTMENTS = 3;
const DAY_MS = 86_400_000;

/** Rule 6: what must stand against an attempt, at the moment at which one is opened. */
export class IntentChecks {
  private readonly report: Report;
  private readonly nowMs: () => number;
  private readonly neighboursOf: (userId: string) => Neighbours;
  private readonly own: OwnPaymentChecks;
  /** Members of whom an event waits, since when. */
  private readonly flagged = new Map<string, number>();
  /** Members of whom an event is in quarantine, since when. */
  private readonly quarantined = new Map<string, number>();
  /** Accounts that their bank wants no more debits to, since when. */
  private readonly blocked = new Map<string, number>();
  /** Since when, by what is frozen. */
  private readonly frozen = new Map<string, number>();
  private readonly open = new Map<string, string>();
  /** By attempt. */
  private readonly openedMs = new Map<string, number>();
  private readonly tried = new Map<string, Tried[]>();
  /** By record: when its newest entry to a bank was opened. */
  private readonly presented = new Map<string, { readonly attemptId: string; readonly atMs: number }>();

  constructor(
    report: Report,
    parts: { readonly nowMs: () => number; readonly neighboursOf: (userId: string) => Neighbours },
    own: OwnPaymentChecks,
  ) {
    this.report = report;
    this.nowMs = parts.nowMs;
    this.neighboursOf = parts.neighboursOf;
    this.own = own;
  }

  freeze(whom: string): void {
    if (!this.frozen.has(whom)) this.frozen.set(whom, this.nowMs());
  }

  lift(whom: string): void {
    this.frozen.delete(whom);
  }

  /** All changes of one request: attempts, and the rows that they are on. */
  look(attempts: readonly Change[], along: Along): void {
    const { rows, history } = along;
    for (const change of attempts) {
      this.noteFlag(change);
      this.noteBlock(change);
    }
    for (const { before, after } of attempts) {
      if (after === null || !text(after, 'sk').startsWith('ATTEMPT#')) continue;
      const isResolved = after['resolution']?.M !== undefined;
      const [recordId, attemptId] = [text(after, 'subscriptionId'), text(after, 'attemptId')];
      if (isResolved && this.open.get(recordId) === attemptId) this.open.delete(recordId);
      if (isResolved) this.noteDecline(after, attempts);
      if (text(after['resolution']?.M ?? null, 'status') === 'FAILED') this.notSent(after);
      if (before === null && !isResolved) this.opened(after, along);
      if (before !== null && text(before, 'sentAgainAt') !== text(after, 'sentAgainAt'))
        this.sentAgain(after, along.sentMs);
    }
    // A decline that turns to the account closes one attempt and opens another: the order of the items does not matter.
    for (const { after } of attempts)
      if (after !== null && text(after, 'sk').startsWith('ATTEMPT#') && after['resolution']?.M === undefined)
        this.hold(after);
    // The period that is opened along with a refusal is born by the same cause, and was not tried.
    const changed = new Set(
      rows.filter(({ before }) => before !== null).map(({ after }) => text(after, 'subscription_id')),
    );
    for (const { after } of history)
      if (text(after, 'data_cause') === 'balance-refused' && changed.has(text(after, 'subscription_id')))
        this.count(after, text(after, 'process'));
  }

  /** Cards without money whose member has an account, and how often that was asked then. */
  readonly secondRail = { declines: 0, turns: 0 };

  private noteDecline(attempt: Item, attempts: readonly Change[]): void {
    const code = text(attempt['resolution']?.M ?? null, 'errorCode');
    const isByHand = BY_HAND.has(text(attempt, 'process'));
    const isNsf = text(attempt, 'rail') === 'PINLESS' && (code === '62' || code === '05');
    if (!isNsf || isByHand || !this.neighboursOf(text(attempt, 'userId')).hasAccount) return;
    this.secondRail.declines += 1;
    if (attempts.some(({ after }) => text(after, 'insteadOf') === text(attempt, 'attemptId')))
      this.secondRail.turns += 1;
  }

  get openAttempts(): ReadonlyMap<string, string> {
    return this.open;
  }

  private noteFlag({ before, after }: Change): void {
    const item = after ?? before;
    const userId = text(item, 'pk').slice('USER#'.length);
    if (text(item, 'sk') === 'MEMBERSHIP') this.note(this.flagged, userId, [before, after]);
    if (text(item, 'sk') === 'QUARANTINED') {
      const held = [before, after].map((one) => (one?.['ids'] === undefined ? null : one));
      this.note(this.quarantined, userId, [held[0] ?? null, held[1] ?? null]);
    }
  }

  /** Since when. */
  private note(list: Map<string, number>, userId: string, [before, after]: [Item | null, Item | null]): void {
    if (after === null) list.delete(userId);
    else if (before === null) list.set(userId, this.nowMs());
  }

  private noteBlock({ before, after }: Change): void {
    if (text(after, 'sk') === 'ACH_BLOCK' && before === null)
      this.blocked.set(text(after, 'pk').slice('ACCOUNT#'.length), this.nowMs());
  }

  private hold(attempt: Item): void {
    const [recordId, attemptId] = [text(attempt, 'subscriptionId'), text(attempt, 'attemptId')];
    const other = this.open.get(recordId);
    if (other !== undefined && other !== attemptId) this.wrong(attempt, `opened while ${other} is open`);
    this.open.set(recordId, attemptId);
  }

  private opened(attempt: Item, { rows, sentMs }: Along): void {
    const isRefund = attempt['refundOf']?.S !== undefined;
    if (isRefund) return;
    this.openedMs.set(text(attempt, 'attemptId'), sentMs);
    this.nothingForbids(attempt, 'opened', sentMs);
    const changed = rows.find(
      ({ after }) => text(after, 'subscription_id') === text(attempt, 'subscriptionId'),
    );
    if (changed === undefined || changed.after === null) return this.wrong(attempt, 'opened on no record');
    const { before: row } = changed;
    this.userMayBeCharged(attempt, sentMs);
    if (row === null) return this.own.opened(attempt, changed.after, sentMs);
    if (!COLLECTABLE.has(text(row, 'billing_status')))
      this.wrong(attempt, `opened on a record that was ${text(row, 'billing_status')}`);
    if (text(row, 'updated_event') === 'PENDING_CANCELLATION')
      this.wrong(attempt, 'opened on a record that is to be cancelled');
    if (text(row, 'updated_event') === 'account-closed')
      this.wrong(attempt, 'opened on a record that was closed with its account');
    if (text(row, 'billing_amount') !== text(attempt, 'amount'))
      this.wrong(attempt, 'opened for another amount than the record says');
    if (cents(text(attempt, 'amount')) !== this.own.priceOf(row))
      this.wrong(attempt, `opened for ${text(attempt, 'amount')}, which is not what the membership costs`);
    this.isDue(attempt, row);
    if (text(attempt, 'rail') === 'ACH') this.present(attempt);
    const isTurn = attempt['insteadOf']?.S !== undefined;
    if (isTurn) return;
    this.canPay(attempt, sentMs);
    this.count(attempt, text(attempt, 'process'));
  }

  /** Whoever opened it may never have sent it: then this is when money moves. Money that goes back may always go. */
  private sentAgain(attempt: Item, sentMs: number): void {
    if (attempt['refundOf']?.S !== undefined) return;
    this.nothingForbids(attempt, 'sent again', sentMs);
    if (sentMs - (this.openedMs.get(text(attempt, 'attemptId')) ?? 0) > SENT_AGAIN_FOR_MS)
      this.wrong(attempt, 'sent again after days');
  }

  /** What stands against it for longer than anybody may not have known. */
  frozenBy(attempt: Item, sentMs: number): string | null {
    const scopes = ['global', text(attempt, 'rail'), `user:${text(attempt, 'userId')}`];
    const isOld = (whom: string): boolean => sentMs - (this.frozen.get(whom) ?? sentMs) > FREEZE_GRACE_MS;
    return scopes.find(isOld) ?? null;
  }

  private nothingForbids(attempt: Item, done: string, sentMs: number): void {
    const userId = text(attempt, 'userId');
    const isOlder = (sinceMs: number | undefined, graceMs: number): boolean =>
      sinceMs !== undefined && sentMs - sinceMs > graceMs;
    const frozen = this.frozenBy(attempt, sentMs);
    if (frozen !== null) this.wrong(attempt, `${done} although ${frozen} is frozen`);
    if (text(attempt, 'rail') === 'ACH' && isOlder(this.blocked.get(text(attempt, 'accountId')), LEASE_MS))
      this.wrong(attempt, `${done} on an account that must not be debited`);
    if (isOlder(this.flagged.get(userId), LEASE_MS))
      this.wrong(attempt, `${done} while an event of the membership waits`);
    if (!BY_HAND.has(text(attempt, 'process')) && isOlder(this.quarantined.get(userId), LEASE_MS))
      this.wrong(attempt, `${done} while an event of the membership is in quarantine`);
  }

  /** Nobody is charged, unless they ask for it, who is known not to have the money: it would cost them a fee. */
  private canPay(attempt: Item, sentMs: number): void {
    const { balanceCents, balanceSinceMs } = this.neighboursOf(text(attempt, 'userId'));
    if (BY_HAND.has(text(attempt, 'process')) || sentMs - balanceSinceMs <= FACTS_GRACE_MS) return;
    if (balanceCents < cents(text(attempt, 'amount')))
      this.wrong(attempt, `opened although the member has ${balanceCents} cents`);
  }

  private present(attempt: Item): void {
    const [recordId, attemptId] = [text(attempt, 'subscriptionId'), text(attempt, 'attemptId')];
    const before = this.presented.get(recordId);
    const atMs = this.nowMs();
    if (before !== undefined && workingDays(before.atMs, atMs) < BETWEEN_PRESENTMENTS)
      this.wrong(attempt, `presented too soon after ${before.attemptId.slice(0, 12)}`);
    this.presented.set(recordId, { attemptId, atMs });
  }

  /** An entry that never left the house is none. */
  private notSent(attempt: Item): void {
    const recordId = text(attempt, 'subscriptionId');
    if (this.presented.get(recordId)?.attemptId === text(attempt, 'attemptId'))
      this.presented.delete(recordId);
  }

  private userMayBeCharged(attempt: Item, sentMs: number): void {
    const { status, statusSinceMs, isEmployee } = this.neighboursOf(text(attempt, 'userId'));
    const isOld = sentMs - statusSinceMs > FACTS_GRACE_MS;
    // PAUSED is who has left: only whoever comes back is charged then.
    const mayBePaused = text(attempt, 'process') === 'REACTIVATION' && status === 'PAUSED';
    if (isOld && status !== 'ACTIVE' && !mayBePaused)
      this.wrong(attempt, `opened although the user is ${status ?? 'unknown'}`);
    if (isEmployee) this.wrong(attempt, 'opened although the user is an employee');
  }

  private isDue(attempt: Item, row: Item): void {
    if (
      !BY_HAND.has(text(attempt, 'process')) &&
      text(attempt, 'process') !== 'PAUSE' &&
      ms(text(row, 'billing_date')) > this.nowMs() + FREEZE_GRACE_MS
    )
      this.wrong(attempt, 'opened before its date');
  }

  private count(item: Item | null, process: string): void {
    const limit = PER_DAY[process];
    if (item === null || limit === undefined) return;
    const userId = text(item, 'userId') || text(item, 'user_id');
    const recordId = text(item, 'subscriptionId') || text(item, 'subscription_id');
    const day = new Date(this.nowMs()).toISOString().slice(0, 10);
    const today = (this.tried.get(userId) ?? []).filter((one) => one.day === day);
    const { kind, most, perUser } = limit;
    const alike = today.filter((one) => one.kind === kind && (perUser || one.recordId === recordId));
    this.tried.set(userId, [...today, { kind, recordId, day }]);
    if (alike.length >= most)
      this.report({ rule: '6', userId, recordId, detail: `${kind} is tried once more on the same day` });
  }

  private wrong(attempt: Item, detail: string): void {
    this.report({
      rule: '6',
      userId: text(attempt, 'userId'),
      recordId: text(attempt, 'subscriptionId'),
      detail: `attempt ${text(attempt, 'attemptId').slice(0, 12)} was ${detail}`,
    });
  }
}

/** Mondays to Fridays after the one day, up to the other. */
function workingDays(fromMs: number, toMs: number): number {
  let count = 0;
  for (let day = Math.floor(fromMs / DAY_MS) + 1; day <= Math.floor(toMs / DAY_MS); day += 1) {
    const weekday = new Date(day * DAY_MS).getUTCDay();
    if (weekday !== 0 && weekday !== 6) count += 1;
  }
  return count;
}
