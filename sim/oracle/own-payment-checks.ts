import type { Asked } from './asked.ts';
import type { Change, Item } from './items.ts';
import { cents, isAttempt, isLeaving, isToCome, isUntried, ms, resolutionOf, text } from './items.ts';
import { priceOf, prorationOf } from './prices.ts';
import type { Report } from './verdict.ts';

/** What one request has changed, and when it was sent. */
interface Along {
  readonly rows: readonly Change[];
  readonly history: readonly Change[];
  readonly sentMs: number;
}

const CLOSED = 'account-closed';
const DAY_MS = 86_400_000;
/** So far clocks may be off, and so long ago may be what was read: near midnight two processes may mean two days. */
const CLOCK_MS = 3_600_000 + 120_000;

/**
 * Payments that members ask for and that make their own record: coming back, and what a better plan costs until the next
 * period. And what members pay from then on.
 */
export class OwnPaymentChecks {
  private readonly report: Report;
  private readonly asked: Asked;
  private readonly rowsOf: (userId: string) => readonly Item[];
  private readonly isOpen: (recordId: string) => boolean;
  /** By record: what is due for it, where that is not what a membership costs. */
  private readonly prorations = new Map<string, number>();
  /** By record of a way back: what had been billed when it was asked for. */
  private readonly billedThen = new Map<string, ReadonlySet<string>>();

  constructor(
    report: Report,
    parts: {
      readonly asked: Asked;
      readonly rowsOf: (userId: string) => readonly Item[];
      readonly isOpen: (recordId: string) => boolean;
    },
  ) {
    this.report = report;
    this.asked = parts.asked;
    this.rowsOf = parts.rowsOf;
    this.isOpen = parts.isOpen;
  }

  /** What a record of this kind costs. */
  priceOf(row: Item): number | undefined {
    const own = this.prorations.get(text(row, 'subscription_id'));
    return own ?? priceOf(text(row, 'receipt_tier_name'), text(row, 'term'));
  }

  look(attempts: readonly Change[], along: Along): void {
    for (const { before, after } of attempts) {
      const isCharge = after !== null && isAttempt(after) && after['refundOf']?.S === undefined;
      if (!isCharge || before === null || resolutionOf(before) !== '') continue;
      if (resolutionOf(after) === 'COMPLETED') this.paid(after, attempts, along);
    }
    for (const { after } of along.history)
      if (text(after, 'data_cause') === 'plan-changed' && after !== null) this.planChanged(after);
  }

  /** An attempt that brought its record into the world. */
  opened(attempt: Item, born: Item, sentMs: number): void {
    if (text(born, 'billing_status') !== 'CANCELLED')
      this.wrong(attempt, `was opened on a new record that is ${text(born, 'billing_status')}`);
    if (cents(text(born, 'billing_amount')) !== cents(text(attempt, 'amount')))
      this.wrong(attempt, 'was opened for another amount than its record says');
    if (attempt['upgrades']?.M !== undefined)
      this.upgradeOpened(attempt, attempt['upgrades'].M, born, sentMs);
    else if (text(attempt, 'process') === 'REACTIVATION') this.comeBackOpened(attempt, born, sentMs);
    else this.wrong(attempt, 'was opened on a new record, and nobody comes back or wants another plan');
  }

  private comeBackOpened(attempt: Item, born: Item, sentMs: number): void {
    const userId = text(attempt, 'userId');
    if (!this.asked.has('come-back', userId, text(attempt, 'triggerId')))
      this.wrong(attempt, 'is of a member who has not asked to come back');
    if (cents(text(attempt, 'amount')) !== priceOf(text(born, 'receipt_tier_name'), text(born, 'term')))
      this.wrong(
        attempt,
        `was opened for ${text(attempt, 'amount')}, which is not what the membership costs`,
      );
    for (const row of this.rowsOf(userId)) {
      const recordId = text(row, 'subscription_id');
      if (isToCome(row) && !isLeaving(row))
        this.wrong(attempt, `was opened beside ${recordId}, which is to come`);
      if (isTakenAhead(row, sentMs))
        this.wrong(attempt, `was opened beside ${recordId}, which is paid ahead`);
      const isOver = isToCome(row) || text(row, 'updated_event') === CLOSED;
      if (isOver && recordId !== text(born, 'subscription_id') && this.isOpen(recordId))
        this.wrong(attempt, `was opened while a charge of ${recordId} has no answer`);
    }
    this.billedThen.set(text(born, 'subscription_id'), billedOf(this.rowsOf(userId)));
  }

  private upgradeOpened(attempt: Item, upgrades: Item, born: Item, sentMs: number): void {
    const [userId, amount] = [text(attempt, 'userId'), cents(text(attempt, 'amount'))];
    this.prorations.set(text(born, 'subscription_id'), amount);
    if (!this.asked.has('upgrade', userId, text(attempt, 'triggerId')))
      this.wrong(attempt, 'is an upgrade that nobody asked for');
    const period = this.rowsOf(userId).find(
      (row) => text(row, 'subscription_id') === text(upgrades, 'subscriptionId'),
    );
    if (period === undefined) return this.wrong(attempt, 'is for a period that is not there');
    if (text(period, 'billing_status') !== 'SCHEDULED' || isLeaving(period) || !isUntried(period))
      this.wrong(attempt, 'is for a period that has no price to change');
    if (this.isOpen(text(period, 'subscription_id')))
      this.wrong(attempt, 'is for a period whose charge has no answer');
    const tier = text(born, 'receipt_tier_name');
    if (cents(text(upgrades, 'amount')) !== priceOf(tier, text(period, 'term')))
      this.wrong(attempt, `is for ${text(upgrades, 'amount')} a period, which ${tier} does not cost`);
    if (cents(text(upgrades, 'amount')) <= cents(text(period, 'billing_amount')))
      this.wrong(attempt, 'is an upgrade to what costs no more');
    const upcomingMs = ms(text(period, 'billing_date'));
    const rightful = [sentMs, sentMs - DAY_MS, sentMs + DAY_MS].map((at) =>
      prorationOf(tier, at, upcomingMs),
    );
    const isMidnight = Math.abs((sentMs % DAY_MS) - DAY_MS / 2) > DAY_MS / 2 - CLOCK_MS;
    if (!(isMidnight ? rightful : rightful.slice(0, 1)).includes(amount))
      this.wrong(attempt, `costs ${amount} cents, and the rest of the period ${rightful[0]}`);
  }

