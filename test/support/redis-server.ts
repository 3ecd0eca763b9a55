import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort } from '../../src/embedded/free-port.ts';
import { ensurePrograms } from '../../src/embedded/programs.ts';
import { eventually } from './processes.ts';
import { temporaryFolder } from './stack.ts';

/** A Redis of a test's own: one that may be flushed, stopped and killed. */
export interface PrivateRedis {
  readonly url: string;
  readonly client: Redis;
  /** Takes it away, as a crash or a network would. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export async function privateRedis(): Promise<PrivateRedis> {
  const { redisServer: program } = await ensurePrograms();
  const folder = await temporaryFolder();
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder.path, '--save', ''];
  const server = spawn(program, [...options, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' });
  const exited = once(server, 'exit');
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  await eventually('Redis answers', () =>
    client.ping().then(
      () => true,
      () => false,
    ),
  );
  const kill = async (): Promise<void> => {
    if (server.exitCode === null && server.signalCode === null) server.kill('SIGKILL');
    await exited;
  };
  return {
    url,
    client,
    kill,
    async stop() {
      client.disconnect();
      await kill();
      await folder.remove();
    },
  };
}
