import { STYLE } from '../../dashboard/assets/style.ts';
import { count, day, dollars, plural } from '../../dashboard/format.ts';
import type { Html, Renderable } from '../../dashboard/html.ts';
import { html } from '../../dashboard/html.ts';
import type { Outcome } from '../../dashboard/outcomes.ts';
import type { Audited } from '../../src/cli/audit-command.ts';
import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import { addDays } from '../../src/domain/calendar-date.ts';
import type { YearFigures } from '../figures/figures.ts';
import type { Headlines } from '../figures/headlines.ts';
import { headlinesOf } from '../figures/headlines.ts';
import { rulesPart, verdictPart } from './audit-part.ts';
import { membersPart } from './members-part.ts';
import { moneyPart } from './money-part.ts';
import { outcomesPart } from './outcomes-part.ts';
import { curvePart, recoveryPart } from './recovery-part.ts';
import { returnsPart } from './returns-part.ts';
import { YEAR_STYLE } from './style.ts';

/** How the year was made. */
export interface Making {
  readonly users: number;
  readonly seed: string;
  readonly from: CalendarDate;
  /** The day after the last. */
  readonly to: CalendarDate;
  readonly durationMs: number;
  readonly runs: number;
  readonly jobs: number;
  readonly failedJobs: number;
  readonly quarantined: number;
}

export interface YearReport {
  readonly figures: YearFigures;
  readonly audited: Audited;
  readonly making: Making;
}

const WHOLE_YEAR = 12;

/** One file that needs nothing else: no script, no picture, no font from anywhere. */
export function yearPage({ figures, audited, making }: YearReport): string {
  const months = figures.money.length;
  const title = months === WHOLE_YEAR ? 'A year of collections' : `${plural(months, 'month')} of collections`;
  const period = `${day(making.from)} – ${day(addDays(making.to, -1))}`;
  const body = html`<main class="year">
    <div class="title">
      <h1>${title}</h1>
      <span class="sub">${period} · ${plural(making.users, 'sandbox member')}</span>
    </div>
    ${verdictPart(audited)} ${tiles(headlinesOf(figures), audited)}
    <div class="grid">
      ${moneyPart(figures.money)} ${curvePart(figures.failedFirst)} ${recoveryPart(figures.recovery)}
      ${membersPart(figures.members)}
    </div>
    ${returnsPart(figures.readings)}
    <div class="grid">${outcomesPart(figures.outcomes)} ${makingPart(making, months)}</div>
    ${rulesPart(audited)}
  </main>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${STYLE}${YEAR_STYLE}</style>
</head>
<body>
${body.toString()}
</body>
</html>
`;
}

const wholePercent = (share: number | null): string =>
  share === null ? '–' : `${(share * 100).toFixed(1)} %`;

function tiles(headlines: Headlines, { totals }: Audited): Html {
  const { collected, givenBack, failedFirst, recovered, members, membersAtFirst, gone, churn } = headlines;
  return html`<dl class="figures">
    ${tile('collected', 'Collected', dollars(collected), `${dollars(givenBack)} given back`)}
    ${tile(
      'sent',
      'Recovered by retry',
      wholePercent(failedFirst === 0 ? null : recovered / failedFirst),
      `${count(recovered)} of ${count(failedFirst)} that failed at first`,
    )}
    ${tile('later', 'Members at the end', count(members), `${count(membersAtFirst)} after the first month`)}
    ${tile('unpaid', 'Left in the year', count(gone), `${wholePercent(churn)} a month on average`)}
    ${tile(
      totals.violations === 0 ? 'collected' : 'trouble',
      'Violations',
      count(totals.violations),
      `in ${plural(totals.attempts, 'attempt')}`,
    )}
  </dl>`;
}

const tile = (edge: Outcome, name: string, large: string, small: Renderable): Html =>
  html`<div class="edge-${edge}">
    <dt>${name}</dt>
    <dd>${large} <small>${small}</small></dd>
  </div>`;

const minutes = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

const commandOf = ({ users, seed }: Making, months: number): string =>
  `npm run demo -- --users ${users} --seed ${seed}${months === WHOLE_YEAR ? '' : ` --months ${months}`}`;

const makingPart = (making: Making, months: number): Html => html`
  <section aria-labelledby="making">
    <h2 id="making">How it was made</h2>
    <p class="lead">
      By the whole system on one machine: scheduler, workers, bridges, API and console as they are in life, on
      Redis, DynamoDB Local, a Kinesis emulator and a pretend bank whose clock was turned from run to run.
      What members did came over the users stream and the REST API; what the bank had to say over the payments
      stream. All figures are read from what was stored, none from what was planned.
    </p>
    <dl class="facts">
      <dt>Members at the start</dt>
      <dd>${count(making.users)}</dd>
      <dt>Seed</dt>
      <dd>
        ${making.seed}: the same seed and number give the same people and the same things that befall them
      </dd>
      <dt>Runs</dt>
      <dd>${count(making.runs)}, every one that was due</dd>
      <dt>Jobs</dt>
      <dd>${count(making.jobs)} done, ${count(making.failedJobs)} failed</dd>
      <dt>Events in quarantine</dt>
      <dd>${count(making.quarantined)}</dd>
      <dt>Took</dt>
      <dd>${minutes(making.durationMs)}</dd>
      <dt>Again</dt>
      <dd><code>${commandOf(making, months)}</code></dd>
    </dl>
  </section>
`;
