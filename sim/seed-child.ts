import { simulate } from './simulate.ts';
import type { SeedResult, SimulationOptions } from './simulate.ts';

/** One core's share of the seeds: asked for one after the other, answered one after the other. */

// Errors are ordinary in here, and writing down where each came from takes a tenth of the time.
Error.stackTraceLimit = 0;
const DEEP_ENOUGH = 30;

/** A world that threw is run once more, the same again, to hear where. */
async function simulateAndLocate(options: SimulationOptions): Promise<SeedResult> {
  const result = await simulate(options);
  if (result.stack === null) return result;
  Error.stackTraceLimit = DEEP_ENOUGH;
  const { stack } = await simulate(options);
  Error.stackTraceLimit = 0;
  return { ...result, stack };
}

process.on('message', (options: SimulationOptions) => {
  void simulateAndLocate(options).then((result) => process.send?.(result));
});
// The parent process is gone.
process.on('disconnect', () => process.exit(1));
