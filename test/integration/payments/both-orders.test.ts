import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HandledEvent } from '../../../src/domain/memberships/membership-event.ts';
import { HANDLED_EVENTS } from '../../../src/domain/memberships/membership-event.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Bench } from '../../audit/bench.ts';
import { bench } from '../../audit/bench.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import type { PaymentDesk } from '../../support/payment-desk.ts';
import { paymentDesk } from '../../support/payment-desk.ts';
import type { BothOrders, Ending, Pair, Start, Word } from '../../support/two-streams.ts';
import { ORDERS, STARTS, WORDS, liveThrough } from '../../support/two-streams.ts';

/*
 * Nobody promises an order between the users stream and the payments stream. So every pair of events is applied in both
 * orders, and the tables say, by hand and not from the code's own rules, what each order ends in.
 */

/** What the word makes of the period that was charged, whatever happens to the membership. */
const CHARGED_PERIOD: Record<Word, string> = {
  COMPLETED: 'COMPLETED',
  'RETURNED R01': 'ERROR',
  'RETURNED R02': 'ERROR',
  REFUNDED: 'REFUNDED',
  CHARGED_BACK: 'ERROR',
};

const MEMBER: Record<HandledEvent, string> = {
  CANCEL: 'SCHEDULED leaving',
  SUB_PAUSED: 'PAUSED',
  RETRACT: 'SCHEDULED',
  UNPAUSE: 'SCHEDULED',
  UNPAUSE_CHARGE: 'SCHEDULED',
  CLOSEACCOUNT: 'CANCELLED',
};

/** What the membership event makes of the period after it, whatever the bank says. */
const NEXT_PERIOD: Record<Start, Record<HandledEvent, string>> = {
  sent: MEMBER,
  completed: MEMBER,
  unanswered: MEMBER,
  'sent and leaving': {
    CANCEL: 'SCHEDULED leaving',
    SUB_PAUSED: 'PAUSED leaving',
    RETRACT: 'SCHEDULED',
    UNPAUSE: 'SCHEDULED leaving',
    UNPAUSE_CHARGE: 'SCHEDULED leaving',
    CLOSEACCOUNT: 'CANCELLED',
  },
  'unanswered and paused': {
    CANCEL: 'PAUSED leaving',
    SUB_PAUSED: 'PAUSED',
    RETRACT: 'PAUSED',
    UNPAUSE: 'SCHEDULED',
    UNPAUSE_CHARGE: 'SCHEDULED resuming',
    CLOSEACCOUNT: 'CANCELLED',
  },
};

/** Whoever charged back is banned by then: their wishes are not heard any more, except that they go. */
const NEXT_PERIOD_OF_THE_BANNED: Record<Start, string> = {
  sent: 'SCHEDULED',
  completed: 'SCHEDULED',
  unanswered: 'SCHEDULED',
  'sent and leaving': 'SCHEDULED leaving',
  'unanswered and paused': 'PAUSED',
};

/** A month of runs later, with what the bank has kept. R01 was presented again; R02 forbids that, and grows stale. */
const CHARGED_PERIOD_LATER: Record<Word, string> = {
  COMPLETED: 'COMPLETED, 499 kept',
  'RETURNED R01': 'COMPLETED, 499 kept',
  'RETURNED R02': 'STALE, 0 kept',
  REFUNDED: 'REFUNDED, 0 kept',
  CHARGED_BACK: 'CANCELLED, 0 kept',
};

const NEXT_PERIOD_LATER: Record<string, string> = {
  SCHEDULED: 'ACHSENT, 0 kept',
  'SCHEDULED resuming': 'COMPLETED, 499 kept',
  'SCHEDULED leaving': 'CANCELLED leaving, 0 kept',
  PAUSED: 'PAUSED_SKIPPED, 0 kept',
  'PAUSED leaving': 'CANCELLED leaving, 0 kept',
  CANCELLED: 'CANCELLED, 0 kept',
};

const isReturned = ({ word }: Pair): boolean => word.startsWith('RETURNED');
const isUnanswered = ({ start }: Pair): boolean => start.startsWith('unanswered');

/** A charge without an answer looks like a period to come, so that it is cancelled too, and stays so whatever the word. */
const isLeftWithThePeriod = (pair: Pair): boolean =>
  isUnanswered(pair) && pair.membership === 'CANCEL' && pair.order === 'membership first';

function expected(pair: Pair): string[] {
  const { start, membership, word, order } = pair;
  const isUnheard = word === 'CHARGED_BACK' && order === 'payment first' && membership !== 'CLOSEACCOUNT';
  const next = isUnheard ? NEXT_PERIOD_OF_THE_BANNED[start] : NEXT_PERIOD[start][membership];
  const leaving = isLeftWithThePeriod(pair) ? ' leaving' : '';
  return [
    CHARGED_PERIOD[word] + leaving,
    next,
    chargedPeriodLater(pair).replace(',', `${leaving},`),
    nextPeriodLater(word, next),
  ];
}

function chargedPeriodLater(pair: Pair): string {
  const isWrittenOff = pair.membership === 'CLOSEACCOUNT' || isLeftWithThePeriod(pair);
  return isReturned(pair) && isWrittenOff ? 'CANCELLED, 0 kept' : CHARGED_PERIOD_LATER[pair.word];
}

function nextPeriodLater(word: Word, next: string): string {
  const later = NEXT_PERIOD_LATER[next]!;
  if (word === 'CHARGED_BACK') return next.endsWith('leaving') ? later : afterTheBan(next);
  // There is no way to charge them, and the period is not old enough to be written off.
  const isStuck = word === 'RETURNED R02' && (next === 'SCHEDULED' || next === 'SCHEDULED resuming');
  return isStuck ? `${next}, 0 kept` : later;
}

