import { Asked } from './asked.ts';
import { ChainChecks } from './chain-checks.ts';
import { FenceChecks } from './fence-checks.ts';
import type { Neighbours } from './intent-checks.ts';
import { IntentChecks } from './intent-checks.ts';
import type { Change, Item } from './items.ts';
import { text } from './items.ts';
import type { Money } from './money-checks.ts';
import { MoneyChecks } from './money-checks.ts';
import { OwnPaymentChecks } from './own-payment-checks.ts';
import { PromiseChecks } from './promise-checks.ts';
import { RefundChecks } from './refund-checks.ts';
import { RowChecks, isComeBack } from './row-checks.ts';
import type { Report, Violation } from './verdict.ts';

/** What the oracle may see of the world. Nothing of it comes from the code that is watched. */
export interface OracleView {
  readonly nowMs: () => number;
  readonly neighboursOf: (userId: string) => Neighbours;
  readonly attemptOf: (recordId: string, attemptId: string) => Item | null;
  /** Of one member, as they are stored now. */
  readonly rowsOf: (userId: string) => readonly Item[];
  readonly tables: {
    readonly billing: string;
    readonly history: string;
    readonly locks: string;
    readonly pipeline: string;
  };
}

/** Watches every change and every movement of money, and says at once when one of them must not be. */
export class Oracle {
  readonly violations: Violation[] = [];
  readonly asked = new Asked();
  readonly promises: PromiseChecks;
  readonly intents: IntentChecks;
  readonly money: MoneyChecks;
  readonly refunds: RefundChecks;
  /** Users of whom something was stored since somebody last looked. */
  readonly touched = new Set<string>();
  private readonly rows: RowChecks;
  private readonly chains: ChainChecks;
  private readonly fence: FenceChecks;
  private readonly own: OwnPaymentChecks;
  private readonly view: OracleView;

  constructor(view: OracleView) {
    this.view = view;
    const { report, asked } = this;
    this.promises = new PromiseChecks(report);
    this.rows = new RowChecks(report, (userId) => this.promises.hasClosed(userId));
    this.chains = new ChainChecks(report, view.rowsOf);
    this.fence = new FenceChecks(report);
    const isOpen = (recordId: string): boolean => this.intents.openAttempts.has(recordId);
    this.own = new OwnPaymentChecks(report, { asked, isOpen, rowsOf: view.rowsOf });
    this.intents = new IntentChecks(report, view, this.own);
    const frozenBy = this.intents.frozenBy.bind(this.intents);
    this.refunds = new RefundChecks(report, { asked, frozenBy });
    this.money = new MoneyChecks(report, view.attemptOf);
  }

  readonly report: Report = (violation) => void this.violations.push(violation);

  /** Everything that one request has changed, in one moment; `sentMs`, when it was sent. */
  stored(changes: readonly Change[], process: string, sentMs = this.view.nowMs()): void {
    const { tables } = this.view;
    const of = (table: string): Change[] => changes.filter((change) => change.table === table);
    for (const change of of(tables.locks)) this.fence.lockChanged(change, process);
    const [rows, history, pipeline] = [of(tables.billing), of(tables.history), of(tables.pipeline)];
    if (rows.length > 0 || history.length > 0) {
      this.rows.look(rows, history);
      this.chains.look(rows);
      this.fence.look(history, process);
      for (const { before, after } of rows) {
        this.touched.add(text(after ?? before, 'user_id'));
        if (before === null && after !== null && isComeBack(after))
          this.promises.cameBack(text(after, 'user_id'), text(after, 'subscription_id'), this.view.nowMs());
      }
    }
    this.own.look(pipeline, { rows, history, sentMs });
    if (pipeline.length === 0) return;
    this.refunds.look(pipeline, { rows, sentMs });
    this.intents.look(pipeline, { rows, history, sentMs });
    const closed = closedBy(rows);
    for (const change of pipeline) this.promises.look(change, closed);
  }

  moved(money: Money): void {
    this.money.look(money);
    this.touched.add(money.userId);
  }

  /** The bank was asked once more for what it has given back. */
  refundedAgain(key: string, userId: string, recordId: string): void {
    this.report({
      rule: '5',
      userId,
      recordId,
      detail: `a payment was to be given back again, under ${key}`,
    });
  }

  refundAnswered(recordId: string, refundId: string, isTaken: boolean): void {
    this.refunds.answered(recordId, this.view.attemptOf(recordId, refundId), isTaken);
  }

  /** A member was told that the card was charged and that the membership goes on. */
  cameBack(userId: string, recordId: string): void {
    const { debits } = this.money.of(recordId);
    if (debits === 1) return;
    this.report({
      rule: 'promise',
      userId,
      recordId,
      detail: `came back, and the card was charged ${debits} times`,
    });
  }

  keyReused(key: string, userId: string, reference: string): void {
    this.report({
      rule: '2',
      userId,
      recordId: reference,
      detail: `key ${key} was used for two different charges`,
    });
  }
}

const closedBy = (rows: readonly Change[]): ReadonlySet<string> =>
  new Set(
    rows
      .filter(({ after }) => text(after, 'updated_event') === 'account-closed')
      .map(({ after }) => text(after, 'subscription_id')),
  );
