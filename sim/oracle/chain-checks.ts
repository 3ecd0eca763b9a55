import { readState } from '../../src/audit/record.ts';
import type { Link } from '../../src/audit/rules/7-every-chain-goes-on.ts';
import { everyChainGoesOn } from '../../src/audit/rules/7-every-chain-goes-on.ts';
import type { Change, Item } from './items.ts';
import { text } from './items.ts';
import type { Report } from './verdict.ts';

/**
 * Rule 7, by the audit's words, after each change of a billing row: one that is broken for a moment only is broken. Nobody
 * moves a due date here, so of its history the rule needs only by which records a member came back.
 */
export class ChainChecks {
  private readonly report: Report;
  private readonly rowsOf: (userId: string) => readonly Item[];
  private readonly cameBackBy = new Map<string, Link['changes']>();

  constructor(report: Report, rowsOf: (userId: string) => readonly Item[]) {
    this.report = report;
    this.rowsOf = rowsOf;
  }

  look(rows: readonly Change[]): void {
    for (const userId of new Set(rows.map(({ before, after }) => text(after ?? before, 'user_id')))) {
      const records = this.rowsOf(userId).map((item) => {
        const row = readState(plain(item));
        const { subscriptionId } = row;
        if (row.cameBack) this.cameBackBy.set(subscriptionId, [row]);
        return { subscriptionId, row, changes: this.cameBackBy.get(subscriptionId) ?? [] };
      });
      for (const { subscriptionId: recordId, detail } of everyChainGoesOn({ records }))
        this.report({ rule: '7', userId, recordId, detail });
    }
  }
}

/** As the audit reads it. */
const plain = (item: Item): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(item).map(([name, { S, N, BOOL }]) => [
      name,
      S ?? (N === undefined ? BOOL : Number(N)) ?? null,
    ]),
  );
