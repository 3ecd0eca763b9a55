import { simulate } from './simulate.ts';
import type { SimulationOptions } from './simulate.ts';

/** One core's share of the seeds: asked for one after the other, answered one after the other. */

// Errors are ordinary in here, and writing down where each came from takes a tenth of the time.
Error.stackTraceLimit = 0;

const crash = (error: unknown): void => {
  process.send?.({ crashed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
};

process.on('message', (options: SimulationOptions) => {
  simulate(options).then((result) => process.send?.({ result }), crash);
});
// Thrown where nobody waits for it. It is the world's too, and whoever started us wants to know which seed it was.
process.on('uncaughtException', crash);
// Whoever started us is gone.
process.on('disconnect', () => process.exit(1));
