import type { AchOutcome } from '../../domain/ach/settlement.ts';
import type { Float, FloatId } from '../../domain/floats/float.ts';
import type { FloatChange, FloatWord, LoggedAttempt, ToldDebit } from '../../domain/floats/outcomes.ts';
import {
  floatAchCompleted,
  floatAchReturned,
  floatCreditReturned,
  floatToldAside,
  isNews,
  whyInVain,
} from '../../domain/floats/outcomes.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import type { Instant } from '../../domain/instant.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { Lock } from '../../ports/lock.ts';
import type { Attempt, RecordState } from '../../ports/pipeline.ts';
import type { Payment } from '../../ports/services.ts';
import type { Write } from '../../ports/transaction.ts';
import type { KnownPayment } from '../ach-entry.ts';
import { readPayment } from '../ach-entry.ts';
import { blockAfter, entryOfAttempt } from '../record-ach-outcome.ts';
import { countOutcome } from '../return-meters.ts';
import { alarmOverpaid } from './alarm-overpaid.ts';
import { logged } from './charge-float.ts';
import type { FloatDependencies } from './float-case.ts';

export type FloatWordDependencies = Pick<
  FloatDependencies,
  'floats' | 'pipeline' | 'clock' | 'log' | 'metrics'
>;

/** Money that was sent for a float, and the float. */
export interface FloatEntry extends KnownPayment {
  readonly float: Float;
}

/** The bank has not said yet what became of a debit. */
export const isEntryUnderWay = ({ past }: Pick<RecordState, 'past'>): boolean =>
  past.some(({ result }) => result === 'ACHSENT');

/** Whether the float stands as it does because of this payment. */
const isFloatsPayment = ({ float, confirmationId }: FloatEntry): boolean =>
  float.confirmationId === confirmationId;

/** Null when the member has no such float. */
export async function readFloatEntry(
  { floats, pipeline }: Pick<FloatWordDependencies, 'floats' | 'pipeline'>,
  lock: Lock,
  ids: { readonly userId: UserId; readonly floatId: FloatId; readonly confirmationId: string },
): Promise<FloatEntry | null> {
  const { userId, floatId, confirmationId } = ids;
  const float = await floats.get(floatId);
  if (float?.userId !== userId) return null;
  const payment = await readPayment(pipeline, lock, {
    userId,
    subscriptionId: recordIdOf(floatId),
    confirmationId,
  });
  return { ...payment, float };
}

/** The debit as it is known so far; null where none of our attempts led to it. */
export function toldDebit({ attempt, state }: KnownPayment): ToldDebit | null {
  if (attempt === null) return null;
  const { rail, openedAt } = attempt;
  const known = state.past.find((one) => one.at === openedAt && one.rail === rail);
  return { rail, fate: known?.result };
}

const isAboutDebit = (word: FloatWord): word is AchOutcome => word.result !== 'CREDIT_RETURNED';

/**
 * Whatever the bank says about this debit, the float does not stand or fall by it: the advance has come back meanwhile, or
 * another payment was made since.
 */
const isAside = (entry: FloatEntry): boolean => entry.float.status === 'DEFAULTED' || !isFloatsPayment(entry);

/** Null: the word is to be written down. */
export function whatStandsAgainst(entry: FloatEntry, word: FloatWord, now: Instant): string | null {
  if (!isAboutDebit(word)) return whyInVain(entry.float, word, null, now);
  const debit = toldDebit(entry);
  if (isAside(entry) && isNews(word, debit)) return null;
  return isFloatsPayment(entry) ? whyInVain(entry.float, word, debit, now) : 'another-payment-since';
}

/**
 * Writes down the bank's word about a float, from an event or from the janitor. One transaction: the float, its row of
 * the log, its attempts, the account's block after a hard return code and the end of the watch.
 */
export async function recordFloatWord(
  dependencies: FloatWordDependencies,
  entry: FloatEntry,
  word: FloatWord,
  also: readonly Write[] = [],
): Promise<Float> {
  const { floats, clock } = dependencies;
  const { lock, float } = entry;
  const recordId = recordIdOf(float.floatId);
  const change = changeOf(entry, word, clock.now());
  alarmIfOverpaid(dependencies, entry, word);
  await floats.save(lock.fence, float, change, [...ofTheDebit(dependencies, entry, word), ...also]);
  if (isAboutDebit(word))
    await countOutcome(dependencies, recordId, word, toldDebit(entry)?.fate === 'ACHSENT');
  return change.float;
}

/**
 * Records that an abandoned attempt was made after all, where another payment has been made since. No watch: the
 * float's one watch is on that payment, and the event that told us carries this one's outcome.
 */
export async function recordFloatAside(
  dependencies: FloatWordDependencies,
  { lock, float, state }: FloatEntry,
  attempt: Attempt,
  payment: Payment,
): Promise<void> {
  const { floats, pipeline, clock } = dependencies;
  const { status, confirmationId, errorCode, errorMessage } = payment;
  const at = clock.now();
  const { writes } = pipeline.resolve(state, { status, at, confirmationId, errorCode, errorMessage });
  if (status === 'COMPLETED') alarmOverpaid(dependencies, float, confirmationId);
  const outcome = status === 'FAILED' ? 'RETURNED' : status;
  await floats.save(lock.fence, float, floatToldAside(float, logged(attempt, payment), outcome, at), writes);
}

/** In whichever order the two things are told. */
function alarmIfOverpaid(dependencies: FloatWordDependencies, entry: FloatEntry, word: FloatWord): void {
  const { float, confirmationId } = entry;
  const isOverpaid = isAboutDebit(word)
    ? isAside(entry) && word.result === 'COMPLETED'
    : float.status === 'COMPLETED';
  // What is to be given back is the payment, whatever name the advance had.
  if (isOverpaid)
    alarmOverpaid(dependencies, float, isAboutDebit(word) ? confirmationId : float.confirmationId);
}

function changeOf(entry: FloatEntry, word: FloatWord, now: Instant): FloatChange {
  const { float } = entry;
  if (isAboutDebit(word) && isAside(entry))
    return floatToldAside(float, loggedAttempt(entry), word.result, now);
  switch (word.result) {
    case 'COMPLETED':
      return floatAchCompleted(float, loggedAttempt(entry), now);
    case 'RETURNED':
      return floatAchReturned(float, loggedAttempt(entry), word, now);
    case 'CREDIT_RETURNED':
      return floatCreditReturned(float, word, now);
  }
}

const loggedAttempt = (entry: FloatEntry): LoggedAttempt => logged(attemptOf(entry), entry);

function attemptOf({ attempt, confirmationId, float }: FloatEntry) {
  if (attempt === null) throw new Error(`no attempt on float ${float.floatId} led to ${confirmationId}`);
  return attempt;
}

/** That the advance came back says nothing about a debit: one that is under way is waited for all the same. */
function ofTheDebit({ pipeline }: FloatWordDependencies, entry: FloatEntry, word: FloatWord): Write[] {
  if (!isAboutDebit(word)) return [];
  const { writes } = pipeline.settleEntry(entry.state, entryOfAttempt(attemptOf(entry)), word);
  // Where another payment was made since, the watch is on that one.
  const end = isFloatsPayment(entry) ? [pipeline.watches.end(recordIdOf(entry.float.floatId))] : [];
  return [...writes, ...blockAfter(pipeline, entry, word), ...end];
}
