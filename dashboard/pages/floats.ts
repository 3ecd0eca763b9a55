import { reasonText } from '../../src/app/explain-texts.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import type { Float, FloatStatus } from '../../src/domain/floats/float.ts';
import { OPEN_FLOAT_STATUSES } from '../../src/domain/floats/float.ts';
import { addMoney } from '../../src/domain/money.ts';
import type { Due, FloatsFigures, StatusFigures } from '../floats-desk.ts';
import { DUE, END_DAYS, LISTED, dueOf } from '../floats-desk.ts';
import { count, day, dollars, percent, plural } from '../format.ts';
import { LIVE_LIGHT, missing } from '../frame.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { Fragments } from '../live.ts';
import type { Sum } from '../outcomes.ts';
import type { RunProgress } from '../overview.ts';
import type { Answer } from '../patience.ts';
import { bar } from '../plots.ts';
import { dueDay, floatPill, floatUrl } from './float-parts.ts';
import { runsTable } from './runs-table.ts';

export interface FloatsView {
  readonly figures: Answer<FloatsFigures>;
  /** Those of today, of floats only. */
  readonly runs: Answer<readonly RunProgress[]>;
}

/** Cash advances: what is due, what is on its way, what is overdue and what is lost. */
export const floatsPage = (view: FloatsView): Html => html`
  <div class="title">
    <h1>Floats</h1>
    <span class="sub">cash advances that members pay back</span>
    ${LIVE_LIGHT}
  </div>
  <div data-fragment="floats">${floatsPart(view)}</div>
`;

export const floatsFragments = (view: FloatsView): Fragments => ({ floats: floatsPart(view).toString() });

const floatsPart = ({ figures, runs }: FloatsView): Html =>
  html`${figures === null ? null : html`${unreadable(figures.value)}${headline(figures.value)}`}
    <section aria-labelledby="float-runs">
      <h2 id="float-runs">Runs of floats</h2>
      ${runs === null ? missing('The runs') : runsTable(runs.value)}
    </section>
    ${figures === null ? html`<section>${missing('The floats')}</section>` : tables(figures.value)}`;

const allFigures = ({ open, paidBack, givenUp }: FloatsFigures): StatusFigures[] => [
  ...Object.values(open),
  paidBack,
  givenUp,
];

function unreadable(figures: FloatsFigures): Html | null {
  const rows = allFigures(figures).reduce((sum, { unreadable: some }) => sum + some, 0);
  return rows === 0
    ? null
    : html`<div class="banner warn">
        <p>${plural(rows, 'row')} of floats cannot be read. Nobody touches them until they are mended.</p>
      </div>`;
}

function headline({ open, paidBack, givenUp, nextBankingDay }: FloatsFigures): Html {
  const { SCHEDULING: waiting, ACHSENT: sent, RETRY: retried, UNCOLLECTABLE: stuck } = open;
  const dueNow = plus(waiting.byDue.before, waiting.byDue.today);
  return html`<dl class="figures">
    ${figure('later', 'Due by today', dueNow, waiting.isAll)}
    ${figure('later', `Due by ${day(nextBankingDay).slice(0, -5)}`, waiting.byDue.next, waiting.isAll)}
    ${figure('sent', 'On its way by ACH', sent.all, sent.isAll)}
    ${figure('unpaid', 'Overdue', plus(retried.all, stuck.all), retried.isAll && stuck.isAll)}
    ${figure('collected', `Paid back, ${END_DAYS} days`, paidBack.all, paidBack.isAll)}
    ${figure('trouble', `Given up, ${END_DAYS} days`, givenUp.all, givenUp.isAll)}
  </dl>`;
}

const plus = (one: Sum, other: Sum): Sum => ({
  count: one.count + other.count,
  amount: addMoney(one.amount, other.amount),
});

const figure = (edge: string, label: string, sum: Sum, isAll: boolean): Html =>
  html`<div class="edge-${edge}">
    <dt>${label}</dt>
    <dd>${atLeast(isAll)}${dollars(sum.amount)} <small>${plural(sum.count, 'float')}</small></dd>
  </div>`;

/** Of a long table only the beginning is counted. */
const atLeast = (isAll: boolean): Html | null =>
  isAll ? null : html`<span title="There are more than were counted">≥ </span>`;

const tables = (figures: FloatsFigures): Html =>
  html`<section aria-labelledby="float-statuses">
      <h2 id="float-statuses">Open floats by status and due date</h2>
      ${statusTable(figures)}
    </section>
    <div class="grid">
      <section aria-labelledby="float-ages">
        <h2 id="float-ages">How long overdue</h2>
        ${ages(figures)}
      </section>
      <section aria-labelledby="float-ends">
        <h2 id="float-ends">How the last ${END_DAYS} days ended</h2>
        ${ends(figures)}
      </section>
    </div>
    ${lists(figures)}`;

const DUE_LABELS: Record<Due, string> = {
  before: 'Before today',
  today: 'Today',
  next: 'Next banking day',
  later: 'Later',
};

