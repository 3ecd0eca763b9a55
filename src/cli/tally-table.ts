import { formatMoney } from '../domain/money.ts';
import type { Tally } from '../ports/runs.ts';
import type { Terminal } from './terminal.ts';

/** Where each record has a reason of its own (rows that cannot be read) the first few are enough. */
const REASONS_SHOWN = 5;

/** One row for each name that occurs, in the order of `names`. */
export function tallyTable(
  out: Terminal,
  what: string,
  names: readonly string[],
  tallies: Readonly<Partial<Record<string, Tally>>>,
): void {
  const rows = names.flatMap((name) => {
    const tally = tallies[name];
    return tally === undefined
      ? []
      : [[name, String(tally.count), formatMoney(tally.amount), reasonsText(tally)]];
  });
  if (rows.length > 0) out.table([what, 'records', 'amount', 'reasons'], rows);
}

function reasonsText({ reasons }: Tally): string {
  const sorted = Object.entries(reasons).sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, REASONS_SHOWN).map(([reason, count]) => `${reason} ${count}`);
  const more = sorted.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} other reasons`] : [])].join('\n');
}
