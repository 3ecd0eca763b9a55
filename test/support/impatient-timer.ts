import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { Timer } from '../../src/ports/timer.ts';

/** Pauses between tries are over at once. With a signal it is the time limit of a request, which is real. */
export const impatientTimer: Timer = {
  ...systemTimer,
  sleep: (ms, signal) => (signal === undefined ? Promise.resolve() : systemTimer.sleep(ms, signal)),
};
