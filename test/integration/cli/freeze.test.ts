import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, figuresOf } from '../../support/cli.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';

let system: Pipeline;
beforeAll(async () => {
  system = await pipeline();
});
afterAll(() => system.close());

const collections = (...args: string[]) => cli(args, system.environment);
const deferred = async () => {
  const figures = figuresOf(await collections('forecast', 'scheduled', '--json'));
  return (figures as { by_verdict: { deferred?: { reasons: object } } }).by_verdict.deferred?.reasons ?? {};
};

describe('freeze', () => {
  it.each([
    ['global', 'nobody is charged', 'frozen-global'],
    ['pinless', 'over a card', 'frozen-rail'],
    ['ach', 'no bank account is charged', 'frozen-rail'],
  ])('%s holds until it is lifted', async (what, stops, reason) => {
    const settings = what === 'ach' ? { has_debit_card: false } : {};
    const record = await system.here.member(settings);
    const frozen = await collections('freeze', what, '--reason', 'returns are high');
    expect(frozen.code).toBe(0);
    expect(frozen.out).toContain(stops);
    expect(frozen.out).toContain('until somebody lifts it');
    expect(frozen.out).toContain('every decision made from now on');
    expect(await deferred()).toMatchObject({ [reason]: expect.any(Number) as number });
    expect((await collections('unfreeze', what)).out).toContain(`${what} is not frozen any more`);
    expect(await deferred()).toEqual({});
    await system.here.store.removeBillingRow(record.userId, record.billingDate);
  });

  it('of a member, by somebody, until a time; and the list says it all', async () => {
    expect((await collections('freezes')).out).toContain('nothing is frozen');
    const { userId } = await system.here.member();
    const until = ['--until', '2026-11-17T08:00:00Z'];
    const said = await collections(
      'freeze',
      `user:${userId}`,
      '--reason',
      'disputes',
      '--who',
      'olga',
      ...until,
    );
    expect(said.out).toContain(`nothing is collected from member ${userId}, until 2026-11-17T08:00:00Z`);
    expect(await deferred()).toEqual({ 'frozen-user': 1 });
    await collections('freeze', 'ach', '--reason', 'returns');
    const { out } = await collections('freezes');
    expect(out).toMatch(/user:member-.* 2026-11-16T08:00:00Z .*until 2026-11-17T08:00:00Z .*olga .*disputes/);
    expect(out).toMatch(new RegExp(`ach .*until somebody lifts it .*${userInfo().username} .*returns`));
  });

  it('that is not there cannot be lifted', async () => {
    const { code, error } = await collections('unfreeze', 'global');
    expect([code, error]).toEqual([1, expect.stringContaining('global is not frozen; `freezes` lists')]);
  });

  it.each([
    [['freeze', 'cards', '--reason', 'x'], 'global, pinless, ach, or user:ID'],
    [['freeze', 'user:', '--reason', 'x'], 'global, pinless, ach, or user:ID'],
    [['freeze', 'global'], '--reason'],
    [['freeze', 'global', '--reason', ' '], "'--reason <text>'"],
    [
      ['freeze', 'global', '--reason', 'x', '--until', '2026-11-16T08:00:00Z'],
      '--until 2026-11-16T08:00:00Z is over',
    ],
  ])('%j is refused with what is wrong', async (args, said) => {
    const { code, error } = await collections(...args);
    expect(code).toBe(1);
    expect(error).toContain(said);
  });
});

it.each(['run', 'forecast', 'freeze', 'unfreeze', 'freezes', 'adopt'])('%s has help', async (name) => {
  const { code, out } = await collections(name, '--help');
  expect(code).toBe(0);
  expect(out).toContain(`Usage: collections ${name}`);
});
