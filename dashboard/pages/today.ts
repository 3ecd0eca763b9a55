import { QUEUE_GROUPS } from '../../queues/queue-names.ts';
import type { JobCount } from '../../queues/queue-set.ts';
import type { ReturnClass, ReturnRate } from '../../src/domain/ach/return-rates.ts';
import { RETURN_RATE_DAYS } from '../../src/domain/ach/return-rates.ts';
import { formatInstant } from '../../src/domain/instant.ts';
import { freezeTargetName } from '../../src/ports/freezes.ts';
import { count, day, dollars, percent, plural } from '../format.ts';
import { LIVE_LIGHT, missing } from '../frame.ts';
import type { Gauges } from '../gauges.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { Fragments } from '../live.ts';
import type { Outcome } from '../outcomes.ts';
import { OUTCOME_LABELS, OUTCOME_NAMES, sumOutcomes } from '../outcomes.ts';
import type { Overview } from '../overview.ts';
import { PLOT_DAYS } from '../overview.ts';
import type { Answer } from '../patience.ts';
import type { DayOutcomes, Level } from '../plots.ts';
import { PLOTTED, levelOf, meter, narrowOutcomePlot, outcomePlot } from '../plots.ts';
import { runsTable } from './runs-table.ts';

export interface TodayView {
  readonly overview: Overview;
  readonly days: Answer<readonly DayOutcomes[]>;
  /** Charges per second that are allowed; null: as fast as they come. */
  readonly ratePerS: number | null;
}

export function todayPage(view: TodayView): Html {
  const parts = todayParts(view);
  const part = (name: keyof typeof parts): Html => html`<div data-fragment="${name}">${parts[name]}</div>`;
  return html`
    <div class="title">
      <h1>Today</h1>
      <span class="sub" data-fragment="today-now">${parts['today-now']}</span>
      ${LIVE_LIGHT}
    </div>
    ${part('today-totals')}
    <section aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      ${part('today-runs')}
    </section>
    <section aria-labelledby="days">
      <h2 id="days">Records by outcome, last ${PLOT_DAYS} days</h2>
      ${part('today-days')}
    </section>
    <div class="grid">
      <section aria-labelledby="queues">
        <h2 id="queues">Queues</h2>
        ${part('today-queues')}
      </section>
      <div class="column">
        <section aria-labelledby="processor">
          <h2 id="processor">Processor and streams</h2>
          ${part('today-processor')}
        </section>
        <section aria-labelledby="meters">
          <h2 id="meters">ACH returns of ${RETURN_RATE_DAYS} days</h2>
          ${part('today-meters')}
        </section>
      </div>
    </div>
  `;
}

/** What changes while the page is open. */
export const todayFragments = (view: TodayView): Fragments =>
  Object.fromEntries(Object.entries(todayParts(view)).map(([name, part]) => [name, part.toString()]));

function todayParts({ overview, days, ratePerS }: TodayView) {
  const { now, runs, depths, rates, gauges } = overview;
  return {
    'today-now': html`${day(formatInstant(now))}, ${formatInstant(now).slice(11, 16)} UTC`,
    'today-totals': html`${frozen(overview)}${totals(overview)}`,
    'today-runs': runs === null ? missing('The runs') : runsTable(runs.value),
    'today-days': days === null ? missing('The outcomes') : plot(days.value),
    'today-queues': depths === null ? missing('The queues') : queueTable(depths.value),
    'today-processor': processor(gauges, ratePerS),
    'today-meters': rates === null ? missing('The rates') : html`${rates.value.map(rate)}`,
  };
}

function frozen({ freezes, now }: Overview): Html | null {
  const broad = (freezes?.value ?? []).filter(
    ({ target, until }) => target.scope !== 'user' && (until === null || until > now),
  );
  return broad.length === 0
    ? null
    : html`<div class="banner warn">
        ${broad.map(
          ({ target, reason, who }) =>
            html`<p>
              <strong>Frozen: ${freezeTargetName(target)}</strong> by ${who}: ${reason}.
              <a href="/freezes">Freezes</a>
            </p>`,
        )}
      </div>`;
}

/** Money that no member was asked for is not what is asked about first. */
const COUNTED: ReadonlySet<Outcome> = new Set<Outcome>(['closed', 'later', 'trouble']);

/** All of them: a reader who adds them up finds every record of the runs below. */
function totals({ runs }: Overview): Html {
  const sums = sumOutcomes((runs?.value ?? []).flatMap(({ report }) => report ?? []));
  const figure = (name: Outcome): readonly [string, string] => {
    const [money, records] = [dollars(sums[name].amount), plural(sums[name].count, 'record')];
    return COUNTED.has(name) ? [count(sums[name].count), `over ${money}`] : [money, records];
  };
  return html`<dl class="figures">
      ${OUTCOME_NAMES.map((name) => {
        const [large, small] = runs === null ? ['?', ''] : figure(name);
        return html`<div class="edge-${name}">
          <dt>${OUTCOME_LABELS[name]}</dt>
          <dd>${large} <small>${small}</small></dd>
        </div>`;
      })}
    </dl>
    <p class="hint">
      What came of the runs of today, without payments by hand, after a signal or in a batch. What waits for
      somebody from before is under <a href="/unsettled">Unsettled</a>,
      <a href="/quarantine">Quarantine</a> and <a href="/gateways">Gateways</a>.
    </p>`;
}

