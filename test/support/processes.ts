import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** For what never comes. Less than the limit of a test, which could not say what it was. */
const LIMIT_MS = 480_000;

/** Runs until `condition` gives something, or fails saying what was waited for. Waits for conditions, not for time. */
export async function eventually<T>(
  what: string,
  condition: () => Promise<T | null | undefined | false> | T | null | undefined | false,
): Promise<T> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const value = await condition();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited ${LIMIT_MS} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Processes that work in a folder or name it: what a start on that folder has left behind. */
export function processesUnder(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const commandLine = look(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
      const workingFolder = look(() => readlinkSync(`/proc/${pid}/cwd`));
      const isThere = commandLine.includes(folder) || workingFolder.startsWith(folder);
      return isThere ? [`${pid} ${commandLine}`] : [];
    });
}

/** A process may end while it is looked at. */
function look(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** A loopback port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
