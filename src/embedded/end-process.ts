import { isAlive, signal, type ProcessRecord } from './process-record.ts';
import { until } from './until.ts';

const graceMs = 8_000;
const killMs = 8_000;

/** Asks politely, waits a bounded time, then insists. Returns at once when the process is gone already. */
export async function endProcess(target: ProcessRecord): Promise<void> {
  const gone = (): boolean => !isAlive(target);
  signal(target, 'SIGTERM');
  if (await until(gone, { timeoutMs: graceMs })) return;
  signal(target, 'SIGKILL');
  if (await until(gone, { timeoutMs: killMs })) return;
  throw new Error(`${target.name} (process ${target.pid}) does not end, not even by SIGKILL`);
}

export async function endProcesses(targets: Iterable<ProcessRecord>): Promise<void> {
  await Promise.all([...targets].map(endProcess));
}
