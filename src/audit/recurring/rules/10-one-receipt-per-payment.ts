import type { RecurringCase, RecurringRule } from '../recurring-case.ts';
import type { RecurringAttempt } from '../recurring-record.ts';

const NANOS_PER_SECOND = 1_000_000_000n;
/** An expired receipt looks like one that never was; a little sooner, so that no two looks differ. */
const EXPIRES_SOON_SECONDS = 60n;

/** A payment that was made has a receipt that says so, and no receipt is for anything else. */
export const oneReceiptPerPayment: RecurringRule = function* (subscription, { now }) {
  const { attempts, receipts } = subscription;
  for (const attempt of attempts)
    if (attempt.resolution?.status === 'COMPLETED') yield* paidFor(subscription, attempt, now);
  for (const { number, attemptId, periodDate } of receipts) {
    const attempt = attempts.find(({ id }) => id === attemptId);
    if (attempt?.resolution?.status !== 'COMPLETED')
      yield `receipt ${number} is for attempt ${attemptId}, which was not paid`;
    if (receipts.some((other) => other.number < number && other.periodDate === periodDate))
      yield `receipt ${number} is another one for ${periodDate}`;
  }
};

function* paidFor(
  { receipts, row }: RecurringCase,
  attempt: RecurringAttempt,
  now: bigint,
): Generator<string> {
  const { id, period, amountCents, resolution } = attempt;
  const own = receipts.filter(({ attemptId }) => attemptId === id);
  const [receipt] = own;
  if (receipt === undefined) {
    if (!mayHaveExpired(receipts, resolution?.at ?? now, now))
      yield `attempt ${id} was paid without a receipt`;
    return;
  }
  if (own.length > 1) yield `attempt ${id} has ${own.length} receipts`;
  if (receipt.periodDate !== period) yield `receipt ${receipt.number} is for another period than its payment`;
  if (receipt.amountCents !== amountCents)
    yield `receipt ${receipt.number} is of another amount than its payment`;
  if (receipt.ttl <= Number(receipt.processedDate / NANOS_PER_SECOND))
    yield `receipt ${receipt.number} of ${row.recurringId} expires before it is written`;
}

/** How long receipts are kept is configuration: of those that are left, one tells. */
function mayHaveExpired(receipts: RecurringCase['receipts'], paidAt: bigint, now: bigint): boolean {
  const kept = receipts.map(({ ttl, processedDate }) => BigInt(ttl) - processedDate / NANOS_PER_SECOND);
  const shortest = kept.reduce((least, one) => (one < least ? one : least), DEFAULT_KEPT_SECONDS);
  return paidAt / NANOS_PER_SECOND + shortest <= now / NANOS_PER_SECOND + EXPIRES_SOON_SECONDS;
}

const DEFAULT_KEPT_SECONDS = 730n * 86_400n;
