import type { z } from 'zod';
import { clockFrom } from '../adapters/clock/clock-from.ts';
import { NO_LOG } from '../adapters/logging/logger.ts';
import type * as sections from '../config/sections.ts';
import type { Clock } from '../ports/clock.ts';
import type { StoreSettings, Stores } from '../wiring/stores.ts';

export interface Opened {
  readonly stores: Stores;
  readonly clock: Clock;
}

/** Opens the stores and the clock for one piece of work. Loads them only now: `--help` and a typing error need none. */
export async function withStores<T>(
  settings: StoreSettings & { readonly clock: z.output<typeof sections.clock> },
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const source = await clockFrom(settings.clock);
  const { openStores } = await import('../wiring/stores.ts');
  const stores = openStores(settings, source.clock, NO_LOG);
  try {
    return await work({ stores, clock: source.clock });
  } finally {
    await stores.close();
    await source.close();
  }
}
