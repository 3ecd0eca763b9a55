import { FenceChecks } from './fence-checks.ts';
import type { Neighbours } from './intent-checks.ts';
import { IntentChecks } from './intent-checks.ts';
import type { Change, Item } from './items.ts';
import { text } from './items.ts';
import type { Money } from './money-checks.ts';
import { MoneyChecks } from './money-checks.ts';
import { PromiseChecks } from './promise-checks.ts';
import { RowChecks } from './row-checks.ts';
import type { Report, Violation } from './verdict.ts';

/** What the oracle may see of the world. Nothing of it comes from the code that is watched. */
export interface OracleView {
  readonly nowMs: () => number;
  readonly neighboursOf: (userId: string) => Neighbours;
  readonly attemptOf: (recordId: string, attemptId: string) => Item | null;
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
  readonly promises: PromiseChecks;
  readonly intents: IntentChecks;
  readonly money: MoneyChecks;
  /** Users of whom something was stored since somebody last looked. */
  readonly touched = new Set<string>();
  private readonly rows: RowChecks;
  private readonly fence: FenceChecks;
  private readonly view: OracleView;

  constructor(view: OracleView) {
    this.view = view;
    const { report } = this;
    this.rows = new RowChecks(report);
    this.fence = new FenceChecks(report);
    this.intents = new IntentChecks(report, view);
    this.money = new MoneyChecks(report, view.attemptOf);
    this.promises = new PromiseChecks(report);
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
      this.fence.look(history, process);
      for (const { before, after } of rows) this.touched.add(text(after ?? before, 'user_id'));
    }
    if (pipeline.length === 0) return;
    this.intents.look(pipeline, { rows, history, sentMs });
    for (const change of pipeline) this.promises.look(change);
  }

  moved(money: Money): void {
    this.money.look(money);
    this.touched.add(money.userId);
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
