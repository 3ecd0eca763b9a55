import type { FloatExplanation } from '../../src/app/floats/explain-float.ts';
import type { FloatStoryLine } from '../../src/app/floats/explain-float-story.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import type { AchModel, Float, LogEntry, LogOutcome } from '../../src/domain/floats/float.ts';
import { failedAch } from '../../src/domain/floats/limits.ts';
import type { FloatPage } from '../../src/ports/floats.ts';
import { dollars, plural, time } from '../format.ts';
import { missing } from '../frame.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { MemberFloats } from '../member-floats.ts';
import { dueDay, floatPill, floatUrl, unbroken } from './float-parts.ts';
import { standingSection } from './standing.ts';
import type { Tone } from './timeline.ts';
import { decisionTone, timeline } from './timeline.ts';

/** On the page of a member. Nothing where the member never had a float. */
export function memberFloats({ floats, explanation, today }: MemberFloats): Html | null {
  if (floats === null) return section(missing('The floats'));
  const { floats: all, malformed } = floats.value;
  if (all.length + malformed.length === 0) return null;
  return html`${section(html`${table(floats.value, explanation, today)}${mended(floats.value)}`)}
  ${explanation === null ? null : story(explanation)}`;
}

const section = (content: Html): Html =>
  html`<section aria-labelledby="floats">
    <h2 id="floats">Floats</h2>
    ${content}
  </section>`;

const mended = ({ malformed }: FloatPage): Html | null =>
  malformed.length === 0
    ? null
    : html`<p class="hint">
        ${plural(malformed.length, 'row')} cannot be read:
        ${malformed.map(({ message }) => message).join('; ')}
      </p>`;

const table = ({ floats }: FloatPage, explanation: FloatExplanation | null, today: CalendarDate): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Cash advances, the newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">Due</th>
          <th scope="col">Status</th>
          <th scope="col" class="n">Amount</th>
          <th scope="col">Paid out</th>
          <th scope="col">Float</th>
        </tr>
      </thead>
      <tbody>
        ${floats.map((float) => row(float, explanation, today))}
      </tbody>
    </table>
  </div>`;

const row = (float: Float, explanation: FloatExplanation | null, today: CalendarDate): Html =>
  html`<tr>
    <th scope="row">${dueDay(float.dueDate, today)}</th>
    <td data-label="Status">${floatPill(float.status)}</td>
    <td class="n" data-label="Amount">${dollars(float.amount)}</td>
    <td class="tight" data-label="Paid out">${time(float.createdAt)}</td>
    <td data-label="Float">
      ${
        float.floatId === explanation?.floatId
          ? html`<strong class="id" aria-current="true">${float.floatId}</strong>`
          : html`<a class="id" href="${floatUrl(float)}">${float.floatId}</a>`
      }
    </td>
  </tr>`;

const story = (explanation: FloatExplanation): Html => {
  const { floatId, summary, story: lines, log, unreadable } = explanation;
  return html`${standingSection('float-standing', 'The float right now', explanation)}
    <section aria-labelledby="float-story">
      <h2 id="float-story">What happened to float <span class="id">${floatId}</span></h2>
      <p class="summary">${summary}</p>
      ${timeline(lines.map((line) => ({ ...line, tone: toneOf(line) })))}
      ${unreadable.length === 0 ? null : html`<p class="hint">Not readable: ${unreadable.join('; ')}</p>`}
    </section>
    <section aria-labelledby="float-log">
      <h2 id="float-log">Collection history</h2>
      ${
        log.length === 0
          ? html`<p class="missing">Nothing was tried yet.</p>`
          : html`<p class="sub">${counted(log)}</p>
              ${logTable(log)}`
      }
    </section>`;
};

/** Which limits it comes near to is read from here. */
const counted = (log: readonly LogEntry[]): string =>
  `${plural(new Set(log.flatMap(({ attemptId }) => attemptId ?? [])).size, 'attempt')}, ` +
  `${plural(failedAch(log), 'failed ACH debit')}. The limits are read from this log.`;

const logTable = (log: readonly LogEntry[]): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Rows of the collection history, the newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Stage</th>
          <th scope="col">Outcome</th>
          <th scope="col">Method</th>
          <th scope="col">Decided by</th>
          <th scope="col">Payment</th>
        </tr>
      </thead>
      <tbody>
        ${[...log].reverse().map(logRow)}
      </tbody>
    </table>
  </div>`;

const OUTCOME_TONES: Record<LogOutcome, string> = {
  ACHSENT: 'warn',
  COMPLETED: 'good',
  RETURNED: 'bad',
  DEFAULTED: 'bad',
};

const logRow = ({ runTime, process, outcome, method, achModel, confirmationId }: LogEntry): Html =>
  html`<tr>
    <th scope="row" class="tight">${time(runTime)}</th>
    <td data-label="Stage">${process}</td>
    <td data-label="Outcome"><span class="pill ${OUTCOME_TONES[outcome]}">${outcome}</span></td>
    <td data-label="Method">${method ?? html`<span class="zero">–</span>`}</td>
    <td data-label="Decided by">
      ${achModel === null ? html`<span class="zero">–</span>` : model(achModel)}
    </td>
    <td data-label="Payment">
      ${confirmationId === null ? html`<span class="zero">–</span>` : html`<span class="id">${confirmationId}</span>`}
    </td>
  </tr>`;

const model = ({ version, probability, override, features }: AchModel): Html =>
  html`<span
    ><span class="id">${version}</span>: ${Math.round(probability * 100)} in 100 to be paid
    ${override ? html`<span class="pill warn">overridden</span>` : null}<br /><span class="sub"
      >${Object.entries(features)
        .map(([name, value]) => unbroken(`${name} ${value}`))
        .sort()
        .join(' · ')}</span
    ></span
  >`;

const TONE_OF: Record<LogOutcome, Tone> = {
  ACHSENT: 'attempt',
  COMPLETED: 'good',
  RETURNED: 'bad',
  DEFAULTED: 'bad',
};

function toneOf({ kind, decision, outcome }: FloatStoryLine): Tone {
  if (outcome !== null) return TONE_OF[outcome];
  return decision === null ? kind : decisionTone(decision.verdict);
}
