import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { items, keys } from '../../../src/adapters/dynamodb/pipeline-items.ts';
import { reconcileRuns } from '../../../src/app/reconcile-runs.ts';
import type { RunDependencies } from '../../../src/app/run-collections.ts';
import { startRun } from '../../../src/app/run-collections.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import { RUN_PROCESSES, runId } from '../../../src/domain/runs.ts';
import { newestTick } from '../../../src/domain/schedule.ts';
import type { SubscriptionId } from '../../../src/domain/subscription.ts';
import type { Log } from '../../../src/ports/log.ts';
import type { RecordRef, RunStore } from '../../../src/ports/runs.ts';
import type { PageKey } from '../../../src/ports/subscriptions.ts';
import { drive, inProcess } from '../../support/in-process-run.ts';
import type { NotedLine } from '../../support/noted-log.ts';
import { notedLog } from '../../support/noted-log.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

let here: World;
let dependencies: RunDependencies;
let wentOn: string[];
let lines: NotedLine[];
let log: Log;
let underWay: Map<string, number>;

beforeEach(async () => {
  here = await world();
  ({ log, lines } = notedLog());
  dependencies = inProcess(here, { log });
  wentOn = [];
  underWay = new Map();
});
afterEach(() => here.close());

const reconcile = async (now: string): Promise<string[]> => {
  here.now = at(now);
  wentOn = [];
  const goOn = (run: { runId: string }): Promise<void> => {
    wentOn.push(run.runId);
    return Promise.resolve();
  };
  const metrics = { runUnderWay: (process: string, ms: number) => void underWay.set(process, ms) };
  await reconcileRuns({ ...dependencies, log, metrics, goOn });
  return [...new Set(wentOn)].sort();
};

