import { fileURLToPath } from 'node:url';
import type { Violation } from '../oracle/verdict.ts';
import { CRASHED, NO_RESULT } from '../oracle/verdict.ts';
import type { SeedProcessOptions } from '../seed-processes.ts';
import { simulateAll } from '../seed-processes.ts';
import type { SeedResult } from '../simulate.ts';
import type { Sighting } from './judge.ts';

/** Small worlds, many of them. */
const WORLD = { days: 45, users: 60 } as const;

const PLANT = fileURLToPath(new URL('./plant.js', import.meta.url));

export async function watchWorlds(seeds: readonly number[], fault: string | null): Promise<Sighting> {
  let seen: Sighting = { kind: 'clean' };
  await simulateAll(
    seeds.map((seed) => ({ seed, ...WORLD })),
    (result) => {
      seen = sightingOf(result);
      return seen.kind === 'clean';
    },
    fault === null ? {} : withFault(fault),
  );
  return seen;
}

const withFault = (name: string): SeedProcessOptions => ({
  env: { MUTANT: name },
  execArgv: ['--import', PLANT],
});

/** A world that crashes shows the fault. A process that is gone may never have had a world: the fault could not be planted. */
export function sightingOf({ seed, violations: [first] }: Pick<SeedResult, 'seed' | 'violations'>): Sighting {
  if (first === undefined) return { kind: 'clean' };
  if (first.rule === NO_RESULT) return { kind: 'broken', why: first.detail };
  return { kind: 'wrong', place: { seed }, what: describe(first) };
}

function describe({ rule, detail }: Violation): string {
  const [firstLine = ''] = detail.split('\n');
  return rule === CRASHED ? `crashed: ${firstLine}` : `rule ${rule}: ${detail.slice(0, 90)}`;
}
