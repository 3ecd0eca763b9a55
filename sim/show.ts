import { count, plural } from '../dashboard/format.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { colour } from '../src/cli/terminal.ts';
import type { SimArguments } from './arguments.ts';
import type { Violation } from './oracle/verdict.ts';
import type { SimFigures } from './run-seeds.ts';
import type { SeedResult } from './simulate.ts';

/** Enough to see what led to it; the whole trace is a file's worth. */
const LINES_SHOWN = 60;
const MOST_VIOLATIONS = 10;

export function showSummary(out: Terminal, figures: SimFigures): void {
  const { seeds, days, users, steps, faults, faultsByKind, debits, foretold, digest, violations } = figures;
  out.line();
  out.table(
    ['what went wrong on purpose', 'how often'],
    Object.entries(faultsByKind)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, times]) => [kind, count(times)]),
  );
  out.line(
    `${plural(seeds, 'world')} of ${plural(users, 'member')} and ${plural(days, 'day')}: ${plural(steps, 'step')}, ` +
      `${plural(faults, 'fault')}, ${plural(debits, 'debit')}, ${plural(foretold, 'run')} compared with their forecasts, ` +
      `${figures.duration_s} s.`,
  );
  out.line(`Digest of all traces: ${digest}`);
  out.line(
    violations === 0
      ? colour(
          'green',
          "Every rule held, the oracle's after each step and the audit's after each window; nothing was left over at the end.",
        )
      : colour('red', 'A rule was broken.'),
  );
}

/** What is wrong, what happened to the user it concerns, where all of it stands, and how to see it again. */
export function showFailure(
  out: Terminal,
  { seed, violations, trace, stack }: SeedResult,
  options: SimArguments,
  traceFile: string | null,
): void {
  out.line();
  out.line(colour('red', `Seed ${seed}:`));
  for (const { rule, userId, recordId, detail } of violations.slice(0, MOST_VIOLATIONS))
    out.line(`  rule ${rule}: ${[userId, recordId].filter((id) => id !== null).join(' ')} ${detail}`);
  if (stack !== null) out.line(`  ${stack.replaceAll('\n', '\n  ')}`);
  showEnd(out, violations, trace);
  out.line();
  if (traceFile !== null) out.line(`Its trace: ${traceFile}`);
  out.line(
    `The same again: npm run sim -- --first ${seed} --seeds 1 --days ${options.days} --users ${options.users}`,
  );
}

function showEnd(out: Terminal, violations: readonly Violation[], trace: readonly string[]): void {
  // Its process has taken it along.
  if (trace.length === 0) return;
  const concerned = violations
    .flatMap(({ userId, recordId }) => [userId, recordId])
    .filter((id) => id !== null);
  const isOfSomebody = concerned.length > 0;
  const lines = isOfSomebody ? trace.filter((line) => concerned.some((id) => line.includes(id))) : trace;
  out.line();
  out.line(`The last that happened${isOfSomebody ? ' to them' : ''}, of ${plural(trace.length, 'line')}:`);
  for (const line of lines.slice(-LINES_SHOWN)) out.line(`  ${line}`);
}
