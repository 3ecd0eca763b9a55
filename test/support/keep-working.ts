import type { CrashPoint, Pipeline } from './pipeline.ts';

/** As a supervisor would: whenever a worker dies another takes its place. Gives how many died. */
export async function keepWorking(
  system: Pipeline,
  crashPoints: readonly CrashPoint[],
  until: Promise<unknown>,
): Promise<number> {
  const over = until.then(() => 'over' as const);
  for (let deaths = 0; ; deaths += 1) {
    const worker = await system.worker({ crashPoints });
    if ((await Promise.race([worker.ended, over])) === 'SIGKILL') continue;
    await worker.stop();
    return deaths;
  }
}
