import { formatInstant } from '../domain/instant.ts';
import { sayMoney } from '../domain/money.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Cause } from '../domain/transitions.ts';
import { CAUSES } from '../domain/transitions.ts';
import type { AttemptRecord } from '../ports/pipeline.ts';
import type { HistoryEntry } from '../ports/subscriptions.ts';
import { CAUSE_TEXTS, openedText, resolvedText } from './explain-texts.ts';

/** What is known beside the change: whose attempts, and which record this one follows. */
export interface ChangeBackground {
  readonly attempts: readonly AttemptRecord[];
  readonly opener: Subscription | undefined;
}

export const OPENING: ReadonlySet<string> = new Set<Cause>(['attempt-opened', 'refund-opened']);
export const RESOLVING: ReadonlySet<string> = new Set<Cause>([
  'attempt-succeeded',
  'ach-accepted',
  'attempt-declined',
  'refund-accepted',
  'refund-declined',
]);

/** One change of a record: a history row holds the whole record after it, so the row before tells what was new. */
export function changeText(
  entry: HistoryEntry,
  before: HistoryEntry | undefined,
  background: ChangeBackground,
): string {
  return [
    ...(before === undefined
      ? firstText(entry, background)
      : [causeText(entry, background), ...differences(entry.subscription, before.subscription)]),
    ...bySomebody(entry.data),
  ].join(', ');
}

function firstText(entry: HistoryEntry, background: ChangeBackground): string[] {
  const { subscription: record, data } = entry;
  const cause = causeOf(entry);
  if (cause !== undefined && isNextPeriod(entry, background))
    return [
      `opened as the next period of ${nameOf(background.opener)}, where ${CAUSE_TEXTS[cause]}`,
      ...planOf(record),
    ];
  if (cause === 'plan-changed') return ['the plan was made', ...planOf(record)];
  const isUnpaid = record.billingStatus === 'CANCELLED' && OPENING.has(data['cause'] ?? '');
  return [
    causeText(entry, background),
    `first as ${record.billingStatus}${isUnpaid ? ', which it is until it is paid' : ''}`,
  ];
}

/**
 * It came into the world with a change of another record, whose cause and attempt its first row names. Where that record
 * is not there any more, an attempt that is none of this record's tells the same.
 */
function isNextPeriod({ subscription, data }: HistoryEntry, { attempts, opener }: ChangeBackground): boolean {
  if (subscription.billingStatus === 'CANCELLED') return false;
  if (opener !== undefined) return true;
  const id = data['attempt_id'];
  return id !== undefined && !attempts.some(({ attemptId }) => attemptId === id);
}

function nameOf(opener: Subscription | undefined): string {
  if (opener === undefined) return 'another record';
  const { process, billingPeriod, subscriptionId } = opener;
  return `${process === 'REACTIVATION' ? 'the reactivation of ' : ''}${billingPeriod} (${subscriptionId})`;
}

const planOf = ({
  receiptTierName,
  billingAmount,
  term,
  billingDate,
  billingStatus,
}: Subscription): string[] => [
  `${tierText(receiptTierName)} at ${sayMoney(billingAmount)} ${TERM_TEXTS[term]}`,
  `due on ${formatInstant(billingDate)}`,
  `first as ${billingStatus}`,
];

const TERM_TEXTS: Record<Subscription['term'], string> = { MONTHLY: 'a month', YEARLY: 'a year' };

const tierText = (name: string): string => (name === '' ? 'the base tier' : name);

const causeOf = ({ data }: HistoryEntry): Cause | undefined =>
  CAUSES.find((known) => known === data['cause']);

function causeText(entry: HistoryEntry, { attempts }: ChangeBackground): string {
  const { subscription, data } = entry;
  const cause = causeOf(entry);
  // The Go service does not say why.
  if (cause === undefined) return `the Go service wrote it (${subscription.process ?? 'no process'})`;
  const attempt = attempts.find(({ attemptId }) => attemptId === data['attempt_id']);
  if (attempt === undefined) return CAUSE_TEXTS[cause];
  if (OPENING.has(cause)) return openedText(attempt);
  const { resolution } = attempt;
  return resolution !== null && RESOLVING.has(cause) ? resolvedText(attempt, resolution) : CAUSE_TEXTS[cause];
}

/** What people ask about: when, how much, for what. */
const TOLD: readonly ((record: Subscription) => string)[] = [
  ({ billingStatus }) => billingStatus,
  ({ billingDate }) => `due on ${formatInstant(billingDate)}`,
  ({ receiptTierName }) => tierText(receiptTierName),
  ({ billingAmount }) => sayMoney(billingAmount),
  ({ term }) => term,
  ({ pauseDurationMonths }) => pauseText(pauseDurationMonths),
];

const differences = (now: Subscription, then: Subscription): string[] =>
  TOLD.map((told) => [told(then), told(now)] as const)
    .filter(([was, is]) => was !== is)
    .map(([was, is]) => `${was} → ${is}`);

function pauseText(months: number): string {
  if (months === 0) return 'no pause';
  return months < 0 ? 'a pause without an end' : `a pause of ${months} months`;
}

/** A member's event, or a person. */
function bySomebody(data: HistoryEntry['data']): string[] {
  const who = data['by'] ?? data['who'];
  return [
    ...(data['event_type'] === undefined ? [] : [`by the event ${data['event_type']}`]),
    ...(who === undefined ? [] : [`by ${who}`]),
    ...(data['reason'] === undefined ? [] : [`because: ${data['reason']}`]),
  ];
}