const afterTheBan = (next: string): string =>
  next === 'SCHEDULED resuming' ? 'CANCELLED resuming, 0 kept' : 'CANCELLED, 0 kept';

const PAIRS: Pair[] = STARTS.flatMap((start) =>
  HANDLED_EVENTS.flatMap((membership) =>
    WORDS.flatMap((word) => ORDERS.map((order) => ({ start, membership, word, order }))),
  ),
);
const nameOf = ({ start, membership, word, order }: Pair): string =>
  `${start}: ${membership} × ${word}, ${order}`;

const FLAGS: Record<string, string> = {
  PENDING_CANCELLATION: ' leaving',
  'pause-pending-resume': ' resuming',
};
const show = ({ billingStatus, updatedEvent }: StoredSubscription): string =>
  billingStatus + (FLAGS[updatedEvent] ?? '');

let on: Bench;
let payments: PaymentDesk;
let result: BothOrders;

beforeAll(async () => {
  on = await bench();
  payments = paymentDesk(on.here);
  result = await liveThrough({ on, memberships: membershipDesk(on.here), payments }, PAIRS);
});
afterAll(async () => {
  await payments.close();
  await on.close();
});

const kept = ({ subscriptionId }: StoredSubscription): number => result.keptCents.get(subscriptionId) ?? 0;
const keptOf = ({ monthLater }: Ending): number => monthLater.reduce((sum, row) => sum + kept(row), 0);
/** What was found wrong, by name, so that a failure says with whom. */
const where = (isWrong: (ending: Ending) => boolean): string[] => result.endings.filter(isWrong).map(nameOf);

describe('a membership event and a payment event, in either order', () => {
  it.each(STARTS)('end as the tables say for a member who is %s', (start) => {
    const found = result.endings
      .filter((ending) => ending.start === start)
      .map((ending) => {
        const [charged, next, ...more] = ending.after;
        const [chargedLater, nextLater] = ending.monthLater;
        expect(more).toEqual([]);
        const later = [chargedLater!, nextLater!].map((row) => `${show(row)}, ${kept(row)} kept`);
        return [nameOf(ending), [show(charged!), show(next!), ...later]];
      });
    const table = PAIRS.filter((pair) => pair.start === start).map((pair) => [nameOf(pair), expected(pair)]);
    expect(found).toHaveLength(HANDLED_EVENTS.length * WORDS.length * ORDERS.length);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(table));
  });

  it('break no rule of the audit, neither at once nor when the runs have gone over them', () => {
    expect(result.violations).toEqual({ after: [], monthLater: [] });
  });

  it('leave a history row for each change', () => {
    const changes = ({ membershipOutcome, paymentOutcome }: Ending) =>
      membershipOutcome.changed.length + paymentOutcome.changed.length;
    // The answer to the charge, which was written down first.
    const answers = (ending: Ending) => (isUnanswered(ending) ? 1 : 0);
    expect(where((ending) => ending.newHistoryRows !== changes(ending) + answers(ending))).toEqual([]);
  });
});

describe('whatever the order', () => {
  const hasLeft = ({ start, membership }: Pair): boolean =>
    membership === 'CANCEL' ||
    membership === 'CLOSEACCOUNT' ||
    (start === 'sent and leaving' && membership !== 'RETRACT');

  it('whoever has left is not charged for another period', () => {
    const isCharged = (row: StoredSubscription) => row.initialRunDate !== null || kept(row) > 0;
    expect(where((pair) => hasLeft(pair) && pair.monthLater.slice(1).some(isCharged))).toEqual([]);
    // It is not so because nobody is ever charged.
    expect(where((pair) => !hasLeft(pair) && pair.monthLater.slice(1).some(isCharged))).not.toEqual([]);
  });

  it('whoever charged back pays nothing more', () => {
    expect(where((pair) => pair.word === 'CHARGED_BACK' && keptOf(pair) !== 0)).toEqual([]);
  });

  it('a returned debit is owed again, and in the end paid or written off', () => {
    const isOwed = ({ after: [charged] }: Ending) => charged!.billingStatus === 'ERROR';
    const isOver = ({ monthLater: [charged] }: Ending) =>
      charged!.billingStatus === 'COMPLETED' || ['STALE', 'CANCELLED'].includes(charged!.billingStatus);
    expect(where((pair) => isReturned(pair) && !(isOwed(pair) && isOver(pair)))).toEqual([]);
  });

  it('a period is complete if, and only if, its money was kept', () => {
    const isWrong = (row: StoredSubscription) =>
      kept(row) !== (row.billingStatus === 'COMPLETED' ? row.billingAmount : 0);
    expect(where(({ monthLater }) => monthLater.some(isWrong))).toEqual([]);
  });

  it('a member pays the same, unless they cancelled while nobody knew about the charge', () => {
    const first = new Map<string, number>();
    const pairOf = ({ start, membership, word }: Pair) => `${start}: ${membership} × ${word}`;
    for (const ending of result.endings)
      if (ending.order === 'membership first') first.set(pairOf(ending), keptOf(ending));
    const differ = result.endings.filter(
      (ending) => ending.order === 'payment first' && keptOf(ending) !== first.get(pairOf(ending)),
    );
    expect(differ.map(pairOf)).toEqual([
      'unanswered: CANCEL × RETURNED R01',
      'unanswered and paused: CANCEL × RETURNED R01',
    ]);
  });
});
