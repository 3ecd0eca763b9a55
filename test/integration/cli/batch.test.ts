import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../../src/domain/instant.ts';
import { freePort } from '../../../src/embedded/free-port.ts';
import { cli, figuresOf } from '../../support/cli.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import { temporaryFolder } from '../../support/stack.ts';

let system: Pipeline;
const collections = (args: string[], env = {}) => cli(args, { ...system.environment, ...env });

beforeAll(async () => {
  system = await pipeline();
  await system.worker();
});
afterAll(() => system.close());

describe('batch', () => {
  it('collects the records that it is given and those of a file, each once, also when ordered again', async () => {
    const folder = await temporaryFolder();
    const [one, two] = await system.members(2, {}, { billingStatus: 'ERROR' });
    const file = join(folder.path, 'ids');
    await writeFile(file, `\n${two!.subscriptionId}\n  ${one!.subscriptionId}\n`);
    const args = ['batch', one!.subscriptionId, '--file', file, '--id', 'november', '--json'];
    const first = await collections(args);
    expect(first.code).toBe(0);
    expect(figuresOf(first)).toMatchObject({ batch_id: 'november', unknown: [] });
    await eventually('both are collected', async () =>
      (await debitsOf(system.here, [one!, two!])).every((count) => count === 1),
    );
    // The bank has the money a moment before the request is answered.
    await eventually('ordered again, both are done', async () => {
      const { requests } = figuresOf(await collections(args)) as { requests: { status: string }[] };
      return requests.length === 2 && requests.every(({ status }) => status === 'done');
    });
    expect(await debitsOf(system.here, [one!, two!])).toEqual([1, 1]);
    await folder.remove();
  });

  it('names the ids that nobody has, and ends with 1', async () => {
    const { code, out } = await collections(['batch', 'no-such-record']);
    expect(code).toBe(1);
    expect(out).toContain('no record has the id no-such-record');
  });

  it('names what cannot be read, asks for the others, and ends with 1', async () => {
    const [broken, record] = await system.members(2, {}, { billingStatus: 'ERROR' });
    const { store } = system.here;
    const row = await store.billingRow(broken!.userId, formatInstant(broken!.billingDate));
    await store.putBillingRow({ ...row, billing_amount: { S: 'much' } });
    const ids = [broken!.subscriptionId, record!.subscriptionId];
    const ended = await collections(['batch', ...ids, '--json']);
    expect(ended.code).toBe(1);
    expect(figuresOf(ended)).toMatchObject({
      requests: [{ subscription_id: record!.subscriptionId }],
      unreadable: [broken!.subscriptionId],
    });
    expect(ended.error).toContain(`the row of ${broken!.subscriptionId} cannot be read`);
  });

  it('without a record says what to do', async () => {
    const { code, error } = await collections(['batch']);
    expect(code).toBe(1);
    expect(error).toContain('name the records');
  });

  it('is stored although Redis is away', async () => {
    const [record] = await system.members(1, {}, { billingStatus: 'ERROR' });
    const REDIS_URL = `redis://127.0.0.1:${await freePort()}`;
    const { code, out } = await collections(['batch', record!.subscriptionId], { REDIS_URL });
    expect(code).toBe(0);
    expect(out).toContain('Redis does not answer');
  });
});
