import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cents } from '../../../src/domain/money.ts';
import type { RunId } from '../../../src/domain/runs.ts';
import { cli, figuresOf, startCli } from '../../support/cli.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import { debits } from '../../support/world.ts';

let system: Pipeline;
const collections = (...args: string[]) => cli(args, system.environment);

describe('with workers', () => {
  beforeAll(async () => {
    system = await pipeline();
    await system.worker();
  });
  afterAll(() => system.close());

  it('run --wait charges what is due and reports it beside its forecast', async () => {
    const paying = await system.members(5);
    await system.here.member({ balance: { amount: '1.00' } });
    const cheap = await system.here.member({}, { billingAmount: cents(100) });
    const foretold = figuresOf(await collections('forecast', 'scheduled', '--json'));
    expect(foretold).toEqual({
      run: 'scheduled-20261116T080000Z',
      as_of: '2026-11-16T08:00:00Z',
      records: 7,
      amount: '30.94',
      by_verdict: {
        charge: { count: 6, amount: '25.95', reasons: { PINLESS: 6 } },
        refuse: { count: 1, amount: '4.99', reasons: { 'balance-too-low': 1 } },
      },
      due: 7,
      malformed: 0,
      unreachable: 0,
      would_stop: false,
    });
    expect(debits(await system.here.ledger(paying[0]!))).toBe(0);

    const answer = await collections('run', 'scheduled', '--wait', '--json');
    expect(answer.code).toBe(0);
    expect(answer.out.trimEnd().split('\n')).toHaveLength(1);
    expect(answer.error).toMatch(/collected │ 6 +│ 25\.95 +│ PINLESS 6/);
    expect(answer.error).toContain('✓ as the forecast as of 2026-11-16T08:00:00Z said');
    expect(figuresOf(answer)).toEqual({
      run: 'scheduled-20261116T080000Z',
      run_id: 'scheduled-20261116T080000Z',
      process: 'scheduled',
      as_of: '2026-11-16T08:00:00Z',
      status: 'complete',
      duration_ms: 0,
      due: 7,
      not_owned: 0,
      passes: 2,
      records: 7,
      amount: '30.94',
      by_verdict: {
        collected: { count: 6, amount: '25.95', reasons: { PINLESS: 6 } },
        refused: { count: 1, amount: '4.99', reasons: { 'balance-too-low': 1 } },
      },
      by_plan: {
        charge: { count: 6, amount: '25.95', reasons: { PINLESS: 6 } },
        refuse: { count: 1, amount: '4.99', reasons: { 'balance-too-low': 1 } },
      },
      forecast: foretold,
      differences: [],
    });
    for (const record of [...paying, cheap]) expect(debits(await system.here.ledger(record))).toBe(1);

    const again = await collections('run', 'scheduled', '--wait');
    expect([again.code, again.error]).toEqual([0, '']);
    expect(again.out).toContain('run scheduled-20261116T080000Z is complete');
    for (const record of paying) expect(debits(await system.here.ledger(record))).toBe(1);
  });

  it('says where the run decided otherwise than foretold', async () => {
    const [first] = await system.members(2, {}, { billingStatus: 'ERROR' });
    await collections('forecast', 'retry');
    await collections('freeze', `user:${first!.userId}`, '--reason', 'asked us to wait');
    const answer = await collections('run', 'retry', '--wait', '--json');
    expect(figuresOf(answer)).toHaveProperty('differences', [
      { plan: 'charge', forecast: { count: 2, amount: '9.98' }, run: { count: 1, amount: '4.99' } },
      { plan: 'deferred', forecast: { count: 0, amount: '0.00' }, run: { count: 1, amount: '4.99' } },
    ]);
    expect(answer.error).toMatch(/deferred │ 0 +│ 0\.00 +│ 1 +│ 4\.99/);
  });

  it('a run that stops itself ends with 1, and the forecast has said so', async () => {
    await system.members(50, { status: 'BANNED' }, { billingStatus: 'PAUSED' });
    const forecast = await collections('forecast', 'pause', '--json');
    expect(figuresOf(forecast)).toMatchObject({ would_stop: true, due: 50 });
    expect(forecast.error).toContain('the run would stop itself');
    const answer = await collections('run', 'pause', '--wait');
    expect(answer.code).toBe(1);
    expect(answer.out).toContain('the run stopped itself');
  });

  it('run without --wait leaves it to the workers; a time is cut to its second', async () => {
    const answer = await collections('run', 'stale', '--as-of', '2026-11-16T07:59:59.9Z', '--json');
    expect(answer.code).toBe(0);
    expect(figuresOf(answer)).toMatchObject({
      run_id: 'stale-20261116T075959Z',
      status: 'running',
      duration_ms: null,
    });
    expect(await system.over('stale-20261116T075959Z' as RunId)).toMatchObject({ status: 'complete' });
  });

  it('no run is ahead of the clock; a forecast may be', async () => {
    const ahead = ['scheduled', '--as-of', '2026-11-16T08:00:01Z'];
    const { code, error } = await collections('run', ...ahead);
    expect(code).toBe(1);
    expect(error).toContain('--as-of 2026-11-16T08:00:01Z is ahead of the clock');
    expect(error).toContain('`forecast scheduled --as-of 2026-11-16T08:00:01Z`');
    expect(await system.runs.get('scheduled-20261116T080001Z' as RunId)).toBeNull();
    expect((await collections('forecast', ...ahead)).code).toBe(0);
  });

  it.each([
    [['run', 'weekly'], /process'.*one of scheduled, retry, pause, stale/],
    [['forecast', 'weekly'], /process'.*one of scheduled, retry, pause, stale/],
    [['run', 'retry', '--as-of', '0000-01-01T00:00:00Z'], /--as-of <time>'.*not before 2000-01-01/],
    [['run', 'retry', '--as-of', 'noon'], /--as-of <time>'.*2026-11-16T08:00:00Z/],
  ])('%j is refused with what is allowed', async (args, said) => {
    const { code, error } = await collections(...args);
    expect(code).toBe(1);
    expect(error).toMatch(said);
  });
});

describe('without workers', () => {
  beforeAll(async () => {
    system = await pipeline();
    await system.members(2);
  });
  afterAll(() => system.close());

  it('run --wait says that nobody takes the job; Ctrl-C leaves the run to whoever comes', async () => {
    const waiting = startCli(['run', 'scheduled', '--wait', '--json'], system.environment);
    await eventually('it says so', () =>
      waiting.said().includes('is anybody running npm run start:workers?'),
    );
    waiting.child.kill('SIGINT');
    const { code, out, error } = await waiting.answer;
    expect([code, out]).toEqual([130, '']);
    expect(error).toContain('run scheduled-20261116T080000Z goes on without this command');
    await system.worker();
    expect(await system.over('scheduled-20261116T080000Z' as RunId)).toMatchObject({ due: 2 });
  });

  it('a Redis that is down costs the shelf of a forecast, and delays a run, no more', async () => {
    await system.redis.kill();
    const forecast = await collections('forecast', 'retry', '--json');
    expect(forecast.code).toBe(0);
    expect(forecast.error).toContain('will not be compared');
    expect(figuresOf(forecast)).toMatchObject({ run: 'retry-20261116T080000Z' });
    const run = await collections('run', 'retry');
    expect(run.code).toBe(0);
    expect(run.out).toContain('The run is stored');
    expect(await system.runs.get('retry-20261116T080000Z' as RunId)).toMatchObject({ status: 'running' });
  });
});
