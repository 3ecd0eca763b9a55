import { wouldStop } from '../../src/app/would-stop.ts';
import type { PlanName } from '../../src/domain/plan.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { CollectingProcess } from '../../src/domain/runs.ts';
import type { Forecast } from '../../src/ports/runs.ts';
import { count, dollars, plural, time } from '../format.ts';
import { LIVE_LIGHT, missing } from '../frame.ts';
import type { Foretold } from '../forecasts.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { tallyTable } from './tally-table.ts';

const WHAT: Record<CollectingProcess, string> = {
  scheduled: 'Charges what has become due',
  retry: 'Tries again what could not be charged',
  pause: 'Ends or continues pauses',
  stale: 'Writes off what is too old',
  'float-tomorrow': 'Sends by ACH what is due on the next banking day',
  'float-today': 'Collects the floats that are due',
  'float-retry': 'Tries again the floats that could not be collected',
  'recurring-payments': 'Charges the recurring payments that are due',
};

export const forecastPage = (foretold: readonly Foretold[], mayAct: boolean): Html => html`
  <div class="title">
    <h1>Forecast</h1>
    ${LIVE_LIGHT}
  </div>
  <p class="sub">
    What the next runs would decide if nothing changed until then. A forecast takes no lock and writes
    nothing; what the bank would answer nobody knows.
  </p>
  ${foretold.map(
    (each) =>
      html`<section aria-labelledby="${each.process}">
        <h2 id="${each.process}">${each.process}</h2>
        <p class="sub">${WHAT[each.process]}. Next on ${time(each.nextTick)}.</p>
        <div data-fragment="forecast-${each.process}">${forecastPart(each)}</div>
        ${
          mayAct
            ? html`<form class="actions" method="post" action="/forecast">
                <input type="hidden" name="process" value="${each.process}" /><button class="main">
                  Forecast ${each.process}
                </button>
              </form>`
            : null
        }
      </section>`,
  )}
`;

export function forecastPart({ process, making, failed, forecast }: Foretold): Html {
  if (making !== null) return progress(process, making);
  if (failed)
    return html`<p class="banner bad" role="alert">The forecast could not be made. The log says why.</p>`;
  if (forecast === null) return missing('Whether there is a forecast');
  return forecast.value === null
    ? html`<p class="missing">No forecast has been made yet.</p>`
    : made(forecast.value);
}

function progress(process: CollectingProcess, { looked, due }: NonNullable<Foretold['making']>): Html {
  const label = `${count(looked)} of ${plural(due, 'record')} looked at`;
  return html`<p data-announce="the forecast is being made">
    ${label}<progress
      max="${Math.max(1, due)}"
      value="${looked}"
      aria-label="Progress of the forecast of ${process}"
    >
      ${label}
    </progress>
  </p>`;
}

function made(forecast: Forecast): Html {
  const { records, amount, byPlan, asOf, malformed, unreachable } = forecast;
  const charged = byPlan.charge;
  return html`
    ${wouldStop(forecast) ? html`<div class="banner bad" role="alert"><p>The run would stop itself: too many of its members are said to be missing or inactive. Is the user service right?</p></div>` : null}
    <p data-announce="the forecast is made">
      As of ${time(asOf)} it would look at ${plural(records, 'record')} over ${dollars(amount)} and charge
      <strong
        >${charged === undefined ? 'nobody' : html`${dollars(charged.amount)} from ${plural(charged.count, 'record')}`}</strong
      >.
    </p>
    ${records === 0 ? null : tallyTable<PlanName>({ caption: 'What would be decided, and why', names: PLANS, tallies: byPlan, label: (name) => name })}
    ${malformed === 0 ? null : html`<p class="hint">${plural(malformed, 'record')} more cannot be read; the run reports them and goes on.</p>`}
    ${unreachable === 0 ? null : html`<p class="hint">${plural(unreachable, 'record')} more are not in the forecast: a service could not be asked about their members.</p>`}
  `;
}
