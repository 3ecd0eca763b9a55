import { instantFromMs } from '../../domain/instant.ts';
import type { Clock } from '../../ports/clock.ts';

/** The machine's wall clock. It knows milliseconds; `nextStamp` keeps history stamps apart within one. */
export const systemClock: Clock = { now: () => instantFromMs(Date.now()) };
