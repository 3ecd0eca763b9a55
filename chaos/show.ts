import type { Terminal } from '../src/cli/terminal.ts';
import { colour } from '../src/cli/terminal.ts';
import { kindOf } from './plan.ts';
import type { Report } from './report.ts';
import { wrongsFound, figuresOf, isClean } from './report.ts';

/** What happened, for people: faults by kind and promises by their end, then what was found, in one sentence at the end. */
export function show(out: Terminal, report: Report): void {
  const { refused, own_ends, own_ends_in_quiet } = figuresOf(report);
  out.line();
  out.table(['fault', 'times'], mostFirst(faultsByKind(report)));
  out.line();
  out.table(['promise', 'times'], mostFirst(report.verdict.endings));
  out.line();
  out.line(
    `${refused} orders were refused, ${own_ends - own_ends_in_quiet} processes ended by themselves in the storm`,
  );
  for (const what of wrongsFound(report)) out.line(`${colour('red', '✗')} ${what}`);
  out.line(sentence(report));
  if (!isClean(report)) out.line(`tables, ledger and logs are kept in ${report.dataDir}`);
}

function faultsByKind({ struck }: Report): Map<string, number> {
  const counts = new Map<string, number>();
  for (const fault of struck) counts.set(kindOf(fault), (counts.get(kindOf(fault)) ?? 0) + 1);
  return counts;
}

const mostFirst = (counts: ReadonlyMap<string, number>): string[][] =>
  [...counts].sort(([, a], [, b]) => b - a).map(([what, count]) => [what, String(count)]);

function sentence(report: Report): string {
  const figures = figuresOf(report);
  const { faults, charges, events, requests } = figures;
  const flowed = `${faults} faults, ${charges} charges, ${events} events, ${requests} promises`;
  if (isClean(report))
    return colour(
      'green',
      `${flowed}: nobody was debited twice, and nothing was lost. The audit finds no violation.`,
    );
  const found = [
    `${figures.double_debits} double debits`,
    `${figures.unpaid_periods} periods and ${figures.unpaid_requests} promises without the money`,
    `${figures.lost_periods} lost periods`,
    `${figures.periods_after_closing} periods of closed accounts`,
    `${figures.lost_events} lost events`,
    `${figures.held_back_events} good events in quarantine`,
    `${figures.misread_events} unreadable events applied`,
    `${figures.lost_requests} lost promises`,
    `${figures.audit_violations} violations in the audit`,
    `${figures.still_open} things still open`,
    `${figures.own_ends_in_quiet} processes ended by themselves in the quiet`,
  ];
  return colour('red', `${flowed}: ${found.join(', ')}.`);
}
