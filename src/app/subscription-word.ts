import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { changesRecord } from '../domain/payment-outcome.ts';
import type { InboxEvent } from '../ports/inbox.ts';
import type { SentEntry } from './ach-entry.ts';
import { isRecordsPayment, readEntry } from './ach-entry.ts';
import { recordAnswer } from './charge-subscription.ts';
import { readPaymentEvent } from './payment-event.ts';
import type { PaymentWord } from './payment-word.ts';
import { accountToBlock, recordAchOutcome } from './record-ach-outcome.ts';
import { caseOfOpen } from './settle-attempt.ts';
import type { AsideDependencies } from './tell-aside.ts';
import { isNewsAside, isPaidOtherwise, recordAnswerAside, recordOutcomeAside } from './tell-aside.ts';

/** What an event says about a payment for a billing record. */
export function subscriptionWord(dependencies: AsideDependencies, event: InboxEvent): PaymentWord<SentEntry> {
  const news = readPaymentEvent(event);
  const { subscriptionId: recordId, confirmationId, outcome } = news;
  return {
    recordId,
    confirmationId,
    what: outcome.result.toLowerCase().replace('_', '-'),
    ban: outcome.result === 'CHARGED_BACK' ? 'charge-back' : null,
    read: (lock) => readEntry(dependencies, lock, news),
    concerns: (entry) => entry.attempt !== null || isRecordsPayment(entry),
    answer: (entry, attempt, payment) =>
      isPaidOtherwise(entry)
        ? recordAnswerAside(dependencies, entry, { attempt, payment, told: outcome })
        : recordAnswer(caseOfOpen(dependencies, attempt, entry), attempt, payment),
    obstacle: (entry) => whatStandsAgainst(entry, outcome),
    toBlock: (entry) => accountToBlock(entry, outcome),
    change: (entry, along) =>
      isNewsAside(entry, outcome)
        ? recordOutcomeAside(dependencies, entry, outcome, along)
        : recordAchOutcome(dependencies, entry, outcome, along),
  };
}

function whatStandsAgainst(entry: SentEntry, outcome: PaymentOutcome): string | null {
  if (isNewsAside(entry, outcome)) return null;
  if (!isRecordsPayment(entry)) return 'another-payment-since';
  const { billingStatus } = entry.record;
  return changesRecord(billingStatus, outcome) ? null : `record-is-${billingStatus.toLowerCase()}`;
}
