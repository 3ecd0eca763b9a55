import { createHash } from 'node:crypto';
import type { Random } from '../random.ts';
import type { SimMembers } from './sim-members.ts';
import type { Timeline } from './timeline.ts';

/*
 * The bank of the simulation: what the processor knows, and the ledger that the oracle counts in. It shares no code with the
 * rules, nor with the sandbox.
 */

export type Rail = 'PINLESS' | 'ACH';
type Status = 'COMPLETED' | 'ACHSENT' | 'FAILED' | 'REFUNDED' | 'CHARGED_BACK';

export interface BankRequest {
  readonly userId: string;
  readonly reference: string;
  readonly rail: Rail;
  readonly cents: number;
  readonly description: string | null;
}

export interface BankPayment extends BankRequest {
  readonly key: string;
  readonly confirmationId: string;
  status: Status;
  errorCode: string | null;
  errorMessage: string | null;
  /** Money goes back once. */
  isGivenBack: boolean;
  /** Which of its callbacks is the newest that was published. */
  newestTold: number;
}

export interface LedgerEntry {
  readonly effect: 'debit' | 'credit';
  readonly key: string;
  readonly userId: string;
  readonly reference: string;
  readonly rail: Rail;
  readonly cents: number;
  readonly atMs: number;
  /** Of the payment that it belongs to. */
  readonly confirmationId: string;
  /** Of whoever asked for the money back. Null: nobody did. */
  readonly refundKey: string | null;
}

/** How the bank behaves. Chances are per payment. */
export interface BankDial {
  readonly cardDeclines: number;
  readonly achReturns: number;
  /** After it was completed. */
  readonly lateReturns: number;
  readonly chargeBacks: number;
  /** Nothing is ever said about an entry: somebody has to ask. */
  readonly silentEntries: number;
  readonly callbackTwice: number;
  /** Before the answer to the charge is heard. */
  readonly callbackEarly: number;
  /** By up to two days. */
  readonly callbackLate: number;
  /** It does not want to give the money back, and does not say why. */
  readonly refundsRefused: number;
}

interface BankEvent {
  readonly type: string;
  readonly status: 'COMPLETED' | 'FAILED' | 'REFUNDED' | 'CHARGED_BACK';
  readonly returnCode?: string;
}

export interface BankHooks {
  /** A payment that moves money, or back. */
  readonly onLedger: (entry: LedgerEntry) => void;
  /** The same key with another body: somebody retried something else under it. */
  readonly onKeyReused: (key: string, before: BankRequest, now: BankRequest) => void;
  /** What was given back is asked for once more, under another key. */
  readonly onRefundedAgain: (key: string, payment: BankRequest) => void;
  readonly publish: (userId: string, event: object) => void;
  /** Something unpleasant that the bank did. */
  readonly onTrouble: (kind: string) => void;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NSF_CODES = ['62', '05'] as const;
const OTHER_DECLINES = ['14', '51', '91'] as const;
const RETURN_CODES = ['R01', 'R01', 'R01', 'R09', 'R02', 'R03', 'R10', 'R08', 'R16'] as const;
const LATE_CODES = ['R10', 'R05', 'R07', 'R11'] as const;

export class SimBank {
  readonly ledger: LedgerEntry[] = [];
  private readonly payments = new Map<string, BankPayment>();
  private readonly answers = new Map<string, BankPayment>();
  private readonly byConfirmation = new Map<string, BankPayment>();
  private readonly refunds = new Map<string, BankPayment>();
  private readonly timeline: Timeline;
  private readonly random: Random;
  private readonly dial: () => BankDial;
  private readonly members: SimMembers;
  private readonly hooks: BankHooks;
  private told = 0;

  constructor(
    timeline: Timeline,
    random: Random,
    parts: { readonly dial: () => BankDial; readonly members: SimMembers; readonly hooks: BankHooks },
  ) {
    this.timeline = timeline;
    this.random = random;
    this.dial = parts.dial;
    this.members = parts.members;
    this.hooks = parts.hooks;
  }

