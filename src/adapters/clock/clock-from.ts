import type { z } from 'zod';
import type * as sections from '../../config/sections.ts';
import type { ClockSource } from './clock-source.ts';
import { openRemoteClock } from './remote-clock.ts';
import { systemClock } from './system-clock.ts';

/** The clock that the configuration names. The system's is never moved, so its listeners are never called. */
export async function clockFrom({ CLOCK_URL }: z.output<typeof sections.clock>): Promise<ClockSource> {
  if (CLOCK_URL !== undefined) return openRemoteClock({ url: CLOCK_URL });
  return { clock: systemClock, onChange: () => undefined, close: async () => undefined };
}
