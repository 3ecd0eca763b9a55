import type { PlanName } from '../domain/plan.ts';
import { ServiceDownError } from '../errors.ts';
import { Tallies } from './run-report.ts';

export interface ForecastProgress {
  /** Of the records that were found due so far. More are found while pages are read. */
  readonly looked: number;
  readonly due: number;
}

/** What a forecast has added up so far. */
export class ForecastSum implements ForecastProgress {
  readonly plans = new Tallies<PlanName>();
  looked = 0;
  due = 0;
  malformed = 0;
  unreachable = 0;

  /** A service that is down leaves one record out, not the whole forecast. */
  async unlessUnreachable(foretell: () => Promise<void>): Promise<void> {
    try {
      await foretell();
    } catch (error) {
      if (!(error instanceof ServiceDownError)) throw error;
      this.unreachable += 1;
    }
  }
}
