import type { Command } from 'commander';
import { RedisForecastShelf } from '../adapters/redis/forecast-shelf.ts';
import { systemTimer } from '../adapters/system-timer.ts';
import { forecastRun } from '../app/forecast-run.ts';
import { wouldStop } from '../app/would-stop.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import type { Instant } from '../domain/instant.ts';
import { formatInstant, wholeSecond } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import { PLANS } from '../domain/plan.ts';
import type { CollectingProcess } from '../domain/runs.ts';
import { COLLECTING_PROCESSES, runId } from '../domain/runs.ts';
import { forecastFigures } from '../figures/forecast-figures.ts';
import type { Forecast } from '../ports/runs.ts';
import { floatRules } from '../wiring/float-rules.ts';
import { openServices } from '../wiring/services.ts';
import { asOf, collectingProcess } from './arguments.ts';
import type { CliContext } from './context.ts';
import { reachRedis, soon } from './reach-redis.ts';
import { tallyTable } from './tally-table.ts';
import type { Terminal } from './terminal.ts';
import { colour, terminal } from './terminal.ts';
import { withStores } from './with-stores.ts';

export function addForecastCommand(program: Command, { environment, target }: CliContext): void {
  program
    .command('forecast')
    .description(
      'tell what a run would do, without doing it: whom it would charge, refuse, cancel, skip, and why. Writes nothing to the tables',
    )
    .argument('<process>', `which run: ${COLLECTING_PROCESSES.join(', ')}`, collectingProcess)
    .option('--as-of <time>', 'as if the run were started then; now when left out', asOf)
    .option('--json', 'the last line on standard output is one JSON object', false)
    .action(async (process_: CollectingProcess, { asOf, json }: { asOf?: Instant; json: boolean }) => {
      const out = json ? terminal(process.stderr) : terminal();
      out.line(target);
      const config = configFrom(environment);
      const forecast = await makeForecast(config, process_, asOf ?? null, out);
      show(forecast, out);
      await putOnShelf(config, forecast, out);
      if (json) process.stdout.write(`${JSON.stringify(forecastFigures(forecast))}\n`);
    });
}

const configFrom = (environment: Environment) =>
  readConfig(environment, {
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    services: sections.services,
    processor: sections.processor,
    policy: sections.policy,
    floats: sections.floats,
    recurring: sections.recurring,
    ownership: sections.ownership,
    forecast: sections.forecast,
  });

function makeForecast(
  config: ReturnType<typeof configFrom>,
  process: CollectingProcess,
  asOf: Instant | null,
  out: Terminal,
): Promise<Forecast> {
  return withStores(config, async ({ stores, clock }) => {
    const dependencies = {
      ...stores,
      ...openServices(config),
      ...floatRules(config.floats),
      recurringPolicy: config.recurring,
      policy: config.policy,
      owned: config.ownership.OWNED_USERS,
      clock,
      timer: systemTimer,
      ratePerS: config.forecast.FORECAST_RATE_PER_S,
    };
    const request = { process, asOf: wholeSecond(asOf ?? clock.now()) };
    const counter = out.counter('looking at records');
    const forecast = await forecastRun(dependencies, request, ({ looked, due }) =>
      counter.update(looked, due),
    );
    counter.finish();
    return forecast;
  });
}

function show(forecast: Forecast, out: Terminal): void {
  const { process, asOf, records, amount, byPlan, malformed, unreachable } = forecast;
  out.line(`${runId(process, asOf)} would look at ${records} records over ${formatMoney(amount)}`);
  tallyTable(out, 'plan', PLANS, byPlan);
  if (malformed > 0)
    out.line(`${colour('yellow', '!')} ${malformed} more cannot be read; the run reports them and goes on`);
  if (unreachable > 0)
    out.line(
      `${colour('yellow', '!')} ${unreachable} more are not in the forecast: a service could not be asked about their members`,
    );
  if (wouldStop(forecast))
    out.line(
      `${colour('red', '✗')} the run would stop itself: too many of its members are said to be missing or inactive. Is the user service right?`,
    );
}

/** So that the run's report can be compared with it. */
async function putOnShelf(
  { redis: { REDIS_URL }, ownership: { OWNED_USERS } }: ReturnType<typeof configFrom>,
  forecast: Forecast,
  out: Terminal,
): Promise<void> {
  const redis = await reachRedis(REDIS_URL);
  const { KEY_PREFIX } = await import('../../queues/connection.ts');
  const shelf = redis === null ? null : new RedisForecastShelf(redis, KEY_PREFIX, OWNED_USERS);
  const kept = shelf !== null && (await soon(shelf.put(forecast).then(() => true))) === true;
  redis?.disconnect();
  const day = formatInstant(forecast.asOf).slice(0, 10);
  out.line(
    kept
      ? `the reports of ${forecast.process} runs of ${day} will be compared with it`
      : `${colour('yellow', '!')} Redis does not answer: the run's report will not be compared with this forecast`,
  );
}
