import type { Asked } from './asked.ts';
import type { Change, Item } from './items.ts';
import { isAttempt, resolutionOf, text } from './items.ts';
import type { Report } from './verdict.ts';

/** Money that goes back: only what somebody asked for or what was paid in vain, once, and to its end. */
export class RefundChecks {
  private readonly report: Report;
  private readonly asked: Asked;
  private readonly frozenBy: (attempt: Item, sentMs: number) => string | null;
  /** By payment: the refund that is under way or was taken. */
  private readonly live = new Map<string, string>();

  constructor(
    report: Report,
    parts: {
      readonly asked: Asked;
      /** What has long been frozen that stands against it. */
      readonly frozenBy: (attempt: Item, sentMs: number) => string | null;
    },
  ) {
    this.report = report;
    this.asked = parts.asked;
    this.frozenBy = parts.frozenBy;
  }

  look(
    attempts: readonly Change[],
    along: { readonly rows: readonly Change[]; readonly sentMs: number },
  ): void {
    for (const { before, after } of attempts) {
      if (after === null || !isAttempt(after)) continue;
      const payment = after['refundOf']?.S;
      if (payment === undefined) continue;
      if (before === null) this.begun(after, payment, attempts, along);
      if (resolutionOf(after) === 'FAILED') this.live.delete(payment);
    }
  }

  private begun(
    refund: Item,
    payment: string,
    attempts: readonly Change[],
    { rows, sentMs }: { readonly rows: readonly Change[]; readonly sentMs: number },
  ): void {
    const [recordId, refundId] = [text(refund, 'subscriptionId'), text(refund, 'attemptId')];
    const isInVain = attempts.some(
      ({ before, after }) =>
        text(after, 'subscriptionId') === recordId &&
        after !== null &&
        isOwnPayment(after) &&
        before !== null &&
        resolutionOf(before) === '' &&
        resolutionOf(after) === 'COMPLETED',
    );
    const row = rows.find(({ after }) => text(after, 'subscription_id') === recordId)?.after ?? null;
    if (text(row, 'billing_status') !== 'COMPLETED' || text(row, 'transaction_id') !== payment)
      this.wrong(refund, 'was begun, and its record is not paid by what it gives back');
    if (text(row, 'billing_amount') !== text(refund, 'amount'))
      this.wrong(refund, 'is of another amount than was paid');
    const other = this.live.get(payment);
    if (other !== undefined)
      this.wrong(refund, `was begun beside ${other.slice(0, 12)}, of the same payment`);
    this.live.set(payment, refundId);
    // What was paid in vain goes back by itself, whatever is frozen.
    if (isInVain) return;
    if (!this.asked.has('refund', recordId, text(refund, 'triggerId')))
      this.wrong(refund, 'was begun, and nobody asked for it');
    const frozen = this.frozenBy(refund, sentMs);
    if (frozen !== null) this.wrong(refund, `was begun although ${frozen} is frozen`);
  }

  /** Somebody was told that it is under way, or that it was taken. */
  answered(recordId: string, refund: Item | null, isTaken: boolean): void {
    const isThere = refund?.['refundOf']?.S !== undefined;
    if (isThere && (!isTaken || resolutionOf(refund) === 'COMPLETED')) return;
    const detail = isThere
      ? 'a refund was said to be taken, and was not'
      : 'a refund was promised, and there is none';
    this.report({ rule: 'promise', userId: text(refund, 'userId') || null, recordId, detail });
  }

  private wrong(refund: Item, detail: string): void {
    const [userId, recordId] = [text(refund, 'userId'), text(refund, 'subscriptionId')];
    const name = text(refund, 'attemptId').slice(0, 12);
    this.report({ rule: '5', userId, recordId, detail: `refund ${name} ${detail}` });
  }
}

/** A better plan until the next period, or the way back: whether it was in vain is asked where it is paid. */
const isOwnPayment = (attempt: Item): boolean =>
  attempt['upgrades']?.M !== undefined || text(attempt, 'process') === 'REACTIVATION';

/** When all is quiet each refund has ended: the money has gone back, or a person is told that it has not. */
export function refundsHaveEnded(world: {
  readonly pipeline: Iterable<Item>;
  readonly isGivenBack: (payment: string) => boolean;
  /** When the bank moved money for a record last. */
  readonly movedMs: (recordId: string) => number;
  readonly beforeMs: number;
  readonly report: Report;
}): void {
  const items = [...world.pipeline];
  const listed = new Map(
    items
      .filter((item) => text(item, 'sk') === 'REFUSED_REFUND')
      .map((item) => [text(item, 'subscriptionId'), item] as const),
  );
  const wrong = (item: Item, detail: string): void => {
    const [userId, recordId] = [text(item, 'userId'), text(item, 'subscriptionId')];
    world.report({ rule: '5', userId, recordId, detail });
  };
  for (const item of items) {
    const payment = isAttempt(item) ? item['refundOf']?.S : undefined;
    if (payment === undefined || world.isGivenBack(payment)) continue;
    const noted = listed.get(text(item, 'subscriptionId')) ?? null;
    if (resolutionOf(item) === 'COMPLETED') wrong(item, 'a refund was taken, and the bank has the money');
    else if (resolutionOf(item) === 'FAILED' && text(noted, 'confirmationId') !== payment)
      wrong(item, 'a refund was refused, and nobody is told');
  }
  for (const [recordId, item] of listed)
    if (world.isGivenBack(text(item, 'confirmationId')) && world.movedMs(recordId) < world.beforeMs)
      wrong(item, 'stands on the list of refused refunds, and the money has gone back');
}
