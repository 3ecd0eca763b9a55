import { count, plural } from '../../dashboard/format.ts';
import type { Html } from '../../dashboard/html.ts';
import { html } from '../../dashboard/html.ts';
import type { Audited } from '../../src/cli/audit-command.ts';
import { isClean } from '../../src/cli/audit-command.ts';

/** What the audit's README says of its rules, in a line each. */
const RULES = [
  'Nobody was debited twice for one period, counted in the bank’s ledger.',
  'No debit without an intent that was stored before it, and no attempt without an end.',
  'Every record equals its newest history row, and no change is missing.',
  'Only transitions that the table allows, each for its cause.',
  'Nobody paid more than was due, to the cent, and nobody got back what they never paid.',
  'No charge against a freeze, a cancellation, or another charge under way.',
  'Every membership goes on: no period skipped, none doubled.',
  'Cash advances stay within their limits, and the set of open ones is right.',
  'Recurring payments: told before paid, one receipt each, none lost, no card number stored.',
];

const MOST_SHOWN = 50;

export function verdictPart(audited: Audited): Html {
  const { totals } = audited;
  const clean = isClean(audited);
  return html`<section class="verdict ${clean ? 'good' : 'bad'}" aria-labelledby="verdict">
    ${clean ? TICK : CROSS}
    <div>
      <h2 id="verdict">${headline(audited)}</h2>
      <p>
        It checked ${plural(totals.records, 'billing record')} of ${plural(totals.users, 'member')},
        ${plural(totals.floats, 'cash advance')} and ${plural(totals.recurring, 'recurring payment')} with
        ${plural(totals.attempts, 'attempt')} against ${plural(totals.debits, 'debit')} in the bank’s ledger,
        by code that shares nothing with what it checks.
        ${totals.ledgerRead ? null : 'The ledger could not be read, so money was not counted.'}
      </p>
    </div>
  </section>`;
}

function headline({ totals }: Audited): string {
  if (totals.violations > 0)
    return `The audit found ${plural(totals.violations, 'violation')} of what must always hold.`;
  return totals.unsettled > 0
    ? `The audit could not settle ${count(totals.unsettled)} of those whom it looked at.`
    : 'The audit found nothing wrong.';
}

export const rulesPart = ({ violations }: Audited): Html => html`
  <section aria-labelledby="rules">
    <h2 id="rules">What was audited</h2>
    ${violations.length === 0 ? null : violationList(violations)}
    <ul class="rules">
      ${RULES.map((rule) => html`<li>${rule}</li>`)}
    </ul>
  </section>
`;

const violationList = (violations: Audited['violations']): Html =>
  html`<ul>
    ${violations
      .slice(0, MOST_SHOWN)
      .map(
        ({ rule, user_id, subscription_id, detail }) =>
          html`<li>
            Rule ${rule}: <span class="id">${user_id}</span>, <span class="id">${subscription_id}</span>:
            ${detail}
          </li>`,
      )}
    ${
      violations.length > MOST_SHOWN ? html`<li>and ${count(violations.length - MOST_SHOWN)} more</li>` : null
    }
  </ul>`;

const mark = (path: string): Html =>
  html`<svg
    class="mark"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2.2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <circle cx="12" cy="12" r="10" />
    <path d="${path}" />
  </svg>`;
const TICK = mark('M7.5 12.5l3 3 6-6.5');
const CROSS = mark('M8.5 8.5l7 7m0-7l-7 7');
