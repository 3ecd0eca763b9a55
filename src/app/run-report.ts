import type { Cents } from '../domain/money.ts';
import { ZERO, addMoney } from '../domain/money.ts';
import type { RunId } from '../domain/runs.ts';
import type { PlanName } from '../domain/plan.ts';
import type { VerdictName } from '../domain/verdict.ts';
import type { RunReport, RunStore, Tally } from '../ports/runs.ts';
import { pagesOf } from './pages-of.ts';

/** Adds up what came of a run's records, a page at a time: the report is small however large the run. */
export async function reportOf(runs: RunStore, runId: RunId): Promise<RunReport> {
  const byVerdict = new Tallies<VerdictName>();
  const byPlan = new Tallies<PlanName>();
  for await (const { verdicts } of pagesOf((key) => runs.verdicts(runId, key))) {
    for (const { verdict, reason, amount, plan } of verdicts) {
      byVerdict.add(verdict, reason, amount);
      if (plan !== null) byPlan.add(plan.plan, plan.reason, amount);
    }
  }
  return { ...byVerdict.total(), byVerdict: byVerdict.tallies(), byPlan: byPlan.tallies() };
}

/** Processors invent codes. A report is one item of the store and must fit into it, whatever they say. */
const MOST_REASONS = 100;

/** Counts and amounts by name, and counts by reason within each. */
export class Tallies<Name extends string> {
  private readonly byName = new Map<Name, { count: number; amount: Cents; reasons: Map<string, number> }>();

  add(name: Name, reason: string, amount: Cents): void {
    const tally = this.byName.get(name) ?? { count: 0, amount: ZERO, reasons: new Map<string, number>() };
    tally.count += 1;
    tally.amount = addMoney(tally.amount, amount);
    const kept = tally.reasons.has(reason) || tally.reasons.size < MOST_REASONS ? reason : 'other';
    tally.reasons.set(kept, (tally.reasons.get(kept) ?? 0) + 1);
    this.byName.set(name, tally);
  }

  total(): { readonly records: number; readonly amount: Cents } {
    const all = [...this.byName.values()];
    return {
      records: all.reduce((sum, { count }) => sum + count, 0),
      amount: all.reduce((sum, { amount }) => addMoney(sum, amount), ZERO),
    };
  }

  tallies(): Partial<Record<Name, Tally>> {
    const entries = [...this.byName].map(([name, { count, amount, reasons }]): [Name, Tally] => [
      name,
      { count, amount, reasons: Object.fromEntries(reasons) },
    ]);
    return Object.fromEntries(entries) as Partial<Record<Name, Tally>>;
  }
}
