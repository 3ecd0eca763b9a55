import type { AchEntry, AchOutcome } from '../domain/ach/settlement.ts';
import type { AttemptId, AttemptProcess, PastAttempt } from '../domain/attempt.ts';
import type { CalendarDate } from '../domain/calendar-date.ts';
import type { Facts, Freeze } from '../domain/decision.ts';
import type { AchModel } from '../domain/floats/float.ts';
import type { Instant } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import type { Terms } from '../domain/plans/change-plan.ts';
import type { RunId } from '../domain/runs.ts';
import type { Rail, SubscriptionId, UserId } from '../domain/subscription.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { AchMeters } from './ach-meters.ts';
import type { AchWatches } from './ach-watches.ts';
import type { MoneyList } from './money-to-decide.ts';
import type { RecordRef } from './runs.ts';
import type { PageKey } from './subscriptions.ts';
import type { Write } from './transaction.ts';

/** The period that is billed at this price from then on. */
export interface UpgradeOf {
  readonly subscriptionId: SubscriptionId;
  readonly amount: Cents;
  /** What it was billed as when the member asked; attempts from before this was kept do not say. */
  readonly instead?: Terms | undefined;
}

/** Everything that was, or is to be, sent to the processor. Whoever resumes it sends the same again. */
export interface Attempt {
  readonly attemptId: AttemptId;
  /** The record that it is about, whatever that is: with its kind in front where it is no billing record. */
  readonly subscriptionId: SubscriptionId;
  readonly userId: UserId;
  readonly triggerId: string;
  readonly process: AttemptProcess;
  readonly rail: Rail;
  readonly amount: Cents;
  /** The account that an ACH entry goes to; a hard return code blocks it. */
  readonly accountId: string | null;
  readonly description: string | null;
  /** The card attempt after whose decline the account was asked. */
  readonly insteadOf: AttemptId | null;
  /** The payment that is given back. Null: it is a charge. */
  readonly refundOf: string | null;
  /** What the charge, a proration, is paid for. */
  readonly upgrades: UpgradeOf | null;
  /**
   * Of a charge that makes its own record: how many of the member's records had been billed when it was opened. Attempts from
   * before this was kept do not say.
   */
  readonly billedBefore?: number | undefined;
  /** What decided that a float's attempt goes by ACH. */
  readonly achModel?: AchModel | null | undefined;
  /** Which period of a recurring payment it is for. */
  readonly period?: CalendarDate | null | undefined;
  readonly openedAt: Instant;
  /** When it was sent again last, by whoever found it open. */
  readonly sentAgainAt?: Instant | null | undefined;
}

/** Since when nothing of it has been sent any more: the later of the two, whose clocks may differ. */
export function lastSentAt({ openedAt, sentAgainAt }: Attempt): Instant {
  const again = sentAgainAt ?? openedAt;
  return again > openedAt ? again : openedAt;
}

