import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { API_TOKENS, NO_SERVICES } from '../../support/api.ts';
import { closedPort, eventually } from '../../support/processes.ts';
import { sharedStack } from '../../support/stack.ts';

const MAIN = fileURLToPath(new URL('../../../dist/dashboard/main.js', import.meta.url));

function start(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env['PATH'], ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => (output += part.toString()));
  }
  return { child, output: () => output, ended: once(child, 'close') };
}

it('is a process that answers until it is told to stop', async () => {
  const { redisUrl, dynamodbUrl } = sharedStack();
  const port = await closedPort();
  const { child, output, ended } = start({
    REDIS_URL: redisUrl,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl,
    DASHBOARD_PORT: String(port),
    API_TOKENS,
    ...NO_SERVICES,
  });
  try {
    await eventually('it is up', () => output().includes('dashboard is up'));
    const page = await fetch(`http://127.0.0.1:${port}/`);
    expect([page.status, page.url]).toEqual([200, `http://127.0.0.1:${port}/sign-in?next=%2F`]);
    // The compiled output holds what pages load.
    expect(await page.text()).toContain('/assets/console.css');
  } finally {
    child.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
});

it('does not start where nobody could sign in', async () => {
  const { output, ended } = start({ REDIS_URL: 'redis://127.0.0.1:9', ...NO_SERVICES });
  expect(await ended).toEqual([1, null]);
  expect(output()).toContain('API_TOKENS is not set');
});
