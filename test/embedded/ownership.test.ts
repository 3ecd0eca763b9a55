import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/stack.ts';
import { runFixture, type Fixture } from './processes.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => folder.remove());

describe('when many want a dead owner’s folder at the same instant', () => {
  it('lets exactly one have it, round after round', async () => {
    const owners = join(folder.path, 'owners');
    let previous: Fixture[] = [];
    for (let round = 1; round <= 3; round += 1) {
      const contenders = Array.from({ length: 5 }, () => runFixture('take-ownership.mjs', owners));
      await Promise.all(contenders.map((contender) => contender.nextLine()));
      await endAll(previous);

      for (const contender of contenders) contender.process.stdin!.write('go\n');
      const outcomes = await Promise.all(contenders.map((contender) => contender.nextLine()));

      const winners = contenders.filter((_, index) => outcomes[index] === 'taken');
      expect(winners).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === `held by ${winners[0]!.pid}`)).toHaveLength(4);
      expect(await readdir(owners)).toHaveLength(1);
      previous = contenders;
    }
    await endAll(previous);
  });
});

async function endAll(contenders: readonly Fixture[]): Promise<void> {
  for (const contender of contenders) contender.process.stdin!.end();
  await Promise.all(contenders.map((contender) => contender.ended));
}
