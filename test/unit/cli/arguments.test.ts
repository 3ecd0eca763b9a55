import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { collectingProcess, runProcess } from '../../../src/cli/arguments.ts';
import { COLLECTING_PROCESSES, RUN_PROCESSES } from '../../../src/domain/runs.ts';

describe('the process that people name', () => {
  it('can be any for a run, and for a forecast one that charges', () => {
    expect(RUN_PROCESSES.map((name) => runProcess(name))).toEqual([...RUN_PROCESSES]);
    expect(COLLECTING_PROCESSES.map((name) => collectingProcess(name))).toEqual([...COLLECTING_PROCESSES]);
  });

  it('is refused for a forecast of a run that charges nothing, which says so', () => {
    expect(() => collectingProcess('notify')).toThrow(InvalidArgumentError);
    expect(() => collectingProcess('notify')).toThrow(
      'a notify run charges nothing, so there is nothing to foretell: one of scheduled, retry, pause, stale, ',
    );
  });

  it('is refused when nobody knows it, with those that are known', () => {
    expect(() => runProcess('collect')).toThrow(`one of ${RUN_PROCESSES.join(', ')}`);
    expect(() => collectingProcess('collect')).toThrow(`one of ${COLLECTING_PROCESSES.join(', ')}`);
  });
});
