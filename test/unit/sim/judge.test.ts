import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../sim/mutants/judge.ts';
import { Judge } from '../../../sim/mutants/judge.ts';
import type { Mutant } from '../../../sim/mutants/mutant.ts';

const mutant = (name: string, test?: string): Mutant => ({
  name,
  what: 'people pay twice',
  file: 'src/app/x.ts',
  find: 'a',
  replace: 'b',
  ...(test === undefined ? {} : { test }),
});

const CLEAN: Sighting = { kind: 'clean' };
const wrongOn = (seed: number, what: string): Sighting => ({ kind: 'wrong', place: { seed }, what });
const failed = (test: string): Sighting => ({ kind: 'wrong', place: { test }, what: '"pays once" fails' });

/** What is seen with the fault, and what without. */
function judgeWho({ withFault, without = CLEAN }: { withFault: Sighting; without?: Sighting }) {
  const controls: string[] = [];
  const look = (where: string, fault: string | null): Promise<Sighting> => {
    if (fault === null) controls.push(where);
    return Promise.resolve(fault === null ? without : withFault);
  };
  const judge = new Judge({
    simulate: (seeds, fault) => look(`seeds ${seeds.join()}`, fault),
    test: (file, fault) => look(file, fault),
  });
  return { judge, controls };
}

describe('a planted fault', () => {
  it('is found by a seed that is clean without it', async () => {
    const { judge, controls } = judgeWho({ withFault: wrongOn(7, 'rule 2: a debit without an intent') });
    expect(await judge.judge(mutant('m'))).toEqual({
      kind: 'found',
      by: 'seed 7, rule 2: a debit without an intent',
    });
    expect(controls).toEqual(['seeds 7']);
  });

  it('is found by a test that passes without it', async () => {
    const { judge, controls } = judgeWho({ withFault: failed('test/a.test.ts') });
    expect(await judge.judge(mutant('m', 'test/a.test.ts'))).toEqual({
      kind: 'found',
      by: 'test/a.test.ts, "pays once" fails',
    });
    expect(controls).toEqual(['test/a.test.ts']);
  });

  it('is missed where all is clean with it', async () => {
    const { judge, controls } = judgeWho({ withFault: CLEAN });
    expect(await judge.judge(mutant('m'))).toEqual({ kind: 'missed' });
    expect(controls).toEqual([]);
  });

  it('is not found by what could not be looked at', async () => {
    const { judge } = judgeWho({ withFault: { kind: 'broken', why: 'there is no Java' } });
    expect(await judge.judge(mutant('m', 'test/a.test.ts'))).toEqual({
      kind: 'unclear',
      why: 'there is no Java',
    });
  });

  it('is not found where the code itself is wrong', async () => {
    const { judge } = judgeWho({ withFault: wrongOn(3, 'rule 2'), without: wrongOn(3, 'crashed: no') });
    expect(await judge.judge(mutant('m'))).toEqual({
      kind: 'unclear',
      why: 'the code itself is wrong on seed 3: crashed: no',
    });
  });

  it('is not found where nobody can say whether the code itself is right', async () => {
    const { judge } = judgeWho({
      withFault: failed('test/a.test.ts'),
      without: { kind: 'broken', why: 'no test ran' },
    });
    expect(await judge.judge(mutant('m', 'test/a.test.ts'))).toEqual({
      kind: 'unclear',
      why: 'test/a.test.ts without the fault: no test ran',
    });
  });

  it('shares its control with others that are found at the same place', async () => {
    const { judge, controls } = judgeWho({ withFault: wrongOn(7, 'rule 2') });
    await judge.judge(mutant('one'));
    await judge.judge(mutant('another'));
    expect(controls).toEqual(['seeds 7']);
  });
});