  charge(key: string, request: BankRequest): BankPayment {
    const known = this.payments.get(key);
    if (known !== undefined) {
      if (!isSame(known, request)) this.hooks.onKeyReused(key, known, request);
      return this.answers.get(key) ?? known;
    }
    const payment = this.take(key, request);
    this.payments.set(key, payment);
    // Asked again it says what it said then, whatever became of the payment.
    const answer = { ...payment };
    this.answers.set(key, answer);
    this.byConfirmation.set(payment.confirmationId, payment);
    if (payment.status === 'COMPLETED') this.book(payment, 'debit');
    // An entry counts from its sending on: one that is on its way and another charge beside it are two.
    if (payment.status === 'ACHSENT') {
      this.book(payment, 'debit');
      this.letSettle(payment);
    }
    if (payment.status === 'COMPLETED' && this.random.chance(this.dial().chargeBacks))
      this.timeline.after(this.days(0.05, 25), () => this.chargeBack(payment));
    return answer;
  }

  refund(key: string, confirmationId: string): BankPayment | null {
    const done = this.refunds.get(key);
    if (done !== undefined) return done;
    const payment = this.byConfirmation.get(confirmationId);
    if (payment === undefined) return null;
    if (payment.status === 'REFUNDED') this.hooks.onRefundedAgain(key, payment);
    const isRefused = this.random.chance(this.dial().refundsRefused);
    if (isRefused) this.hooks.onTrouble('refund-refused');
    const isDone = payment.status === 'COMPLETED' && !payment.isGivenBack && !isRefused;
    const answer: BankPayment = isDone
      ? { ...payment, status: 'COMPLETED' }
      : { ...payment, status: 'FAILED', errorCode: 'not_refundable', errorMessage: 'not refundable' };
    this.refunds.set(key, answer);
    if (isDone) {
      payment.status = 'REFUNDED';
      this.giveBack(payment, key);
      this.tell(payment, { type: 'SUBSCRIPTION_REFUNDED', status: 'REFUNDED' }, this.hours(0, 3));
    }
    return answer;
  }

  findByKey(key: string): BankPayment | null {
    return this.payments.get(key) ?? this.refunds.get(key) ?? null;
  }

  findByConfirmation(confirmationId: string): BankPayment | null {
    return this.byConfirmation.get(confirmationId) ?? null;
  }

  private take(key: string, request: BankRequest): BankPayment {
    const base = {
      ...request,
      key,
      confirmationId: `c${createHash('sha256').update(key).digest('hex').slice(0, 20)}`,
      errorCode: null,
      errorMessage: null,
      isGivenBack: false,
      newestTold: 0,
    };
    const failed = (errorCode: string): BankPayment => ({
      ...base,
      status: 'FAILED',
      errorCode,
      errorMessage: `declined ${errorCode}`,
    });
    const member = this.members.of(request.userId);
    if (request.rail === 'ACH') return member.hasAccount ? { ...base, status: 'ACHSENT' } : failed('R03');
    if (!member.hasCard) return failed('14');
    if (member.balanceCents < request.cents) return failed(this.random.pick(NSF_CODES));
    if (!this.random.chance(this.dial().cardDeclines)) return { ...base, status: 'COMPLETED' };
    this.hooks.onTrouble('card-declined');
    return failed(this.random.chance(0.6) ? this.random.pick(NSF_CODES) : this.random.pick(OTHER_DECLINES));
  }

  /** Between the banks, and then the time in which it can still come back. */
  private letSettle(payment: BankPayment): void {
    const dial = this.dial();
    const isSilent = this.random.chance(dial.silentEntries);
    const comesBack =
      this.random.chance(dial.achReturns) || this.members.of(payment.userId).balanceCents < payment.cents;
    const code = this.random.pick(RETURN_CODES);
    const isEarly = this.random.chance(dial.callbackEarly);
    if (isSilent) this.hooks.onTrouble('entry-silent');
    if (isEarly) this.hooks.onTrouble('callback-early');
    // A silent entry is asked about after three banking days; by then it has come back or never will.
    this.timeline.after(isEarly ? 0 : this.days(1, isSilent ? 2 : 5), () => {
      if (payment.status !== 'ACHSENT') return;
      if (comesBack) return this.comeBack(payment, code, isSilent);
      payment.status = 'COMPLETED';
      if (!isSilent) this.tell(payment, { type: 'SUBSCRIPTION_COMPLETED', status: 'COMPLETED' });
      // Some come back so soon that others hear of it before they hear that it was paid.
      if (!isSilent && this.random.chance(dial.lateReturns))
        this.timeline.after(this.random.chance(0.5) ? this.hours(1, 40) : this.days(3, 40), () => {
          if (payment.status !== 'COMPLETED') return;
          this.hooks.onTrouble('returned-after-completion');
          this.comeBack(payment, this.random.pick(LATE_CODES), isSilent);
        });
    });
  }

