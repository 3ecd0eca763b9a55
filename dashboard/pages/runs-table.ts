import { count, clockTime, dollars, duration } from '../format.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { OUTCOME_LABELS, sumOutcomes } from '../outcomes.ts';
import type { RunProgress } from '../overview.ts';

export function runsTable(runs: readonly RunProgress[]): Html {
  if (runs.length === 0) return html`<p class="missing">No run today yet.</p>`;
  return html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Runs of today, the newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">State</th>
          <th scope="col" class="n">Records</th>
          <th scope="col" class="n">Collected</th>
          <th scope="col" class="n">Sent by ACH</th>
          <th scope="col" class="n">Not paid</th>
        </tr>
      </thead>
      <tbody>
        ${runs.map(runRow)}
      </tbody>
    </table>
  </div>`;
}

function runRow(progress: RunProgress): Html {
  const { run, report } = progress;
  const sums = report === null ? null : sumOutcomes([report]);
  const money = (name: 'collected' | 'sent' | 'unpaid'): Html => {
    if (sums === null) return html`<td class="n" data-label="${OUTCOME_LABELS[name]}">…</td>`;
    const { count: records, amount } = sums[name];
    // On a telephone every cell is a line: those that say nothing would be most of the page.
    return records === 0
      ? html`<td class="n none"><span class="zero">–</span></td>`
      : html`<td class="n" data-label="${OUTCOME_LABELS[name]}">${dollars(amount)}</td>`;
  };
  return html`<tr>
    <th scope="row">
      <a href="/runs/${run.runId}">${run.process}</a>&nbsp;<span class="sub">${clockTime(run.tick)}</span>
    </th>
    <td data-label="State" data-announce="run ${run.runId} is ${run.status}">${runState(progress)}</td>
    <td class="n" data-label="Records">${count(run.due)}</td>
    ${money('collected')} ${money('sent')} ${money('unpaid')}
  </tr>`;
}

export function runState({ run, done }: RunProgress): Html {
  const { status, startedAt, finishedAt, enqueued } = run;
  if (status === 'stopped') return html`<span class="pill bad">stopped itself</span>`;
  if (status === 'complete' && finishedAt !== null)
    return html`<span
      ><span class="pill good">complete</span>
      <span class="sub">in ${duration(startedAt, finishedAt)}</span></span
    >`;
  const label = done === null ? 'under way' : `${count(done)} of ${count(enqueued)} considered`;
  return html`<span>${label}</span
    ><progress
      max="${Math.max(1, enqueued)}"
      value="${done ?? 0}"
      aria-label="Progress of the ${run.process} run"
    >
      ${label}
    </progress>`;
}
