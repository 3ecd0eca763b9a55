import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';
import { API_TOKENS, caller } from '../support/api.ts';
import { ComposedSystem, readCompose } from '../support/compose.ts';
import { eventually } from '../support/processes.ts';
import type { PrivateRedis } from '../support/redis-server.ts';
import { privateRedis } from '../support/redis-server.ts';
import { sharedStack, temporaryFolder } from '../support/stack.ts';

const hostOf = (url: string): string => new URL(url).host;

/** What a role promises to be done within once it is told to stop. */
const DRAIN_MS = 30_000;

describe('docker-compose.yml', () => {
  it('keeps what Redis holds, restarts what dies, and asks every service of ours how it is', () => {
    const { services } = readCompose();
    expect(services['redis']!.command!.join(' ')).toContain('--appendonly yes --maxmemory-policy noeviction');
    for (const name of [
      'redis',
      'dynamodb',
      'kinesis',
      'sandbox',
      'api',
      'scheduler',
      'workers',
      'bridges',
      'dashboard',
    ]) {
      expect(services[name], name).toMatchObject({ restart: 'unless-stopped' });
      expect(services[name]!.healthcheck, name).toBeDefined();
    }
    const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    expect(dockerfile).toMatch(/^USER node$/m);
  });

  it('lets charges under way finish before it kills', () => {
    const { services } = readCompose();
    const ours = Object.entries(services).filter(([, service]) => service.stop_grace_period !== undefined);
    expect(ours.map(([name]) => name).sort()).toEqual([
      'api',
      'bridges',
      'dashboard',
      'scheduler',
      'workers',
    ]);
    for (const [name, service] of ours)
      expect(Number.parseInt(service.stop_grace_period!, 10) * 1_000, name).toBeGreaterThan(DRAIN_MS);
  });

  it('takes no secrets of this folder into an image', () => {
    const ignored = readFileSync(new URL('../../.dockerignore', import.meta.url), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.env', '.env.*', '.data']));
  });

  it('has an example of every variable that it wants', () => {
    const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
    const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
    const wanted = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!));
    expect(wanted.size).toBeGreaterThan(0);
    for (const name of wanted) expect(example).toMatch(new RegExp(`^${name}=`, 'm'));
  });
});

describe('the services of docker-compose.yml, as processes', () => {
  let system: ComposedSystem;
  let redis: PrivateRedis;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    [redis, folder] = await Promise.all([privateRedis(), temporaryFolder()]);
    const elsewhere = { redis: hostOf(redis.url), dynamodb: hostOf(sharedStack().dynamodbUrl) };
    system = new ComposedSystem({ folder: folder.path, elsewhere, variables: { API_TOKENS } });
  });
  afterAll(async () => {
    await system.stop();
    await redis.stop();
    await folder.remove();
  });

  it('get healthy, and a payment goes through', async () => {
    await Promise.all(system.names().map((name) => system.start(name)));
    const environment = await system.environment('workers');
    const seeded = await cli(['sandbox', 'seed', '--users', '3', '--prefix', 'composed'], environment);
    expect([seeded.code, seeded.error]).toEqual([0, expect.anything()]);

    const call = caller(`http://127.0.0.1:${await system.port('api', '3000')}`);
    const { body } = await call('POST', '/ops/runs', { body: { process: 'scheduled' } });
    const { run_id: id } = body as { run_id: string };
    const report = await eventually('the run is complete', async () => {
      const run = (await call('GET', `/ops/runs/${id}`)).body as { status: string };
      return run.status === 'complete' && run;
    });
    expect(report).toMatchObject({ by_verdict: { collected: { count: expect.any(Number) as number } } });
  });

  it('get healthy and end when they are told to: Kinesis', async () => {
    await system.start('kinesis');
    expect(await system.end('kinesis')).toBe(0);
  });
});