export interface Resolution {
  readonly status: 'COMPLETED' | 'ACHSENT' | 'FAILED';
  readonly at: Instant;
  readonly confirmationId: string;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** The error code of an attempt that was given up because the processor never knew of it. */
export const ABANDONED = 'abandoned';

export const wasAbandoned = ({ resolution }: AttemptRecord): boolean => resolution?.errorCode === ABANDONED;

/** An attempt as it is kept for ever. */
export interface AttemptRecord extends Attempt {
  readonly resolution: Resolution | null;
}

/** All that is kept about the attempts on a record and the decisions about it. */
export interface RecordStory {
  readonly attempts: readonly AttemptRecord[];
  /** The newest of each trigger, also those that are not the last word. */
  readonly verdicts: readonly Verdict[];
  readonly open: { readonly attempt: Attempt; readonly askedNextAt: Instant } | null;
  /** Items that cannot be read. They do not hide the others. */
  readonly unreadable: readonly Error[];
}

declare const opaque: unique symbol;

/** What is known about a record's attempts, and which version of it that is. */
export interface RecordState {
  readonly open: Attempt | null;
  readonly past: readonly PastAttempt[];
  /** Elapsed time just before it was read, and with it what stands against a charge: a freeze, an event that waits. */
  readonly askedAtMs: number;
  readonly [opaque]: 'RecordState';
}

/** What a decision needs beside the user's records and what the services say, in one read. */
export interface Background {
  readonly state: RecordState;
  readonly freezes: readonly Freeze[];
  readonly achBlock: string | null;
  readonly membershipEvent: Facts['membershipEvent'];
  /** This trigger has considered the record before. */
  readonly verdict: Verdict | null;
}

export interface BackgroundQuery {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  readonly triggerId: string;
  readonly accountId: string | null;
}

export interface OpenAttemptPage {
  readonly attempts: readonly Attempt[];
  /** Items that cannot be read. They are reported and do not hide the others. */
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** What goes along with the change of a record, and the state that it leads to: no need to read it again. */
export interface StateChange {
  readonly writes: readonly Write[];
  readonly state: RecordState;
}

/** The pipeline's own items. What returns writes takes effect with the change that they go along with. */
export interface PipelineStore {
  /** Consistent, in one request. */
  readBackground(query: BackgroundQuery): Promise<Background>;
  /** Refused if an attempt is open, or if this one was ever opened before. */
  open(state: RecordState, attempt: Attempt): StateChange;
  resolve(state: RecordState, resolution: Resolution): StateChange;
  /**
   * As if the attempt were open: it was given up, and the processor knows of it after all. For the change that resolves it
   * again; nothing is written here.
   */
  takenUpAgain(state: RecordState, attempt: AttemptRecord): RecordState;
  /**
   * The open attempt is resolved and another one opened: the card has no money, so the account is asked; or what was paid
   * is given back.
   */
  replace(state: RecordState, resolution: Resolution, next: Attempt): StateChange;
  /** A balance too low: an attempt without a charge. */
  refuse(
    state: RecordState,
    refusal: { readonly process: AttemptProcess; readonly at: Instant },
  ): StateChange;
  /** The bank's word on an ACH entry that was sent; one that the Go service sent becomes known by it. */
  settleEntry(state: RecordState, entry: AchEntry, outcome: AchOutcome): StateChange;
  /** No ACH debit to this account again until the member gives a new one. */
  blockAccount(accountId: string, returnCode: string): Write;
  /** The same where no record changes along with it. */
  saveBlock(accountId: string, returnCode: string): Promise<void>;
  /** Every attempt on a record, also those of long ago. Consistent. */
  attemptsOn(subscriptionId: SubscriptionId): Promise<AttemptRecord[]>;
  /** Everything that is known about a record's past. Consistent. */
  storyOf(subscriptionId: SubscriptionId): Promise<RecordStory>;
  /** The records whose ACH entry waits for the bank's word. */
  readonly watches: AchWatches;
  readonly meters: AchMeters;
  /** Money that went back so late that nobody asks for it again by itself. */
  readonly staleReturns: MoneyList;
  /** Payments that were to be given back, and are still with us. */
  readonly refusedRefunds: MoneyList;
  /** Before the open attempt is sent again: from now on it may be under way once more. Refused where `along` is. */
  sendingAgain(state: RecordState, at: Instant, along: readonly Write[]): Promise<RecordState>;
  /** The janitor asked in vain; the state says when it asks next. */
  askAgainLater(state: RecordState): Promise<void>;
  /** Attempts that are open and due to be asked about. Eventually consistent: look again under the lock. */
  openAttempts(asOf: Instant, key: PageKey | null): Promise<OpenAttemptPage>;
  judge(verdict: Verdict): Write;
  /** A verdict that goes along with no change. Leaves alone what somebody else has found meanwhile. */
  saveVerdict(verdict: Verdict): Promise<void>;
  /** Counts the record against the run and saves the verdict that says so. */
  hold(runId: RunId, verdict: Verdict): Promise<void>;
  /** The member wishes to be charged on resuming. False when that is known. */
  rememberResume(record: RecordRef, at: Instant): Promise<boolean>;
  /** The same, for whoever flags the record just now. */
  noteResume(record: RecordRef, at: Instant): Write;
  /** The member's wish to be charged on resuming was fulfilled or has gone. One that was made after this time stays. */
  forgetResume(subscriptionId: SubscriptionId, asOf: Instant): Promise<void>;
}
