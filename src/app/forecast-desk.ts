import type { RunId } from '../domain/runs.ts';
import { runId } from '../domain/runs.ts';
import type { ForecastShelf } from '../ports/forecasts.ts';
import type { Log } from '../ports/log.ts';
import type { Forecast } from '../ports/runs.ts';
import type { ForecastDependencies, ForecastRequest } from './forecast-run.ts';
import { forecastRun } from './forecast-run.ts';
import type { ForecastProgress } from './forecast-sum.ts';

export type ForecastDeskDependencies = ForecastDependencies & {
  readonly shelf: ForecastShelf;
  readonly log: Log;
};

export interface ForecastUnderWay {
  readonly progress: ForecastProgress;
  readonly made: Promise<Forecast>;
}

/**
 * Forecasts for callers over HTTP. One for millions of members takes longer than a caller waits for an answer, so it
 * goes on without them: a caller who asks for the same again joins it, and what is made lies on the shelf.
 */
export class ForecastDesk {
  private readonly dependencies: ForecastDeskDependencies;
  private readonly underWay = new Map<RunId, { progress: ForecastProgress; made: Promise<Forecast> }>();

  constructor(dependencies: ForecastDeskDependencies) {
    this.dependencies = dependencies;
  }

  ask(request: ForecastRequest): ForecastUnderWay {
    const id = runId(request.process, request.asOf);
    const found = this.underWay.get(id);
    if (found !== undefined) return found;
    const begun = { progress: { looked: 0, due: 0 }, made: this.make(request, id) };
    this.underWay.set(id, begun);
    // The callers get the error; without one left it would be an unhandled rejection.
    begun.made.catch(() => undefined);
    return begun;
  }

  private async make(request: ForecastRequest, id: RunId): Promise<Forecast> {
    const { shelf, log } = this.dependencies;
    try {
      const made = await forecastRun(this.dependencies, request, (progress) => {
        const begun = this.underWay.get(id);
        if (begun !== undefined) begun.progress = progress;
      });
      await shelf.put(made).catch((error: unknown) => {
        log.warn({ err: error, run: id }, 'a forecast could not be kept for comparison');
      });
      return made;
    } finally {
      this.underWay.delete(id);
    }
  }
}
