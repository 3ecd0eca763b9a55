import type { Terminal } from '../src/cli/terminal.ts';
import { colour } from '../src/cli/terminal.ts';
import type { Report } from './chaos.ts';
import { isClean } from './chaos.ts';
import { kindOf } from './plan.ts';

/** What happened, for people: faults by kind, then what was found, in one sentence at the end. */
export function show(out: Terminal, report: Report): void {
  out.line();
  out.table(['fault', 'times'], faultsByKind(report));
  for (const what of report.verdict.violations) out.line(`${colour('red', '✗')} ${what}`);
  for (const what of report.stillOpen) out.line(`${colour('red', '✗')} still open: ${what}`);
  out.line(sentence(report));
  if (!isClean(report)) out.line(`tables, ledger and logs are kept in ${report.dataDir}`);
}

function faultsByKind({ struck }: Report): string[][] {
  const counts = new Map<string, number>();
  for (const fault of struck) counts.set(kindOf(fault), (counts.get(kindOf(fault)) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([kind, count]) => [kind, String(count)]);
}

function sentence(report: Report): string {
  const { struck, verdict } = report;
  const {
    charges,
    events,
    requests,
    double_debits,
    lost_periods,
    lost_events,
    lost_requests,
    held_back_events,
    audit_violations,
  } = verdict.findings;
  const flowed = `${struck.length} faults, ${charges} charges, ${events} events, ${requests} promises`;
  if (isClean(report))
    return colour(
      'green',
      `${flowed}: nobody was debited twice, and nothing was lost. The audit finds no violation.`,
    );
  const found =
    `${double_debits} double debits, ${lost_periods} lost periods, ${lost_events} lost events, ` +
    `${lost_requests} lost promises, ${held_back_events} good events in quarantine, ${audit_violations} violations in the audit, ${report.stillOpen.length} things still open`;
  return colour('red', `${flowed}: ${found}.`);
}