  /** Paid: the member has what it was paid for with the same request, or is given it back. */
  private paid(attempt: Item, attempts: readonly Change[], along: Along): void {
    const recordId = text(attempt, 'subscriptionId');
    const row = along.rows.find(({ after }) => text(after, 'subscription_id') === recordId);
    if (attempt['upgrades']?.M !== undefined)
      return this.upgradePaid(attempt, attempt['upgrades'].M, attempts, row?.after ?? null);
    const isOwn = text(attempt, 'process') === 'REACTIVATION';
    if (!isOwn || row?.before === undefined) return;
    const rows = this.rowsOf(text(attempt, 'userId'));
    const goesBack = isGivenBack(recordId, attempts);
    const isBilled = this.wasBilledBeside(recordId, rows) || this.isPaidBeside(recordId, rows, along.rows);
    if (isBilled !== goesBack)
      this.wrong(attempt, goesBack ? 'is given back, and nothing else was billed' : 'was paid twice');
    const toCome = rows.filter(isToCome);
    const isClosed = text(row.before, 'updated_event') === CLOSED;
    if (!goesBack && !isClosed && toCome.length !== 1)
      this.wrong(attempt, `brought the member back, and ${toCome.length} periods are to come`);
  }

  /** Since the member had asked to come back something else was billed. */
  private wasBilledBeside(recordId: string, rows: readonly Item[]): boolean {
    const then = this.billedThen.get(recordId);
    return [...billedOf(rows)].some((id) => id !== recordId && then?.has(id) === false);
  }

  /**
   * A period that was not billed before has a charge without an answer: it is to come, until this very change perhaps, or was
   * until the account was closed.
   */
  private isPaidBeside(recordId: string, rows: readonly Item[], changed: readonly Change[]): boolean {
    const befores = new Map(changed.map(({ before, after }) => [text(after, 'subscription_id'), before]));
    return rows.some((row) => {
      const id = text(row, 'subscription_id');
      const before = befores.get(id) ?? row;
      return id !== recordId && isUntried(before) && isYetToBe(before) && this.isOpen(id);
    });
  }

  private upgradePaid(attempt: Item, upgrades: Item, attempts: readonly Change[], own: Item | null): void {
    const recordId = text(attempt, 'subscriptionId');
    const goesBack = isGivenBack(recordId, attempts);
    const isUpgraded = this.rowsOf(text(attempt, 'userId')).some(
      (row) =>
        text(row, 'subscription_id') === text(upgrades, 'subscriptionId') &&
        text(row, 'receipt_tier_name') === text(own, 'receipt_tier_name') &&
        cents(text(row, 'billing_amount')) === cents(text(upgrades, 'amount')),
    );
    if (isUpgraded === goesBack)
      this.wrong(attempt, isUpgraded ? 'is given back, and the plan is changed' : 'was paid for nothing');
  }

  private planChanged(row: Item): void {
    const [userId, tier] = [text(row, 'user_id'), text(row, 'receipt_tier_name')];
    const of = { rule: '6', userId, recordId: text(row, 'subscription_id') };
    if (!this.asked.has('plan', userId, tier))
      this.report({ ...of, detail: `nobody asked for the plan ${tier}` });
    if (cents(text(row, 'billing_amount')) !== priceOf(tier, text(row, 'term')))
      this.report({ ...of, detail: `${text(row, 'billing_amount')} is not what ${tier} costs` });
  }

  private wrong(attempt: Item, detail: string): void {
    const [userId, recordId] = [text(attempt, 'userId'), text(attempt, 'subscriptionId')];
    const name = text(attempt, 'attemptId').slice(0, 12);
    this.report({ rule: '6', userId, recordId, detail: `attempt ${name} ${detail}` });
  }
}

/** A refund begins with the answer to the charge. */
const isGivenBack = (recordId: string, attempts: readonly Change[]): boolean =>
  attempts.some(
    ({ before, after }) =>
      before === null && text(after, 'subscriptionId') === recordId && after?.['refundOf']?.S !== undefined,
  );

const billedOf = (rows: readonly Item[]): ReadonlySet<string> =>
  new Set(rows.filter((row) => !isUntried(row)).map((row) => text(row, 'subscription_id')));

const isYetToBe = (row: Item): boolean =>
  isToCome(row) || (text(row, 'billing_status') === 'CANCELLED' && isOfTheChain(row));

/** Payments of their own have the second of asking for a date. */
const isOfTheChain = (row: Item): boolean => text(row, 'billing_date').endsWith('T06:00:00Z');

/** A period that was paid, or tried to be had, before it begins. */
const isTakenAhead = (row: Item, nowMs: number): boolean =>
  ['COMPLETED', 'ACHSENT', 'ERROR'].includes(text(row, 'billing_status')) &&
  isOfTheChain(row) &&
  ms(text(row, 'billing_date')) > nowMs + CLOCK_MS;
