import { z } from 'zod';
import { runAudit } from '../src/cli/audit-command.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { formatInstant } from '../src/domain/instant.ts';
import { runId } from '../src/domain/runs.ts';
import { newestTick } from '../src/domain/schedule.ts';
import type { ApiDesk } from './api-desk.ts';
import type { Book, PutEvent } from './book.ts';
import type { LastRun, Outcome } from './checks.ts';
import {
  doubleDebits,
  heldBackEvents,
  lostEvents,
  lostPeriods,
  lostRequests,
  untoldChanges,
} from './checks.ts';
import type { Ground } from './ground.ts';
import { readCallbacks, readMoney, readPipeline, readRows, readTold } from './tables.ts';

/** What was found, for machines. */
export interface Findings {
  readonly charges: number;
  readonly double_debits: number;
  readonly lost_periods: number;
  readonly lost_events: number;
  readonly lost_requests: number;
  readonly held_back_events: number;
  readonly audit_violations: number;
  readonly events: number;
  readonly requests: number;
}

export interface Verdict {
  readonly findings: Findings;
  /** What must not have happened, one sentence each. None of the audit's, which tells of its own. */
  readonly violations: readonly string[];
}

interface Witnesses {
  readonly desk: ApiDesk;
  readonly book: Book;
  readonly out: Terminal;
}

/** What is stored, what the bank has, and what was written down on the way, held against each other. */
export async function reachVerdict(ground: Ground, { desk, book, out }: Witnesses): Promise<Verdict> {
  const money = await readMoney(ground);
  const put = [...book.events, ...(await readCallbacks(ground))];
  const { dealtWith } = await readPipeline(ground);
  const outcomes = new Map<string, Outcome | null>();
  for (const { statusUrl } of book.promised) outcomes.set(statusUrl, await outcomeAt(desk, statusUrl));

  const doubled = doubleDebits(money);
  const rows = await readRows(ground);
  const periods = lostPeriods(rows, await lastRun(ground, desk));
  const untold = untoldChanges(rows, await readTold(ground));
  const events = lostEvents(put, dealtWith);
  const heldBack = heldBackEvents(put, dealtWith);
  const requests = lostRequests(book.promised, outcomes);
  const audited = await violationsOfAudit(ground, out);
  return {
    findings: {
      charges: money.filter(({ effect }) => effect === 'debit').length,
      double_debits: doubled.length,
      lost_periods: periods.length,
      lost_events: events.length + untold.length,
      lost_requests: requests.length,
      held_back_events: heldBack.length,
      audit_violations: audited,
      events: put.length,
      requests: book.promised.length,
    },
    violations: [
      ...doubled.map((what) => `debited twice: ${what}`),
      ...periods.map((what) => `period lost: ${what}`),
      ...events.map((event) => `event lost: ${described(event)}`),
      ...heldBack.map((event) => `event in quarantine with which nothing is wrong: ${described(event)}`),
      ...untold.map((change) => `change not told to others: ${change}`),
      ...requests.map(({ what, statusUrl }) => `${what} promised and lost: ${statusUrl}`),
    ],
  };
}

const described = ({ stream, identity, userId, type }: PutEvent): string =>
  `${type} of ${userId}, ${stream} ${identity}`;

const NOT_FOUND = 404;
const heard = z.object({ status: z.string(), outcome: z.string().optional() });

async function outcomeAt(desk: ApiDesk, path: string): Promise<Outcome | null> {
  const { status, body } = await desk.ask({ method: 'GET', path });
  if (status === NOT_FOUND) return null;
  const { status: says, outcome = null } = heard.parse(body);
  return { status: says, outcome };
}

const verdictPage = z.object({
  verdicts: z.array(z.object({ subscription_id: z.string(), verdict: z.string() })),
  next: z.string().nullable(),
});

async function lastRun(ground: Ground, desk: ApiDesk): Promise<LastRun> {
  const tick = newestTick('scheduled', (await ground.bank.time()).now);
  const verdicts = new Map<string, string>();
  const path = `/ops/runs/${runId('scheduled', tick)}/verdicts`;
  for (let query: string | null = ''; query !== null;) {
    const answer = await desk.ask({ method: 'GET', path: path + query });
    const page: z.infer<typeof verdictPage> = verdictPage.parse(answer.body);
    for (const { subscription_id, verdict } of page.verdicts) verdicts.set(subscription_id, verdict);
    query = page.next === null ? null : `?after=${encodeURIComponent(page.next)}`;
  }
  return { tick: formatInstant(tick), verdicts };
}

const audited = z.object({ violations: z.array(z.unknown()), unsettled: z.int() });

/** Whoever never stood still to be audited counts as well: nobody writes any more. */
async function violationsOfAudit(ground: Ground, out: Terminal): Promise<number> {
  let written = '';
  await runAudit(ground.environment, { json: true, write: (text) => (written += text) }, out);
  const { violations, unsettled } = audited.parse(JSON.parse(written));
  return violations.length + unsettled;
}
