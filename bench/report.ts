import type { Terminal } from '../src/cli/terminal.ts';
import { colour } from '../src/cli/terminal.ts';
import type { Figure } from './figures.ts';
import { FIGURES, aimText, commandOf, outcomeOf, rounded } from './figures.ts';
import type { MachineFacts } from './machine.ts';
import { machineText } from './machine.ts';
import type { Found } from './parts.ts';
import type { RoomShares } from './profile.ts';
import type { StepTime } from './steps.ts';
import type { WriteUnits } from './write-units.ts';

/** Everything that one call of the bench has to say, for people and for machines. */
export interface Report extends Found {
  readonly machine: MachineFacts;
  readonly command: string;
  /** Whole minutes, UTC. */
  readonly measuredAt: string;
  readonly profile?: Readonly<Record<string, RoomShares>>;
}

export function show(out: Terminal, report: Report): void {
  const { figures, machine, command, measuredAt, steps, writeUnits, profile } = report;
  const rows = FIGURES.flatMap((figure) => {
    const value = figures[figure.name];
    if (value === undefined) return [];
    return [
      [
        figure.name,
        String(rounded(value)),
        aimText(figure),
        shown(figure, value),
        figure.what,
        commandOf(figure.part),
      ],
    ];
  });
  out.line();
  out.table(['figure', 'value', 'aim', '', 'what it is', 'again'], rows);
  if (steps !== undefined) showSteps(out, steps);
  if (writeUnits !== undefined) showWriteUnits(out, writeUnits);
  for (const [kind, shares] of Object.entries(profile ?? {})) showShares(out, kind, shares);
  out.line(`${command}, ${measuredAt}`);
  out.line(machineText(machine));
}

function shown(figure: Figure, value: number): string {
  const outcome = outcomeOf(figure, rounded(value));
  return outcome === 'miss' ? colour('red', outcome) : colour('green', outcome);
}

function showSteps(out: Terminal, steps: readonly StepTime[]): void {
  out.table(
    ['step of a collection, alone', 'ms'],
    steps.map(({ step, ms }) => [step, ms.toFixed(1)]),
  );
}

function showWriteUnits(out: Terminal, writeUnits: readonly WriteUnits[]): void {
  out.table(
    ['table', 'index', 'write units of a collection'],
    writeUnits.map(({ table, index = '', units }) => [table, index, String(units)]),
  );
}

function showShares(
  out: Terminal,
  kind: string,
  { idle_percent: idle, busy_percent: busy }: RoomShares,
): void {
  const rows = Object.entries(busy).map(([room, percent]) => [room, percent.toFixed(1)]);
  out.table([`${kind}: idle ${idle} %, and of the rest`, '%'], rows);
}

/** One line for machines: the figures by their names, and beside them what they are about. */
export function lineOf({ figures, measuredAt, writeUnits, ...about }: Report): string {
  const numbers = Object.entries(figures).map(([name, value]) => [name, rounded(value)]);
  return JSON.stringify({
    ...Object.fromEntries(numbers),
    measured_at: measuredAt,
    write_units: writeUnits,
    ...about,
  });
}
