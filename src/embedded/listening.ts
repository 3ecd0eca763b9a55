import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Whether this very process listens on the port. An answer alone does not prove it: when a stranger took the port first, the
 * stranger answers, while our server is still on its way to find that out.
 */
export function listensOn(pid: number, port: number): boolean {
  return process.platform === 'linux' ? listensByProc(pid, port) : listensByLsof(pid, port);
}

function listensByProc(pid: number, port: number): boolean {
  const sockets = new Set(
    ['tcp', 'tcp6'].flatMap((family) => listeningSockets(`/proc/${pid}/net/${family}`, port)),
  );
  return sockets.size > 0 && openFiles(pid).some((file) => sockets.has(file));
}

const listenState = '0A';

function listeningSockets(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readOr(table, '')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === listenState)
    .map((fields) => `socket:[${fields[9]}]`);
}

function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((fd) => {
      try {
        return readlinkSync(`${folder}/${fd}`);
      } catch {
        return ''; // closed meanwhile
      }
    });
  } catch {
    return [];
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}

function listensByLsof(pid: number, port: number): boolean {
  return spawnSync('lsof', ['-nP', '-a', '-p', String(pid), `-iTCP:${port}`, '-sTCP:LISTEN']).status === 0;
}
