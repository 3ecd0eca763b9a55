import { z } from 'zod';
import type { ForecastDesk } from '../../app/forecast-desk.ts';
import { formatInstant, wholeSecond } from '../../domain/instant.ts';
import { COLLECTING_PROCESSES } from '../../domain/runs.ts';
import { forecastFigures } from '../../figures/forecast-figures.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Forecast } from '../../ports/runs.ts';
import type { Timer } from '../../ports/timer.ts';
import { asOf, timeText } from '../fields.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';
import { forecastView } from './runs.ts';

export interface ForecastRouteDependencies {
  readonly desk: ForecastDesk;
  readonly clock: Clock;
  readonly timer: Timer;
}

const process = z.enum(COLLECTING_PROCESSES, `one of ${COLLECTING_PROCESSES.join(', ')}`);

/** Below the patience of most proxies. */
const PATIENCE_MS = 20_000;

export const forecastRoutes = ({ desk, clock, timer }: ForecastRouteDependencies): Route[] => [
  route({
    method: 'post',
    path: '/ops/forecast',
    tag: 'Operations',
    summary: 'What would a run do, in money and reasons?',
    description:
      'Writes nothing to the tables. One that takes longer than 20 seconds is answered 202 and goes on; send the same again, with the `as_of` of the answer, to wait for it.',
    role: 'operator',
    body: z.strictObject({ process, as_of: asOf.optional() }),
    answers: {
      200: forecastView,
      202: z.strictObject({
        status: z.literal('running'),
        process,
        as_of: timeText,
        looked: z.int(),
        due: z.int(),
      }),
    },
    async handle({ body }, { gone }) {
      const moment = wholeSecond(body.as_of ?? clock.now());
      const underWay = desk.ask({ process: body.process, asOf: moment });
      const made = await within(timer, underWay.made, gone);
      if (made !== null) return { status: 200, body: forecastFigures(made) };
      const { looked, due } = underWay.progress;
      return {
        status: 202,
        body: { status: 'running', process: body.process, as_of: formatInstant(moment), looked, due },
      };
    },
  }),
];

/** Null when it takes too long, or the caller waits no more. */
async function within(timer: Timer, made: Promise<Forecast>, gone: AbortSignal): Promise<Forecast | null> {
  const enough = new AbortController();
  const tooLong = timer
    .sleep(PATIENCE_MS, AbortSignal.any([enough.signal, gone]))
    .then(() => null)
    .catch(() => null);
  try {
    return await Promise.race([made, tooLong]);
  } finally {
    enough.abort();
  }
}
