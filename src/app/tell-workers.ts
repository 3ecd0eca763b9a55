import type { Log } from '../ports/log.ts';

/** False when the queue did not take it. That is logged and no failure: what is stored is found by whoever looks for it. */
export async function tellWorkers(
  log: Log,
  enqueue: () => Promise<unknown>,
  fields: object,
  untold: string,
): Promise<boolean> {
  try {
    await enqueue();
    return true;
  } catch (error) {
    log.warn({ err: error, ...fields }, untold);
    return false;
  }
}
