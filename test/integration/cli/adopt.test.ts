import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordRef } from '../../../src/ports/runs.ts';
import type { PageKey } from '../../../src/ports/subscriptions.ts';
import { cli } from '../../support/cli.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';

let system: Pipeline;
beforeAll(async () => {
  system = await pipeline();
});
afterAll(() => system.close());

const collections = (...args: string[]) => cli(args, system.environment);

async function resumes(): Promise<RecordRef[]> {
  const found: RecordRef[] = [];
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof system.runs.resumes>> = await system.runs.resumes(key);
    found.push(...page.records);
    key = page.nextKey;
  } while (key !== null);
  return found;
}

describe('adopt', () => {
  it('makes what newly owned members need, once', async () => {
    const { here } = system;
    const record = await here.member();
    const item = (await here.store.billingRow(record.userId, '2026-11-16T06:00:00Z'))!;
    await here.store.putBillingRow({ ...item, updated_event: { S: 'pause-pending-resume' } });
    const nobody = await cli(['adopt'], { ...system.environment, OWNED_USERS: 'none' });
    expect(nobody.out).toContain('1 belong to the older service');
    expect(await resumes()).toEqual([]);
    expect((await collections('adopt')).out).toContain('1 wishes to be charged on resuming');
    const again = await collections('adopt');
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('0 wishes')]);
    expect(again.out).toContain('1 were known');
    expect(await resumes()).toEqual([{ userId: record.userId, subscriptionId: record.subscriptionId }]);
  });
});
