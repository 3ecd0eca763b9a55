import type { Instant } from '../domain/instant.ts';
import type { RunProcess } from '../domain/runs.ts';
import type { Forecast } from './runs.ts';

/** The last forecast of each process and day, to be shown beside the run. A convenience: it may be gone at any time. */
export interface ForecastShelf {
  put(forecast: Forecast): Promise<void>;
  /** The last one made for the day of the tick. */
  find(process: RunProcess, tick: Instant): Promise<Forecast | null>;
}
