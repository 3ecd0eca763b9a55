import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../../../sim/mutants/list.ts';
import { planted } from '../../../sim/mutants/mutant.ts';

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

describe('planted faults', () => {
  it('are many, and each has a name of its own', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(25);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  });

  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('%s can be planted', (_, mutant) => {
    const text = read(mutant.file);
    expect(planted(mutant, text)).not.toBe(text);
    if (mutant.test !== undefined) expect(read(mutant.test)).not.toBe('');
  });

  it('say so when the code has changed', () => {
    const [mutant] = MUTANTS;
    expect(() => planted(mutant!, 'something else')).toThrow(/stands 0 times/);
    expect(() => planted(mutant!, mutant!.find.repeat(2))).toThrow(/stands 2 times/);
  });
});
