import { instantText, plusMs } from '../../instant.ts';
import type { Attempt } from '../../record.ts';
import { CLOCK_DIFFERENCE_MS } from '../../rules/2-no-debit-without-intent.ts';
import { CHARGED_BY } from '../allowed-float-transitions.ts';
import type { FloatCase, FloatRule } from '../float-case.ts';
import { logBefore } from '../float-case.ts';
import type { LogRow } from '../float-record.ts';
import { NOT_PRESENTED } from '../float-record.ts';
import { statusesTold, thenOrLater } from '../walk.ts';

/** No intent while a freeze, the float's own state, or another attempt on it forbids one. */
export const noForbiddenIntent: FloatRule = function* (float, { freezes }) {
  for (const attempt of float.attempts) {
    const { id, rail, openedAt } = attempt;
    const freeze = freezes.forbids(openedAt, rail, float.userId);
    if (freeze !== null)
      yield `attempt ${id} was opened at ${instantText(openedAt)} during a freeze (${freeze})`;
    yield* forbiddenByState(float, attempt);
    yield* openTogether(float, attempt);
  }
};

/** No attempt begins on a float that is paid, under way or given up; and the stage of the day before does not retry. */
function* forbiddenByState(float: FloatCase, attempt: Attempt): Generator<string> {
  const { id, process } = attempt;
  const before = logBefore(float, attempt);
  const statuses = [...thenOrLater(statusesTold(before))].sort();
  const mayCharge = CHARGED_BY[process] ?? [];
  if (!statuses.some((status) => mayCharge.includes(status)))
    yield `attempt ${id} of ${process} was opened on a float that was ${statuses.join(' or ')}`;
  else yield* besideAPayment(attempt, before);
}

/**
 * Whatever the float's status: one attempt may have been paid although another, by which the float stands, came back.
 * Support's word since then says that the float is owed all the same.
 */
function* besideAPayment({ id, process }: Attempt, before: readonly LogRow[]): Generator<string> {
  const heard = new Map<string, LogRow>();
  for (const row of before) {
    if (row.process === 'SUPPORT' && row.method === null) heard.clear();
    else if (row.attemptId !== null) heard.set(row.attemptId, row);
  }
  for (const [other, { outcome }] of heard)
    if (outcome !== 'RETURNED')
      yield `attempt ${id} of ${process} was opened although attempt ${other} was ${outcome}`;
}

/** Two at once could both be paid. The account's attempt begins in the moment in which the card's ends. */
function* openTogether({ attempts, log }: FloatCase, attempt: Attempt): Generator<string> {
  const at = attempt.openedAt;
  for (const other of attempts) {
    if (other.id === attempt.id || other.id === attempt.insteadOf) continue;
    if (wasGivenUp(log, other, at)) continue;
    const isEarlier = other.openedAt < at || (other.openedAt === at && other.id < attempt.id);
    // Attempts of a float leave no row when they begin: two clocks are all there is to tell by.
    if (isEarlier && (other.resolution === null || other.resolution.at > plusMs(at, CLOCK_DIFFERENCE_MS)))
      yield `attempt ${attempt.id} was opened at ${instantText(at)} while attempt ${other.id} was open`;
  }
}

/** By then it was not open any more. If the processor knew of it after all, its answer is of a later time. */
const wasGivenUp = (log: readonly LogRow[], { id }: Attempt, at: bigint): boolean =>
  log.some(({ attemptId, remark, runTime }) => attemptId === id && remark === NOT_PRESENTED && runTime <= at);
