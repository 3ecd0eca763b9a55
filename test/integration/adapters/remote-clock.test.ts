import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clockFrom } from '../../../src/adapters/clock/clock-from.ts';
import type { ClockSource } from '../../../src/adapters/clock/clock-source.ts';
import { openRemoteClock } from '../../../src/adapters/clock/remote-clock.ts';
import { SandboxClient } from '../../../src/adapters/sandbox-client.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { formatInstant, msOf } from '../../../src/domain/instant.ts';
import { ServiceDownError } from '../../../src/errors.ts';
import { closedPort, eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';
import type { RunningSandbox } from '../../support/sandbox.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { temporaryFolder } from '../../support/stack.ts';

/** Longer than a busy machine stands still; less than any change made here, and than a question stays with the sandbox. */
const NEAR_MS = 20_000;
const expectNear = (now: Instant, ms: number): void =>
  expect(Math.abs(msOf(now) - ms), formatInstant(now)).toBeLessThan(NEAR_MS);

describe('the clock of the sandbox', () => {
  let folder: { path: string; remove: () => Promise<void> };
  let sandbox: RunningSandbox;
  let bank: SandboxClient;
  const opened: ClockSource[] = [];

  const open = async (): Promise<ClockSource> => {
    const source = await openRemoteClock({ url: `${sandbox.url}/clock` });
    opened.push(source);
    return source;
  };
  const freeze = (now: string) =>
    fetch(`${sandbox.url}/clock`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ now, frozen: true }),
    });
  const start = (env: NodeJS.ProcessEnv = {}) => startSandbox({ dataDir: folder.path, env });

  beforeEach(async () => {
    folder = await temporaryFolder();
    sandbox = await start();
    bank = new SandboxClient(sandbox.url);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((source) => source.close()));
    await sandbox.kill();
    await folder.remove();
  });

  it('is the time of the machine until somebody sets it', async () => {
    const { clock } = await open();
    const { now } = await bank.time();
    expectNear(clock.now(), msOf(now));
    expectNear(clock.now(), Date.now());
  });

  it('runs on from where it was set, and is never ahead of the sandbox', async () => {
    await bank.setTime(at('2027-05-01T12:00:00Z'));
    const { clock } = await open();
    const ours = clock.now();
    expectNear(ours, Date.parse('2027-05-01T12:00:00Z'));
    expect(ours <= (await bank.time()).now).toBe(true);
    await eventually('time that goes on', () => clock.now() > ours);
  });

  it('stands still at the very instant while it is frozen', async () => {
    await freeze('2027-05-01T12:00:00.123Z');
    const { clock } = await open();
    const machine = Date.now();
    expect(formatInstant(clock.now())).toBe('2027-05-01T12:00:00.123Z');
    await eventually('the machine to go on', () => Date.now() > machine + 5);
    expect(formatInstant(clock.now())).toBe('2027-05-01T12:00:00.123Z');
  });

  it('follows each change and tells of it, once the new time is there', async () => {
    const { clock, onChange } = await open();
    const told: Instant[] = [];
    onChange(() => told.push(clock.now()));
    const toldOf = (count: number) => eventually(`change ${count}`, () => told.length >= count);

    await freeze('2027-05-01T12:00:00Z');
    await toldOf(1);
    await bank.advance('1d');
    await toldOf(2);
    await bank.setTime(at('2028-01-01T00:00:00Z'));
    await toldOf(3);
    await bank.advance('36h');
    await toldOf(4);
    await bank.setTime(null);
    await toldOf(5);

    expect(told).toHaveLength(5);
    expect(told.slice(0, 2).map(formatInstant)).toEqual(['2027-05-01T12:00:00Z', '2027-05-02T12:00:00Z']);
    expectNear(told[2]!, Date.parse('2028-01-01T00:00:00Z'));
    expectNear(told[3]!, Date.parse('2028-01-02T12:00:00Z'));
    expectNear(told[4]!, Date.now());
  });

  it('keeps its time while the sandbox is away, and learns what it missed when it is back', async () => {
    await bank.setTime(at('2027-05-01T12:00:00Z'));
    const { clock, onChange } = await open();
    let told = 0;
    onChange(() => (told += 1));
    const port = new URL(sandbox.url).port;
    await sandbox.kill();
    const away = clock.now();
    expectNear(away, Date.parse('2027-05-01T12:00:00Z'));
    await eventually('time that goes on', () => clock.now() > away);
    expect(told).toBe(0);

    sandbox = await start({ SANDBOX_PORT: port });
    await eventually('word of the return', () => told === 1);
    expectNear(clock.now(), msOf((await bank.time()).now));
    await bank.advance('30d');
    await eventually('word of the change', () => told === 2);
    expectNear(clock.now(), msOf((await bank.time()).now));
  });

  it('ends its question at once when it is closed', async () => {
    const source = await open();
    let told = 0;
    source.onChange(() => (told += 1));
    await bank.advance('1h');
    await eventually('a question that waits', () => told === 1);
    const startMs = performance.now();
    await source.close();
    expect(performance.now() - startMs).toBeLessThan(NEAR_MS);
    await bank.advance('1h');
    expect(told).toBe(1);
  });

  it('also ends while it waits for the sandbox to come back', async () => {
    const source = await open();
    await sandbox.kill();
    await expect(source.close()).resolves.toBeUndefined();
  });
});

describe('an answer that was long on its way', () => {
  const HOUR_MS = 3_600_000;

  it('does not turn the time back', async () => {
    // One slow answer, one quick, then slow ones again, all about the same unmoved clock an hour ahead.
    const lateByMs = [60_000, 0];
    let answers = 0;
    const server = createServer((_, response) => {
      answers += 1;
      const now = new Date(Date.now() + HOUR_MS - (lateByMs.shift() ?? 60_000)).toISOString();
      setTimeout(() => response.end(JSON.stringify({ now, frozen: false, version: 3 })), 10);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const source = await openRemoteClock({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    });
    let told = 0;
    source.onChange(() => (told += 1));
    await eventually('later answers', () => answers >= 5);
    expectNear(source.clock.now(), Date.now() + HOUR_MS);
    expect(told).toBe(0);
    await source.close();
    server.closeAllConnections();
    server.close();
  });
});

describe('a clock that cannot be told', () => {
  it('is not opened when nobody answers', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/clock`;
    await expect(openRemoteClock({ url })).rejects.toThrow(ServiceDownError);
  });

  it.each(['{}', 'no JSON', '{"now":"noon","frozen":false,"version":1}'])(
    'nor when the answer is %s',
    async (body) => {
      const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/clock`;
      await expect(openRemoteClock({ url })).rejects.toThrow(ServiceDownError);
      server.closeAllConnections();
      server.close();
    },
  );
});

describe('the clock that the configuration names', () => {
  it('is the machine’s when there is no CLOCK_URL', async () => {
    const { clock, close } = await clockFrom({ ENVIRONMENT: 'local' });
    expectNear(clock.now(), Date.now());
    await close();
  });

  it('is the sandbox’s when there is one', async () => {
    const sandbox = await startSandbox();
    await new SandboxClient(sandbox.url).setTime(at('2027-05-01T12:00:00Z'));
    const { clock, close } = await clockFrom({ ENVIRONMENT: 'local', CLOCK_URL: `${sandbox.url}/clock` });
    expectNear(clock.now(), Date.parse('2027-05-01T12:00:00Z'));
    await close();
    await sandbox.stop();
  });
});
