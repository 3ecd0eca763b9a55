import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 20_000;

/** Waits until the condition holds; fails with its name when it does not in a long time. */
export async function eventually(condition: () => Promise<boolean>, what = 'the condition'): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${what} did not come true`);
    await sleep(20);
  }
}
