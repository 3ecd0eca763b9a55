import type { Mutant } from './mutant.ts';

/** Where a fault is looked for. */
export type Place = { readonly seed: number } | { readonly test: string };

export type Sighting =
  | { readonly kind: 'clean' }
  | { readonly kind: 'wrong'; readonly place: Place; readonly what: string }
  /** It could not be looked at, which says nothing about the code. */
  | { readonly kind: 'broken'; readonly why: string };

/** They look at the code with a fault in it, or as it is (null). */
export interface Lookouts {
  /** Up to the first seed that goes wrong. */
  simulate(seeds: readonly number[], fault: string | null): Promise<Sighting>;
  test(file: string, fault: string | null): Promise<Sighting>;
}

export type Verdict =
  | { readonly kind: 'found'; readonly by: string }
  | { readonly kind: 'missed' }
  | { readonly kind: 'unclear'; readonly why: string };

/** Most faults show in the first few. */
const MOST_SEEDS = 40;
const SEEDS = Array.from({ length: MOST_SEEDS }, (_, i) => i + 1);

/**
 * Says whether a planted fault is found. What is wrong with it must be right without it: a test that cannot start, or a seed
 * on which the code itself is wrong, would find every fault there is.
 */
export class Judge {
  private readonly lookouts: Lookouts;
  /** What is seen without a fault, by place: once each. */
  private readonly controls = new Map<string, Promise<Sighting>>();

  constructor(lookouts: Lookouts) {
    this.lookouts = lookouts;
  }

  async judge({ name, test }: Mutant): Promise<Verdict> {
    const seen = await (test === undefined
      ? this.lookouts.simulate(SEEDS, name)
      : this.lookouts.test(test, name));
    if (seen.kind === 'clean') return { kind: 'missed' };
    if (seen.kind === 'broken') return { kind: 'unclear', why: seen.why };
    const { place, what } = seen;
    const control = await this.control(place);
    if (control.kind === 'clean') return { kind: 'found', by: `${nameOf(place)}, ${what}` };
    const why =
      control.kind === 'wrong'
        ? `the code itself is wrong on ${nameOf(place)}: ${control.what}`
        : `${nameOf(place)} without the fault: ${control.why}`;
    return { kind: 'unclear', why };
  }

  private control(place: Place): Promise<Sighting> {
    const name = nameOf(place);
    const control = this.controls.get(name) ?? this.lookWithoutFault(place);
    this.controls.set(name, control);
    return control;
  }

  private lookWithoutFault(place: Place): Promise<Sighting> {
    return 'seed' in place
      ? this.lookouts.simulate([place.seed], null)
      : this.lookouts.test(place.test, null);
  }
}

const nameOf = (place: Place): string => ('seed' in place ? `seed ${place.seed}` : place.test);