describe('the reconciler', () => {
  it('starts nothing on the first day of a new system: nothing was missed', async () => {
    expect(await reconcile('2026-11-16T12:00:00Z')).toEqual([]);
    expect(await dependencies.runs.list(10)).toEqual([]);
  });

  it('starts each run when its time has come, once', async () => {
    await reconcile('2026-11-16T06:00:00Z');
    expect(await reconcile('2026-11-16T06:59:59Z')).toEqual([]);
    expect(await reconcile('2026-11-16T07:00:00Z')).toEqual(['retry-20261116T070000Z']);
    const run = (await dependencies.runs.list(1))[0]!;
    expect((await drive(dependencies, run)).status).toBe('complete');
    expect(await reconcile('2026-11-16T07:01:00Z')).toEqual([]);
  });

  it('looks at what was started before, and writes nothing', async () => {
    await reconcile('2026-11-09T06:00:00Z');
    await reconcile('2026-11-16T06:30:00Z');
    const start = vi.spyOn(dependencies.runs, 'start');
    expect(await reconcile('2026-11-16T06:31:00Z')).toHaveLength(10);
    expect(start).not.toHaveBeenCalled();
  });

  it('makes up for the newest missed tick of each process after an outage, and not for older ones', async () => {
    await reconcile('2026-11-09T06:00:00Z');
    expect(await reconcile('2026-11-16T06:30:00Z')).toEqual([
      'float-retry-20261113T083000Z',
      'float-today-20261113T093000Z',
      'float-tomorrow-20261113T093000Z',
      'notify-20261115T150000Z',
      'pause-20261113T220000Z',
      'recurring-payments-20261115T160000Z',
      'recurring-reminders-20261115T150000Z',
      'retry-20261113T070000Z',
      'scheduled-20261113T080000Z',
      'stale-20261115T090000Z',
    ]);
    expect(await dependencies.runs.list(20)).toHaveLength(10);
  });

  it('sees that a run which stands still goes on from where it stands', async () => {
    const tick = at('2026-11-16T08:00:00Z');
    const run = await startRun(dependencies, 'scheduled', tick);
    expect(await reconcile('2026-11-16T08:10:00Z')).toEqual([run.runId]);
    await drive(dependencies, run);
    expect(await reconcile('2026-11-16T08:11:00Z')).toEqual([]);
  });

  it('tells for how long the oldest run of each process has been under way, and when none is any more', async () => {
    here.now = at('2026-11-16T08:00:00Z');
    const run = await startRun(dependencies, 'scheduled', here.now);
    here.now = at('2026-11-16T09:00:00Z');
    const later = await startRun(dependencies, 'scheduled', here.now);
    await reconcile('2026-11-16T10:30:00Z');
    expect(underWay.get('scheduled')).toBe(2.5 * 3_600_000);
    expect(underWay.get('retry')).toBe(0);
    await drive(dependencies, run);
    await drive(dependencies, later);
    await reconcile('2026-11-16T10:31:00Z');
    expect(underWay.get('scheduled')).toBe(0);
  });

  it('tells it also where no job can be added: that is when a run does not end', async () => {
    here.now = at('2026-11-16T08:00:00Z');
    await startRun(dependencies, 'scheduled', here.now);
    here.now = at('2026-11-16T10:00:00Z');
    const metrics = { runUnderWay: (process: string, ms: number) => void underWay.set(process, ms) };
    const goOn = () => Promise.reject(new Error('Redis is full'));
    await expect(reconcileRuns({ ...dependencies, log, metrics, goOn })).rejects.toThrow('Redis is full');
    expect(underWay.get('scheduled')).toBe(2 * 3_600_000);
  });

  it('starts and lists the others where the row of one cannot be read', async () => {
    await reconcile('2026-11-09T06:00:00Z');
    await reconcile('2026-11-16T06:30:00Z');
    const { client, tables } = here.store;
    const { pk, sk } = keys.run('pause', at('2026-11-13T22:00:00Z'));
    const broken = { pk: { S: pk }, sk: { S: sk } };
    await client.send(new PutItemCommand({ TableName: tables.pipeline, Item: broken }));
    const known = RUN_PROCESSES.map((process) => runId(process, newestTick(process, here.now)));
    expect(await dependencies.runs.getAll(known)).toHaveLength(9);
    expect(await dependencies.runs.list(20)).toHaveLength(9);
    expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual(
      Array(2).fill('error: a row of the runs cannot be read'),
    );
  });

  it('goes on with the records that want to be resumed where one entry cannot be read', async () => {
    const { client, tables } = here.store;
    const wanted = { userId: 'u', subscriptionId: 's' } as RecordRef;
    await here.dependencies.pipeline.rememberResume(wanted, here.now);
    const odd = items.resume.write({ ...wanted, subscriptionId: 'odd' as SubscriptionId }, here.now);
    const broken = { ...odd, userId: { N: '1' } };
    await client.send(new PutItemCommand({ TableName: tables.pipeline, Item: broken }));
    const found: RecordRef[] = [];
    let key: PageKey | null = null;
    do {
      const page: Awaited<ReturnType<RunStore['resumes']>> = await dependencies.runs.resumes(key);
      found.push(...page.records);
      key = page.nextKey;
    } while (key !== null);
    expect(found).toEqual([wanted]);
    expect(lines).toHaveLength(1);
  });

  it('goes on with the others where one cannot, and says so in the end', async () => {
    await reconcile('2026-11-09T06:00:00Z');
    here.now = at('2026-11-16T06:30:00Z');
    const old = await startRun(dependencies, 'scheduled', at('2026-11-12T08:00:00Z'));
    const metrics = { runUnderWay: () => undefined };
    const seen = new Set<string>();
    const goOn = async ({ runId: id }: { runId: string }): Promise<void> => {
      seen.add(id);
      if (id.startsWith('pause') || id.startsWith('retry')) throw new Error(`${id} cannot be moved`);
    };
    const reconciled = reconcileRuns({ ...dependencies, log, metrics, goOn });
    await expect(reconciled).rejects.toThrow('cannot be moved');
    expect(seen.size).toBe(11);
    expect(seen).toContain(old.runId);
    expect(lines.map(({ level, fields }) => [level, (fields as { runId: string }).runId])).toEqual([
      ['error', 'retry-20261113T070000Z'],
      ['error', 'pause-20261113T220000Z'],
    ]);
  });

  it('finds every run that is under way, however many were started since', async () => {
    const first = at('2026-10-01T08:00:00Z');
    const old = await startRun(dependencies, 'scheduled', first);
    for (let day = 1; day <= 30; day += 1) {
      await drive(dependencies, await startRun(dependencies, 'stale', plusMs(plusDays(first, day), 1_000)));
    }
    expect((await dependencies.runs.running()).runs.map(({ runId }) => runId)).toEqual([old.runId]);
  });
});
