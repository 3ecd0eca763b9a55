import type { Fault } from './plan.ts';
import type { Findings, Verdict } from './verdict.ts';

/** A process that the storm did not kill, and that is gone. */
export interface OwnEnd {
  readonly name: string;
  readonly how: string;
  /** In the storm a server may have been away when it came up. In the quiet nothing is. */
  readonly inQuiet: boolean;
}

export interface Report {
  readonly struck: readonly Fault[];
  /** Told of, and started again like those that were killed. */
  readonly ownEnds: readonly OwnEnd[];
  /** What had not come to its end when the time was up. */
  readonly stillOpen: readonly string[];
  readonly verdict: Verdict;
  readonly dataDir: string;
}

export const isClean = (report: Report): boolean =>
  wrongsFound(report).length === 0 && report.verdict.findings.audit_violations === 0;

/** One sentence for each thing that must not be. None of the audit's, which tells of its own. */
export const wrongsFound = ({ verdict, stillOpen, ownEnds }: Report): string[] => [
  ...verdict.violations,
  ...stillOpen.map((what) => `still open: ${what}`),
  ...ownEnds
    .filter(({ inQuiet }) => inQuiet)
    .map(({ name, how }) => `ended by itself in the quiet: ${name}, ${how}`),
];

export interface Figures extends Findings {
  readonly faults: number;
  readonly still_open: number;
  readonly own_ends: number;
  readonly own_ends_in_quiet: number;
}

/** Everything that can be counted, for machines. */
export const figuresOf = ({ struck, verdict, stillOpen, ownEnds }: Report): Figures => ({
  faults: struck.length,
  ...verdict.findings,
  still_open: stillOpen.length,
  own_ends: ownEnds.length,
  own_ends_in_quiet: ownEnds.filter(({ inQuiet }) => inQuiet).length,
});