  private comeBack(payment: BankPayment, code: string, isSilent: boolean): void {
    Object.assign(payment, { status: 'FAILED', errorCode: code, errorMessage: `returned ${code}` });
    this.hooks.onTrouble('entry-returned');
    this.giveBack(payment);
    if (!isSilent) this.tell(payment, { type: 'SUBSCRIPTION_RETURNED', status: 'FAILED', returnCode: code });
  }

  private chargeBack(payment: BankPayment): void {
    if (payment.status !== 'COMPLETED' || payment.isGivenBack) return;
    payment.status = 'CHARGED_BACK';
    this.hooks.onTrouble('charged-back');
    this.giveBack(payment);
    this.tell(payment, { type: 'SUBSCRIPTION_CHARGED_BACK', status: 'CHARGED_BACK', returnCode: 'CB' });
  }

  private giveBack(payment: BankPayment, refundKey: string | null = null): void {
    payment.isGivenBack = true;
    this.book(payment, 'credit', refundKey);
  }

  private book(payment: BankPayment, effect: 'debit' | 'credit', refundKey: string | null = null): void {
    const { key, userId, reference, rail, cents, confirmationId } = payment;
    const { nowMs: atMs } = this.timeline;
    const entry = { effect, key, userId, reference, rail, cents, atMs, confirmationId, refundKey };
    this.ledger.push(entry);
    const member = this.members.of(userId);
    member.balanceCents += effect === 'debit' ? -cents : cents;
    member.balanceSinceMs = this.timeline.nowMs;
    this.hooks.onLedger(entry);
  }

  /** At least once, at some time. */
  private tell(payment: BankPayment, event: BankEvent, delayMs = 0): void {
    const dial = this.dial();
    const lateMs = this.random.chance(dial.callbackLate) ? this.hours(1, 48) : 0;
    this.told += 1;
    const number = this.told;
    const publish = (): void => {
      if (number < payment.newestTold) this.hooks.onTrouble('callback-overtaken');
      payment.newestTold = Math.max(payment.newestTold, number);
      this.hooks.publish(payment.userId, callback(payment, event));
    };
    this.timeline.after(delayMs + lateMs, publish);
    if (lateMs > 0) this.hooks.onTrouble('callback-late');
    if (!this.random.chance(dial.callbackTwice)) return;
    this.hooks.onTrouble('callback-twice');
    this.timeline.after(delayMs + this.hours(0, 48), publish);
  }

  private days(least: number, most: number): number {
    return (least + this.random.next() * (most - least)) * DAY_MS;
  }

  private hours(least: number, most: number): number {
    return (least + this.random.next() * (most - least)) * HOUR_MS;
  }
}

const isSame = (one: BankRequest, other: BankRequest): boolean =>
  one.userId === other.userId &&
  one.reference === other.reference &&
  one.rail === other.rail &&
  one.cents === other.cents &&
  one.description === other.description;

const callback = (
  { confirmationId, userId, reference, cents }: BankPayment,
  { type, status, returnCode }: BankEvent,
): object => ({
  id: confirmationId,
  type,
  source: 'PaymentsService',
  data: {
    confirmation_id: confirmationId,
    user_id: userId,
    subscription_id: reference,
    status,
    amount: (cents / 100).toFixed(2),
    ...(returnCode === undefined ? {} : { return_code: returnCode, error_message: `code ${returnCode}` }),
  },
});
