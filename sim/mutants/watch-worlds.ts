import { fileURLToPath } from 'node:url';
import type { Violation } from '../oracle/verdict.ts';
import type { SeedProcessOptions } from '../seed-processes.ts';
import { SeedCrash, simulateAll } from '../seed-processes.ts';
import type { Sighting } from './judge.ts';

/** Small worlds, many of them. */
const WORLD = { days: 45, users: 60 } as const;

const PLANT = fileURLToPath(new URL('./plant.js', import.meta.url));

export async function watchWorlds(seeds: readonly number[], fault: string | null): Promise<Sighting> {
  let seen: Sighting = { kind: 'clean' };
  const worlds = seeds.map((seed) => ({ seed, ...WORLD }));
  try {
    await simulateAll(
      worlds,
      ({ seed, violations: [first] }) => {
        if (first !== undefined) seen = { kind: 'wrong', place: { seed }, what: describe(first) };
        return first === undefined;
      },
      fault === null ? {} : withFault(fault),
    );
  } catch (error) {
    return sightingOf(error as Error);
  }
  return seen;
}

const withFault = (name: string): SeedProcessOptions => ({
  env: { MUTANT: name },
  execArgv: ['--import', PLANT],
});

const describe = ({ rule, detail }: Violation): string => `rule ${rule}: ${detail.slice(0, 90)}`;

/** A world that crashes shows the fault. A process that is gone may never have had a world: the fault could not be planted. */
function sightingOf(error: Error): Sighting {
  if (!(error instanceof SeedCrash)) return { kind: 'broken', why: error.message };
  const [firstLine = ''] = error.reason.split('\n');
  return { kind: 'wrong', place: { seed: error.seed }, what: `crashed: ${firstLine}` };
}
