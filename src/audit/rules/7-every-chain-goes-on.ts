import { candidateAnchors, dateOf, daysInMonth, isBillingHour, monthOf, nthFriday } from '../calendar.ts';
import { byInstant } from '../instant.ts';
import type { RecordState } from '../record.ts';
import type { RecordCase } from '../user-case.ts';
import type { Finding } from '../violation.ts';

const OPEN: readonly string[] = ['SCHEDULED', 'PAUSED'];
/** A charge that was under way when the account was closed is still written down: nothing follows it. */
const CLOSED = 'account-closed';

/** What of a record counts in a chain. */
export interface Link extends Pick<RecordCase, 'subscriptionId' | 'row'> {
  readonly changes: readonly Pick<RecordState, 'billingDate' | 'cameBack'>[];
}

/** A member is billed for every period once: after the newest one tried there is one to come, and none is missing. */
export function* everyChainGoesOn({ records }: { readonly records: readonly Link[] }): Generator<Finding> {
  const chain = records
    .flatMap(asLink)
    .filter((row) => !wasPaidInVain(row))
    .sort((a, b) => byInstant(a.billingDate, b.billingDate));
  const last = chain.at(-1);
  if (last === undefined || last.status === 'CANCELLED' || last.updatedEvent === CLOSED) return;
  const tried = chain.findLastIndex(({ attempted }) => attempted);
  const [next, ...more] = chain.slice(tried + 1).filter(({ status }) => OPEN.includes(status));
  const newest = (chain[tried] ?? last).subscriptionId;
  if (next === undefined) yield { subscriptionId: newest, detail: 'no SCHEDULED or PAUSED period follows' };
  for (const { subscriptionId, billingDateText } of more)
    yield {
      subscriptionId,
      detail: `is one more period to come, ${billingDateText}, beside ${next?.billingDateText}`,
    };
  // A period too many is no skipped or doubled one besides.
  const surplus = new Set(more);
  yield* steps(
    chain.filter((row) => (isBillingHour(row.billingDate) || row.cameBack) && !surplus.has(row)),
    movedOnPurpose(records),
  );
}

/** Charged back and tried again, or paid by hand, it tells of that: how the member came back is only in its history then. */
const asLink = ({ row, changes }: Link): RecordState[] =>
  row === null ? [] : [{ ...row, cameBack: row.cameBack || changes.some(({ cameBack }) => cameBack) }];

const PAID: readonly string[] = ['COMPLETED', 'REFUNDED', 'ERROR'];

/** It was paid and is given back, or was taken back by a bank, and nobody was billed by it: it is no link of the chain. */
const wasPaidInVain = ({ attempted, status }: RecordState): boolean => !attempted && PAID.includes(status);

/**
 * Records whose date support changed. The step to the new date is not checked. The step from it may start at any date
 * the record ever had: the next period may have existed when it was moved.
 */
const movedOnPurpose = (records: readonly Link[]): ReadonlyMap<string, readonly bigint[]> =>
  new Map(
    records.flatMap(({ subscriptionId, row, changes }) => {
      const others = changes
        .map(({ billingDate }) => billingDate)
        .filter((date) => date !== row?.billingDate);
      return others.length === 0 ? [] : [[subscriptionId, others] as const];
    }),
  );

/**
 * Checks the step from each period to the next. After a cancelled period the member may come back on any date. Where
 * that date is known it becomes the billing day, and rows since then that were cancelled or given back and fit no step
 * are left from the earlier membership.
 */
function* steps(
  periods: readonly RecordState[],
  moved: ReadonlyMap<string, readonly bigint[]>,
): Generator<Finding> {
  let anchors = candidateAnchors(null, null);
  let before: RecordState | null = null;
  let hasComeBack = false;
  for (const period of periods) {
    hasComeBack ||= period.cameBack;
    const isAnyDate = before?.status === 'CANCELLED' || period.cameBack || moved.has(period.subscriptionId);
    const from: RecordState | null = isAnyDate ? null : before;
    const wrong = from === null ? null : wrongStepFromAny(from, period, anchors, moved);
    if (wrong !== null && hasComeBack && isLeftOver(period)) continue;
    if (wrong !== null) yield { subscriptionId: period.subscriptionId, detail: wrong };
    anchors = period.cameBack
      ? new Set([dateOf(period.billingDate).day])
      : candidateAnchors(from !== null && wrong === null ? anchors : null, period.billingDate);
    before = period;
  }
}

/** Paid ahead and given back, or never tried. */
const isLeftOver = ({ status, attempted }: RecordState): boolean =>
  status === 'REFUNDED' || (status === 'CANCELLED' && !attempted);

function wrongStepFromAny(
  before: RecordState,
  period: RecordState,
  anchors: ReadonlySet<number>,
  moved: ReadonlyMap<string, readonly bigint[]>,
): string | null {
  const wrong = wrongStep(before, period, anchors);
  const earlier = moved.get(before.subscriptionId) ?? [];
  const isRight = earlier.some(
    (billingDate) =>
      wrongStep({ ...before, billingDate }, period, candidateAnchors(null, billingDate)) === null,
  );
  return isRight ? null : wrong;
}

function wrongStep(before: RecordState, period: RecordState, anchors: ReadonlySet<number>): string | null {
  const months = monthOf(period.billingDate) - monthOf(before.billingDate);
  const fromTo = `from ${before.billingDateText} to ${period.billingDateText}`;
  if (months > monthsAfter(before)) return `a period is skipped ${fromTo}`;
  if (months < monthsAfter(before)) return `a period is doubled ${fromTo}`;
  if (before.billingWeek !== period.billingWeek) return null;
  const { year, month, day } = dateOf(period.billingDate);
  const expected =
    before.billingWeek === null
      ? [...anchors].map((anchor) => Math.min(anchor, daysInMonth(year, month)))
      : [nthFriday(year, month, before.billingWeek)];
  return expected.includes(day) ? null : `the day is wrong ${fromTo}`;
}

/** A pause is counted in months, whatever the term. What was tried had the next period a term later before it was paused. */
const monthsAfter = ({ pauseMonths, attempted, monthsPerTerm }: RecordState): number =>
  pauseMonths !== 0 && !attempted ? 1 : monthsPerTerm;
