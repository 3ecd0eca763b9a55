import type { Clock } from '../../ports/clock.ts';

/** Billing time for one process, and word of when the sandbox's clock was moved. */
export interface ClockSource {
  readonly clock: Clock;
  /** Calls back after each change, so that a scheduler that sleeps until a billing time looks at the clock again. */
  readonly onChange: (listener: () => void) => void;
  readonly close: () => Promise<void>;
}