function plot(days: readonly DayOutcomes[]): Html {
  const busy = days.filter(({ sums }) => PLOTTED.some((name) => sums[name].count > 0)).reverse();
  return html`<ul class="legend">
      ${PLOTTED.map((name) => html`<li><span class="dot dot-${name}"></span>${OUTCOME_LABELS[name]}</li>`)}
    </ul>
    <div class="on-wide">${outcomePlot(days)}</div>
    <div class="on-narrow">${narrowOutcomePlot(days)}</div>
    <details id="plot-table">
      <summary>As a table</summary>
      <div class="scroll">
        <table>
          <caption class="quiet">
            Records by outcome and day
          </caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              ${PLOTTED.map((name) => html`<th scope="col" class="n">${OUTCOME_LABELS[name]}</th>`)}
              <th scope="col" class="n">Money collected</th>
            </tr>
          </thead>
          <tbody>
            ${busy.map(
              ({ date, sums }) =>
                html`<tr>
                  <th scope="row">${day(date)}</th>
                  ${PLOTTED.map((name) => html`<td class="n">${count(sums[name].count)}</td>`)}
                  <td class="n">${dollars(sums.collected.amount)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>`;
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

function queueTable(depths: readonly JobCount[]): Html {
  const of = (queue: string, state: string): number =>
    depths.find((depth) => depth.queue === queue && depth.state === state)?.count ?? 0;
  const cell = (queue: string, state: (typeof STATES)[number]): Html => {
    const jobs = of(queue, state);
    const tone = jobs === 0 ? 'zero' : state === 'failed' ? 'pill bad' : '';
    return html`<td class="n"><span class="${tone}">${count(jobs)}</span></td>`;
  };
  return html`<div class="scroll">
    <table class="dense">
      <caption class="quiet">
        Jobs by queue and state
      </caption>
      <thead>
        <tr>
          <th scope="col">Queue</th>
          ${STATES.map((state) => html`<th scope="col" class="n">${state}</th>`)}
        </tr>
      </thead>
      ${Object.entries(QUEUE_GROUPS).map(
        ([group, queues]) =>
          html`<tbody>
            <tr class="group">
              <th colspan="5" scope="rowgroup">${group}</th>
            </tr>
            ${queues.map(
              (queue) =>
                html`<tr>
                  <th scope="row"><a href="/queues/queue/${group}.${queue}">${queue}</a></th>
                  ${STATES.map((state) => cell(queue, state))}
                </tr>`,
            )}
          </tbody>`,
      )}
    </table>
  </div>`;
}

const BREAKER: Record<NonNullable<Gauges['breaker']>, Html> = {
  open: html`<span class="pill bad">open</span> the processor does not answer; nothing is charged`,
  closed: html`<span class="pill good">closed</span> charges are answered`,
};

function processor({ breaker, lags }: Gauges, ratePerS: number | null): Html {
  return html`<dl class="facts">
    <dt>Breaker</dt>
    <dd>${breaker === null ? html`<span class="sub">no worker has told yet</span>` : BREAKER[breaker]}</dd>
    <dt>Rate limit</dt>
    <dd>${ratePerS === null ? 'none' : `${count(ratePerS)} charges a second`}</dd>
    ${
      lags.length === 0
        ? html`<dt>Streams</dt>
            <dd><span class="sub">no bridge has told yet</span></dd>`
        : lags.map(
            ({ stream, seconds }) =>
              html`<dt>Stream ${stream}</dt>
                <dd>${lagText(seconds)}</dd>`,
          )
    }
  </dl>`;
}

const LATE_S = 60;
const lagText = (seconds: number): Html =>
  seconds < LATE_S
    ? html`<span class="pill good">${seconds < 1 ? 'up to date' : `${Math.round(seconds)} s behind`}</span>`
    : html`<span class="pill bad">${count(Math.round(seconds / 60))} min behind</span>`;

const CLASSES: Record<ReturnClass, string> = {
  unauthorized: 'Unauthorized',
  administrative: 'Administrative',
  overall: 'All returns',
};

const PILLS: Record<Level, string> = { calm: '', near: 'pill warn', over: 'pill bad' };

function rate({ class: name, rate: share, limit }: ReturnRate): Html {
  const text = share === null ? 'too few debits to tell' : percent(share);
  return html`<div class="rate">
    <div class="line">
      <span>${CLASSES[name]}</span
      ><span class="${PILLS[levelOf(share, limit)]}"
        >${text} <span class="sub">· limit ${percent(limit)}</span></span
      >
    </div>
    ${meter(share, limit, `${CLASSES[name]}: ${text}; the limit is ${percent(limit)}`)}
  </div>`;
}
