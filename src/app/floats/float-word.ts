import { recordIdOf } from '../../domain/floats/record-id.ts';
import type { InboxEvent } from '../../ports/inbox.ts';
import { readFloatEvent } from '../payment-event.ts';
import type { PaymentWord } from '../payment-word.ts';
import { accountToBlock } from '../record-ach-outcome.ts';
import { recordFloatAnswer } from './charge-float.ts';
import type { FloatDependencies } from './float-case.ts';
import { caseOfOpenFloat } from './settle-float.ts';
import type { FloatEntry } from './float-entry.ts';
import {
  isEntryUnderWay,
  readFloatEntry,
  recordFloatAside,
  recordFloatWord,
  whatStandsAgainst,
} from './float-entry.ts';

/** What an event says about a float: a debit for it, or the advance itself. */
export function floatWord(dependencies: FloatDependencies, event: InboxEvent): PaymentWord<FloatEntry> {
  const news = readFloatEvent(event);
  const { floatId, confirmationId, word } = news;
  const isAboutAdvance = word.result === 'CREDIT_RETURNED';
  return {
    recordId: recordIdOf(floatId),
    confirmationId,
    what: word.result.toLowerCase().replace('_', '-'),
    ban: isAboutAdvance ? 'credit-returned' : null,
    read: (lock) => readFloatEntry(dependencies, lock, news),
    // Paying the advance out is not ours, so none of our attempts led to it.
    concerns: ({ attempt }) => isAboutAdvance || attempt !== null,
    answer: (entry, attempt, payment) =>
      isPaidOtherwise(entry)
        ? recordFloatAside(dependencies, entry, attempt, payment)
        : recordFloatAnswer(caseOfOpenFloat(dependencies, attempt, entry), attempt, payment),
    obstacle: (entry) => whatStandsAgainst(entry, word, dependencies.clock.now()),
    toBlock: (entry) => (isAboutAdvance ? null : accountToBlock(entry, word)),
    change: (entry, { also }) => recordFloatWord(dependencies, entry, word, also),
  };
}

/**
 * While an attempt is open no other is made: so this one was given up, and another has led to a payment. One that is
 * under way is watched, also of a float whose advance came back meanwhile.
 */
const isPaidOtherwise = ({ float: { status }, state }: FloatEntry): boolean =>
  status === 'ACHSENT' || status === 'COMPLETED' || isEntryUnderWay(state);
