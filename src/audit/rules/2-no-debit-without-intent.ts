import { INTENTS, OUTCOMES } from '../allowed-transitions.ts';
import { instantText, plusMs } from '../instant.ts';
import type { Attempt } from '../record.ts';
import type { KeyTally } from '../tally.ts';
import type { Circumstances, Collected, RecordCase, Rule } from '../user-case.ts';
import type { Finding } from '../violation.ts';

/** The processor's clock is not ours. */
export const CLOCK_DIFFERENCE_MS = 5_000;

/**
 * A worker that crashes between "I will" and "I did" leaves an intent, so that money which moved is always found again.
 * And an intent ends: one that stays open blocks its record for ever.
 */
export const noDebitWithoutIntent: Rule = function* ({ records }, circumstances): Generator<Finding> {
  for (const record of records) {
    const { subscriptionId } = record;
    for (const detail of [
      ...unintendedDebits(record),
      ...paidWithoutDebit(record, circumstances),
      ...lostAttempts(record),
      ...openTooLong(record, circumstances),
    ])
      yield { subscriptionId, detail };
  }
};

export function* unintendedDebits({ tally, attempts }: Collected): Generator<string> {
  for (const key of tally?.keys ?? []) {
    if (key.firstDebitAt === null) continue;
    const attempt = attempts.find(({ id }) => id === key.key);
    const wrong = attempt === undefined ? 'has no attempt' : disagreement(key, key.firstDebitAt, attempt);
    if (wrong !== null) yield `the debit under ${key.key} ${wrong}`;
  }
}

function disagreement(key: KeyTally, debitedAt: bigint, { openedAt, resolution }: Attempt): string | null {
  if (openedAt > plusMs(debitedAt, CLOCK_DIFFERENCE_MS))
    return `was made at ${instantText(debitedAt)}, before its attempt was opened at ${instantText(openedAt)}`;
  if (resolution?.status === 'FAILED' && key.debits > key.credits)
    return 'stands, but its attempt was resolved as FAILED';
  return null;
}

/**
 * A record that is said to be paid is paid: a charge without an answer must not be taken for one that went through.
 * Entries are debited when they settle; of floats and recurring payments it is not asked, because made-up members have
 * a past there that no bank knows. The ledger was read before: what was resolved since may not be in it yet.
 */
function* paidWithoutDebit(
  { tally, attempts }: Collected,
  { now, isLedgerRead }: Circumstances,
): Generator<string> {
  if (!isLedgerRead) return;
  const debited = new Set((tally?.keys ?? []).filter(({ debits }) => debits > 0).map(({ key }) => key));
  for (const { id, rail, isRefund, resolution } of attempts) {
    const isPaid = resolution?.status === 'COMPLETED' && rail === 'PINLESS' && !isRefund;
    if (isPaid && plusMs(resolution.at, CLOCK_DIFFERENCE_MS) < now && !debited.has(id))
      yield `attempt ${id} was resolved as COMPLETED, and the bank has no debit under it`;
  }
}

/** The first row of a record may name the attempt on the period before it, which opened this one. */
function* lostAttempts({ changes, attempts }: RecordCase): Generator<string> {
  const known = new Set(attempts.map(({ id }) => id));
  const named = changes
    .slice(1)
    .filter(({ cause }) => cause !== null && (INTENTS.includes(cause) || OUTCOMES.includes(cause)))
    .flatMap(({ attemptId }) => attemptId ?? []);
  for (const id of new Set(named))
    if (!known.has(id)) yield `history names attempt ${id}, which is not there`;
}

/**
 * A run or request that finds it open sends it again for two days. An hour more, because clocks differ and a run has to
 * come by.
 */
const SENT_AGAIN_FOR_MS = 49 * 3_600_000;

export function* openTooLong(
  { attempts }: Collected,
  { now, abandonAfterMs }: Circumstances,
): Generator<string> {
  for (const { id, openedAt, sentAgainAt, resolution } of attempts) {
    const lastAt = plusMs(openedAt, SENT_AGAIN_FOR_MS);
    const sentAt = sentAgainAt === null || sentAgainAt < openedAt ? openedAt : sentAgainAt;
    const isOverdue = plusMs(sentAt < lastAt ? sentAt : lastAt, abandonAfterMs) < now;
    if (resolution === null && isOverdue) yield `attempt ${id} is open since ${instantText(openedAt)}`;
  }
}
