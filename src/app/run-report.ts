import type { Cents } from '../domain/money.ts';
import { ZERO, addMoney } from '../domain/money.ts';
import type { RunId } from '../domain/runs.ts';
import type { Verdict, VerdictName } from '../domain/verdict.ts';
import type { RunReport, RunStore, Tally } from '../ports/runs.ts';
import type { PageKey } from '../ports/subscriptions.ts';

/** Adds up what came of a run's records, a page at a time: the report is small however large the run. */
export async function reportOf(runs: RunStore, runId: RunId): Promise<RunReport> {
  const tallies = new Tallies();
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<RunStore['verdicts']>> = await runs.verdicts(runId, key);
    for (const verdict of page.verdicts) tallies.add(verdict);
    key = page.nextKey;
  } while (key !== null);
  return tallies.report();
}

/** Counts and amounts by verdict, and counts by reason within each. Also what a forecast adds up with. */
export class Tallies {
  private readonly byVerdict = new Map<
    VerdictName,
    { count: number; amount: Cents; reasons: Map<string, number> }
  >();

  add({ verdict, reason, amount }: Pick<Verdict, 'verdict' | 'reason' | 'amount'>): void {
    const tally = this.byVerdict.get(verdict) ?? {
      count: 0,
      amount: ZERO,
      reasons: new Map<string, number>(),
    };
    tally.count += 1;
    tally.amount = addMoney(tally.amount, amount);
    tally.reasons.set(reason, (tally.reasons.get(reason) ?? 0) + 1);
    this.byVerdict.set(verdict, tally);
  }

  report(): RunReport {
    const entries = [...this.byVerdict].map(([verdict, { count, amount, reasons }]): [VerdictName, Tally] => [
      verdict,
      { count, amount, reasons: Object.fromEntries(reasons) },
    ]);
    return {
      records: entries.reduce((sum, [, { count }]) => sum + count, 0),
      amount: entries.reduce((sum, [, { amount }]) => addMoney(sum, amount), ZERO),
      byVerdict: Object.fromEntries(entries),
    };
  }
}
