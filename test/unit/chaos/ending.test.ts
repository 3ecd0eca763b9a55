import { expect, it } from 'vitest';
import { Ending } from '../../../chaos/ending.ts';

it('ends what was begun last first, each once, whatever fails', async () => {
  const ended: string[] = [];
  const ending = new Ending();
  ending.add(async () => ended.push('servers'));
  ending.add(() => Promise.reject(new Error('it was gone already')));
  ending.add(async () => ended.push('processes'));

  await Promise.all([ending.end(), ending.end()]);

  expect(ended).toEqual(['processes', 'servers']);
});

it('ends at once what is begun after the end', async () => {
  const ended: string[] = [];
  const ending = new Ending();
  await ending.end();
  ending.add(async () => ended.push('late'));
  expect(ended).toEqual(['late']);
});
