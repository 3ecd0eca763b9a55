import type { ForecastDesk } from '../src/app/forecast-desk.ts';
import type { ForecastProgress } from '../src/app/forecast-sum.ts';
import type { Instant } from '../src/domain/instant.ts';
import { plusDays } from '../src/domain/instant.ts';
import type { CollectingProcess } from '../src/domain/runs.ts';
import { COLLECTING_PROCESSES } from '../src/domain/runs.ts';
import { newestTick } from '../src/domain/schedule.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { ForecastShelf } from '../src/ports/forecasts.ts';
import type { Log } from '../src/ports/log.ts';
import type { Forecast } from '../src/ports/runs.ts';
import type { Answer, Patience } from './patience.ts';

export interface ForecastsDependencies {
  readonly desk: ForecastDesk;
  readonly shelf: ForecastShelf;
  readonly clock: Clock;
  readonly log: Log;
  readonly patience: Patience;
}

/** What is known of the next run of a process. */
export interface Foretold {
  readonly process: CollectingProcess;
  readonly nextTick: Instant;
  /** Of one that is being made here. */
  readonly making: ForecastProgress | null;
  readonly failed: boolean;
  /** The last one for that day, of whichever process. Null: the shelf did not answer. */
  readonly forecast: Answer<Forecast | null>;
}

/** Forecasts of the next runs: those made in this process, beside those on the shelf. */
export class Forecasts {
  private readonly dependencies: ForecastsDependencies;
  private readonly making = new Map<CollectingProcess, { readonly progress: ForecastProgress }>();
  private readonly failed = new Set<CollectingProcess>();
  /** Redis may be away: what was made here is shown all the same. */
  private readonly made = new Map<CollectingProcess, Forecast>();

  constructor(dependencies: ForecastsDependencies) {
    this.dependencies = dependencies;
  }

  start(process: CollectingProcess): void {
    if (this.making.has(process)) return;
    const { desk, clock } = this.dependencies;
    const underWay = desk.ask({ process, asOf: nextTick(process, clock.now()) });
    this.failed.delete(process);
    this.making.set(process, underWay);
    void this.finish(process, underWay.made);
  }

  list(): Promise<Foretold[]> {
    return Promise.all(COLLECTING_PROCESSES.map((process) => this.foretold(process)));
  }

  private async foretold(process: CollectingProcess): Promise<Foretold> {
    const { shelf, clock, patience } = this.dependencies;
    const tick = nextTick(process, clock.now());
    const shelved = await patience.ask(() => shelf.find(process, tick));
    const made = this.made.get(process);
    return {
      process,
      nextTick: tick,
      making: this.making.get(process)?.progress ?? null,
      failed: this.failed.has(process),
      forecast: made?.asOf === tick ? { value: made } : shelved,
    };
  }

  private async finish(process: CollectingProcess, made: Promise<Forecast>): Promise<void> {
    try {
      this.made.set(process, await made);
    } catch (error) {
      this.dependencies.log.error({ err: error, process }, 'a forecast failed');
      this.failed.add(process);
    } finally {
      this.making.delete(process);
    }
  }
}

/** When the run will start next. */
export function nextTick(process: CollectingProcess, now: Instant): Instant {
  for (let days = 1; ; days += 1) {
    const tick = newestTick(process, plusDays(now, days));
    if (tick > now) return tick;
  }
}