const statusTable = ({ open }: FloatsFigures): Html =>
  html`<div class="scroll">
    <table class="stack">
      <caption class="quiet">
        Floats that are not paid back, by status and due date
      </caption>
      <thead>
        <tr>
          <th scope="col">Status</th>
          ${DUE.map((due) => html`<th scope="col" class="n">${DUE_LABELS[due]}</th>`)}
          <th scope="col" class="n">All</th>
        </tr>
      </thead>
      <tbody>
        ${OPEN_FLOAT_STATUSES.map(
          (status) =>
            html`<tr>
              <th scope="row">${floatPill(status)} <span class="sub">${MEANINGS[status]}</span></th>
              ${DUE.map((due) => sumCell(DUE_LABELS[due], open[status].byDue[due]))}
              ${sumCell('All', open[status].all, open[status].isAll)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

const MEANINGS: Record<FloatStatus, string> = {
  SCHEDULING: 'waits for its day',
  ACHSENT: 'the bank has it',
  RETRY: 'is tried again',
  UNCOLLECTABLE: 'nothing to charge',
  COMPLETED: 'paid back',
  DEFAULTED: 'given up',
};

const sumCell = (label: string, sum: Sum, isAll = true): Html =>
  sum.count === 0
    ? html`<td class="n" data-label="${label}"><span class="zero">–</span></td>`
    : html`<td class="n" data-label="${label}">
        <span>${atLeast(isAll)}${dollars(sum.amount)} <small class="sub">${count(sum.count)}</small></span>
      </td>`;

function ages({ ages: all }: FloatsFigures): Html {
  const most = Math.max(1, ...all.map(({ sum }) => sum.amount));
  return html`${all.map(({ label, sum }) => barLine(label, sum, sum.amount / most, 'unpaid'))}`;
}

function ends({ paidBack, givenUp }: FloatsFigures): Html {
  const most = Math.max(1, paidBack.all.amount, givenUp.all.amount);
  const ended = paidBack.all.count + givenUp.all.count;
  return html`${barLine('Paid back', paidBack.all, paidBack.all.amount / most, 'collected')}
    ${barLine('Given up', givenUp.all, givenUp.all.amount / most, 'trouble')}
    <p class="hint">
      ${
        ended === 0
          ? 'None has ended yet.'
          : `${percent(givenUp.all.count / ended)} of the floats that were due since then and have ended were given up.`
      }
    </p>`;
}

const barLine = (label: string, sum: Sum, share: number, fill: 'unpaid' | 'collected' | 'trouble'): Html =>
  html`<div class="rate">
    <div class="line">
      <span>${label}</span>
      ${
        sum.count === 0
          ? html`<span class="zero">none</span>`
          : html`<span>${dollars(sum.amount)} <span class="sub">${plural(sum.count, 'float')}</span></span>`
      }
    </div>
    ${bar(share, fill)}
  </div>`;

function lists({ open, givenUp, newestGivenUp, today, nextBankingDay }: FloatsFigures): Html {
  const { SCHEDULING: waiting, RETRY: retried, UNCOLLECTABLE: stuck } = open;
  const due = (...dues: readonly Due[]): Float[] =>
    waiting.first.filter(({ dueDate }) => dues.includes(dueOf(dueDate, today, nextBankingDay)));
  const overdue = [...retried.first, ...stuck.first].sort((a, b) => (a.dueDate < b.dueDate ? -1 : 1));
  return html`<div class="grid">
      ${list({
        id: 'due-today',
        title: 'Due by today',
        floats: due('before', 'today'),
        of: waiting.byDue.before.count + waiting.byDue.today.count,
        nothing: 'Nothing waits for its day today.',
        today,
      })}
      ${list({
        id: 'due-next',
        title: 'Due by the next banking day',
        floats: due('next'),
        of: waiting.byDue.next.count,
        nothing: 'Nothing is due then.',
        today,
      })}
    </div>
    <div class="grid">
      ${list({
        id: 'overdue',
        title: 'Longest overdue',
        floats: overdue,
        of: retried.all.count + stuck.all.count,
        nothing: 'Nothing is overdue.',
        today,
        tellsWhy: true,
      })}
      ${list({
        id: 'given-up',
        title: 'Given up',
        floats: newestGivenUp,
        of: Math.max(givenUp.all.count, newestGivenUp.length),
        nothing: 'Nothing was ever given up.',
        today,
        tellsWhy: true,
      })}
    </div>`;
}

interface List {
  readonly id: string;
  readonly title: string;
  readonly floats: readonly Float[];
  /** So many there are, as far as they were counted. */
  readonly of: number;
  readonly nothing: string;
  readonly today: CalendarDate;
  readonly tellsWhy?: boolean;
}

function list({ id, title, floats, of, nothing, today, tellsWhy = false }: List): Html {
  const shown = floats.slice(0, LISTED);
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${
      shown.length === 0
        ? html`<p class="missing">${nothing}</p>`
        : html`${floatTable(title, shown, today, tellsWhy)}
          ${of > shown.length ? html`<p class="hint">${shown.length} of ${count(of)}</p>` : null}`
    }
  </section>`;
}

const floatTable = (
  caption: string,
  floats: readonly Float[],
  today: CalendarDate,
  tellsWhy: boolean,
): Html =>
  html`<div class="scroll">
    <table class="dense">
      <caption class="quiet">
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Due</th>
          <th scope="col" class="n">Amount</th>
        </tr>
      </thead>
      <tbody>
        ${floats.map(
          (float) =>
            html`<tr>
              <th scope="row">
                <a class="id" href="${floatUrl(float)}">${float.userId}</a>
                ${tellsWhy ? html`<br /><span class="reasons">${reasonText(float.error)}</span>` : null}
              </th>
              <td class="tight">${dueDay(float.dueDate, today, tellsWhy ? html`<br />` : ' ')}</td>
              <td class="n">${dollars(float.amount)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
