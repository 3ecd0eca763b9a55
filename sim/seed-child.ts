import { simulate } from './simulate.ts';
import type { SimulationOptions } from './simulate.ts';

/** One core's share of the seeds: asked for one after the other, answered one after the other. */

// Errors are ordinary in here, and writing down where each came from takes a tenth of the time.
Error.stackTraceLimit = 0;

process.on('message', (options: SimulationOptions) => {
  simulate(options).then(
    (result) => process.send?.({ result }),
    (error: unknown) =>
      process.send?.({ crashed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
// Whoever started us is gone.
process.on('disconnect', () => process.exit(1));
