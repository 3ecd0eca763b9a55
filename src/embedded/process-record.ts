import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * A process that can be told from a later one that was given the same number. Only the start proves it: command lines
 * do not, because Redis rewrites its own.
 */
export const processRecord = z.object({
  name: z.string(),
  pid: z.number().int().positive(),
  birth: z.string().min(1),
});

export type ProcessRecord = Readonly<z.infer<typeof processRecord>>;

/** Null when the process is already gone. */
export function recordProcess(name: string, pid: number): ProcessRecord | null {
  const birth = birthOf(pid);
  return birth === null ? null : { name, pid, birth };
}

export function isAlive(process: ProcessRecord): boolean {
  return birthOf(process.pid) === process.birth;
}

/** Signals exactly this process; a stranger who has its number now is left in peace. */
export function signal(target: ProcessRecord, name: NodeJS.Signals): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** When the process with this number began, as text that no other process shares; null for none and for a zombie. */
function birthOf(pid: number): string | null {
  return process.platform === 'linux' ? birthFromProc(pid) : birthFromPs(pid);
}

function birthFromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in brackets and may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (startTicks === undefined || state === 'Z' || state === 'X') return null;
    return `${bootId()} ${startTicks}`;
  } catch {
    return null;
  }
}

/** Ticks count from the boot, so without it a number could come again after a restart of the machine. */
function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

function birthFromPs(pid: number): string | null {
  const ps = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
  });
  const [, state, start] = /^(\S+)\s+(.+)$/.exec(ps.stdout.trim()) ?? [];
  return state === undefined || start === undefined || state.startsWith('Z') ? null : start;
}
