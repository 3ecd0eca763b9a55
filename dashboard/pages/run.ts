import { compareWithForecast } from '../../src/app/compare-forecast.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { PlanName } from '../../src/domain/plan.ts';
import type { Verdict, VerdictName } from '../../src/domain/verdict.ts';
import { VERDICTS } from '../../src/domain/verdict.ts';
import type { Forecast, Run, RunReport } from '../../src/ports/runs.ts';
import { count, dollars, duration, plural, time } from '../format.ts';
import { LIVE_LIGHT } from '../frame.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { outcomeOf } from '../outcomes.ts';
import type { RunProgress } from '../overview.ts';
import { runState } from './runs-table.ts';
import { tallyTable } from './tally-table.ts';
import { recordUrl } from './record-url.ts';

export const runPage = (progress: RunProgress): Html => html`
  <div class="title">
    <h1>Run ${progress.run.runId}</h1>
    ${LIVE_LIGHT}
  </div>
  <div data-fragment="run">${runReport(progress)}</div>
`;

export function runReport(progress: RunProgress): Html {
  const { run, report } = progress;
  return html`
    ${run.status === 'stopped' ? STOPPED : null}
    <section aria-labelledby="state" data-announce="the run is ${run.status}">
      <h2 id="state">State</h2>
      <dl class="facts">
        <dt>Process</dt>
        <dd>${run.process}</dd>
        <dt>As of</dt>
        <dd>${time(run.tick)}</dd>
        <dt>State</dt>
        <dd>${runState(progress)}</dd>
        <dt>Started</dt>
        <dd>${time(run.startedAt)}</dd>
        ${
          run.finishedAt === null
            ? null
            : html`<dt>Finished</dt>
                <dd>${time(run.finishedAt)}, after ${duration(run.startedAt, run.finishedAt)}</dd>`
        }
        <dt>Due</dt>
        <dd>
          ${plural(run.due, 'record')}${run.notOwned === 0 ? null : html`, and ${count(run.notOwned)} of the older service`}
        </dd>
        <dt>Passes</dt>
        <dd>${count(run.pass)}</dd>
      </dl>
    </section>
    <section aria-labelledby="verdicts">
      <h2 id="verdicts">What came of it</h2>
      ${report === null ? html`<p class="missing">Added up when the run is over.</p>` : verdictTable(run, report)}
    </section>
    ${report === null ? null : besideForecast(run, report)}
  `;
}

const STOPPED = html`<div class="banner bad" role="alert">
  <p>
    <strong>The run stopped itself:</strong> too many of its members are said to be missing or inactive. Those
    were left as they are. Is the user service right?
  </p>
</div>`;

const verdictTable = (run: Run, report: RunReport): Html => html`
  <p class="sub">
    ${plural(report.records, 'record')} over ${dollars(report.amount)}.
    <a href="/runs/${run.runId}/records">All records</a>
  </p>
  ${tallyTable<VerdictName>({
    caption: 'Verdicts with their reasons',
    names: VERDICTS,
    tallies: report.byVerdict,
    label: (name) =>
      html`<a href="/runs/${run.runId}/records?verdict=${name}"
        ><span class="dot dot-${outcomeOf(name)}"></span>${name}</a
      >`,
  })}
`;

function besideForecast({ forecast, status }: Run, report: RunReport): Html {
  return html`<section aria-labelledby="forecast">
    <h2 id="forecast">Forecast beside actual</h2>
    ${forecast === null ? html`<p class="missing">${status === 'running' ? 'Compared when the run is over.' : 'Nobody asked for a forecast of this run.'}</p>` : comparison(forecast, report)}
  </section>`;
}

function comparison(forecast: Forecast, report: RunReport): Html {
  const differing = new Set<PlanName>(compareWithForecast(forecast, report).map(({ plan }) => plan));
  const plans = PLANS.filter(
    (plan) => forecast.byPlan[plan] !== undefined || report.byPlan[plan] !== undefined,
  );
  return html`<p class="sub">
      ${differing.size === 0 ? html`<span class="pill good">as forecast</span>` : html`<span class="pill warn">unlike the forecast</span>`}
      It was made as of ${time(forecast.asOf)}. What the bank answered plays no part.
    </p>
    <div class="scroll">
      <table class="stack">
        <caption class="quiet">
          What was to be decided, and what was
        </caption>
        <thead>
          <tr>
            <th scope="col">Plan</th>
            <th scope="col" class="n">Forecast</th>
            <th scope="col" class="n">Amount</th>
            <th scope="col" class="n">Decided</th>
            <th scope="col" class="n">Amount</th>
            <th scope="col">&nbsp;</th>
          </tr>
        </thead>
        <tbody>
          ${plans.map((plan) => {
            const [foretold, decided] = [forecast.byPlan[plan], report.byPlan[plan]];
            return html`<tr>
              <th scope="row">${plan}</th>
              <td class="n" data-label="Forecast">${count(foretold?.count ?? 0)}</td>
              <td class="n" data-label="Amount">
                ${foretold === undefined ? '–' : dollars(foretold.amount)}
              </td>
              <td class="n" data-label="Decided">${count(decided?.count ?? 0)}</td>
              <td class="n" data-label="Amount">${decided === undefined ? '–' : dollars(decided.amount)}</td>
              <td>${differing.has(plan) ? html`<span class="pill warn">differs</span>` : null}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>`;
}

export interface RecordsView {
  readonly run: Run;
  readonly wanted: VerdictName | null;
  readonly verdicts: readonly Verdict[];
  readonly next: string | null;
}

export function recordsPage({ run, wanted, verdicts, next }: RecordsView): Html {
  const filter = wanted === null ? '' : `&verdict=${wanted}`;
  return html`
    <div class="title">
      <h1>Records of ${run.runId}</h1>
      <a href="/runs/${run.runId}">Report</a>
    </div>
    <section aria-labelledby="records">
      <h2 id="records">${wanted === null ? 'All verdicts' : html`Verdict <em>${wanted}</em>`}</h2>
      ${wanted === null ? null : html`<p><a href="/runs/${run.runId}/records">All verdicts</a></p>`}
      ${verdicts.length === 0 ? html`<p class="missing">No record ${next === null ? 'of this kind' : 'on this page'}.</p>` : verdictRows(verdicts)}
      <nav class="pager" aria-label="Pages">
        ${next === null ? null : html`<a rel="next" href="/runs/${run.runId}/records?after=${encodeURIComponent(next)}${filter}">Next page</a>`}
      </nav>
    </section>
  `;
}

const verdictRows = (verdicts: readonly Verdict[]): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Records with their verdicts
      </caption>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Record</th>
          <th scope="col">Verdict</th>
          <th scope="col">Why</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        ${verdicts.map(
          ({ userId, subscriptionId, verdict, reason, detail, amount, at }) =>
            html`<tr>
              <th scope="row"><a class="id" href="/users/${encodeURIComponent(userId)}">${userId}</a></th>
              <td data-label="Record">
                <a class="id" href="${recordUrl(userId, subscriptionId)}">${subscriptionId}</a>
              </td>
              <td data-label="Verdict">
                <span><span class="dot dot-${outcomeOf(verdict)}"></span>${verdict}</span>
              </td>
              <td class="reasons full">
                ${reason}${detail === null ? null : html`<br /><span class="hint">${detail}</span>`}
              </td>
              <td class="n" data-label="Amount">${dollars(amount)}</td>
              <td class="tight" data-label="When">${time(at)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
