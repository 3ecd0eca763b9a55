import type { Machine } from './machine.ts';

/** Tried in this order: not every release offers the first. */
export const aptPackages = {
  redis: ['redis-server', 'valkey-server'],
  java: ['openjdk-17-jre-headless', 'default-jre-headless'],
  /** For tests only: what people see is looked at with one. */
  browser: ['chromium', 'chromium-browser'],
} as const;

/**
 * Nobody is there to answer questions, and the package's own daemon must not start: it would hold the usual port and run
 * for ever. `systemctl` heeds SYSTEMD_OFFLINE and sysvinit's `runlevel` heeds RUNLEVEL, so nothing has to be changed on the
 * machine, where a policy-rc.d file of ours could be left behind.
 */
const environment = { DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1', RUNLEVEL: '1' };

export async function installWithApt(
  machine: Machine,
  needs: readonly (keyof typeof aptPackages)[],
): Promise<void> {
  await machine.run('apt-get', [...waiting, 'update'], environment);
  for (const need of needs) await installFirstOffered(machine, aptPackages[need]);
}

/** Another apt may be at work, on a fresh cloud machine usually is. */
const waiting = ['-o', 'DPkg::Lock::Timeout=120', '-qq'];

async function installFirstOffered(machine: Machine, packages: readonly string[]): Promise<void> {
  const failures: unknown[] = [];
  for (const name of packages) {
    try {
      await machine.run(
        'apt-get',
        [...waiting, 'install', '-y', '--no-install-recommends', name],
        environment,
      );
      return;
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `apt offers none of ${packages.join(', ')}`);
}
