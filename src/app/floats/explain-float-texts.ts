import type { CalendarDate } from '../../domain/calendar-date.ts';
import type { AchModel, Float, FloatStatus, LogEntry, LogOutcome } from '../../domain/floats/float.ts';
import { formatInstant } from '../../domain/instant.ts';
import { sayMoney } from '../../domain/money.ts';
import type { Attempt, AttemptRecord } from '../../ports/pipeline.ts';
import { attemptText, openedText, reasonText, resolvedText, unansweredText } from '../explain-texts.ts';

/* What happens to floats, in words; beside what floats have in common with billing records (`explain-texts.ts`). */

/** The short answer. */
const STATUS_TEXTS: Record<FloatStatus, (float: Float, today: CalendarDate) => string> = {
  SCHEDULING: ({ dueDate }, today) =>
    `not charged yet: it ${dueDate < today ? 'was' : 'is'} due on ${dueDate}`,
  ACHSENT: () => 'on its way through the bank, whose word comes some banking days later',
  RETRY: ({ dueDate, error }) =>
    `owed since ${dueDate}${error === '' ? '' : ` (${reasonText(error)})`}, and tried again on weekdays and when income arrives`,
  UNCOLLECTABLE: ({ dueDate }) =>
    `owed since ${dueDate}, and there is nothing to charge: the member has no primary account; looked at again every day`,
  COMPLETED: ({ completedAt }) =>
    completedAt === null ? 'paid back' : `paid back on ${formatInstant(completedAt)}`,
  // A reason of ours, or the processor's words.
  DEFAULTED: ({ error, creditReturnedAt }) =>
    creditReturnedAt === null
      ? `given up for good${error === '' ? '' : `: ${reasonText(error)}`}`
      : `given up for good: the advance itself came back on ${formatInstant(creditReturnedAt)}`,
};

/** While the answer to a charge is unknown, the status says less than the charge does. */
export const floatSummary = (float: Float, open: Attempt | null, today: CalendarDate): string =>
  open === null ? STATUS_TEXTS[float.status](float, today) : unansweredText(open);

export const paidOutText = ({ amount, dueDate }: Float): string =>
  `an advance of ${sayMoney(amount)} was paid out, due on ${dueDate}`;

export function floatOpenedText(attempt: Attempt): string {
  const model = attempt.achModel ?? null;
  return model === null ? openedText(attempt) : `${openedText(attempt)}; ${modelText(model)}`;
}

/** Which model said that the account is worth a debit, how sure it was, and what it had been told. */
function modelText({ version, probability, features, override }: AchModel): string {
  const told = Object.entries(features)
    .map(([name, value]) => `${name} ${value}`)
    .sort()
    .join(', ');
  const chance = `${version} gave it ${Math.round(probability * 100)} in 100 to be paid (${told})`;
  return override ? `an operator’s switch sent it whatever the rule says; ${chance}` : chance;
}

/** What the bank says some days after an entry was sent. */
const BANK_TEXTS: Record<LogOutcome, string> = {
  ACHSENT: 'was sent once more',
  COMPLETED: 'was paid by the bank',
  RETURNED: 'was returned by the bank',
  DEFAULTED: 'was given up',
};

const SUPPORT_TEXTS: Record<LogOutcome, string> = {
  ACHSENT: 'support says that it is on its way',
  COMPLETED: 'support says that it is paid back',
  RETURNED: 'support has the member’s word that it may be tried again',
  DEFAULTED: 'support gave it up',
};

/** A row of the log. `isFirst`: of its attempt's, so that it is the processor's answer. */
export function logText(row: LogEntry, attempt: AttemptRecord | undefined, isFirst: boolean): string {
  if (attempt !== undefined) {
    const text = rowText(row, attempt, isFirst);
    return row.remark === 'aside' ? `${text}; the float did not change by it` : text;
  }
  // An attempt of the service before us, or one whose record is lost.
  if (row.attemptId !== null || row.method !== null || !isOurs(row))
    return `the log has ${row.outcome} of the stage ${row.process}`;
  return row.process === 'SUPPORT' ? supportText(row) : 'it was given up for good';
}

/** An attempt that was given up may have been made all the same: what its answer was then is in a row of its own. */
function rowText(row: LogEntry, attempt: AttemptRecord, isFirst: boolean): string {
  const what = `the ${attemptText(attempt)}`;
  if (row.remark === 'not-presented') return `${what} was given up: the processor never knew of it`;
  const { resolution } = attempt;
  return isFirst && resolution !== null
    ? resolvedText(attempt, resolution)
    : `${what} ${BANK_TEXTS[row.outcome]}`;
}

function supportText({ outcome, said }: LogEntry): string {
  const text = SUPPORT_TEXTS[outcome];
  if (said === undefined) return text;
  return `${text} (${said.who}${said.reason === null ? '' : `: ${said.reason}`})`;
}

/** What leaves a row without an attempt. */
const isOurs = ({ process, outcome }: LogEntry): boolean => process === 'SUPPORT' || outcome === 'DEFAULTED';
