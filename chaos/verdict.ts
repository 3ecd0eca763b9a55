import { z } from 'zod';
import { runAudit } from '../src/cli/audit-command.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { msOf } from '../src/domain/instant.ts';
import type { ApiDesk } from './api-desk.ts';
import type { Book, PutEvent } from './book.ts';
import type { LastDebtRuns, LastRun, Outcome } from './checks.ts';
import {
  doubleDebits,
  endings,
  forgottenDebts,
  heldBackEvents,
  lostEvents,
  lostPeriods,
  lostRequests,
  misreadEvents,
  periodsAfterClosing,
  unpaidPeriods,
  unpaidRequests,
  untoldChanges,
} from './checks.ts';
import type { Ground } from './ground.ts';
import type { PipelineState } from './tables.ts';
import { readCallbacks, readMoney, readPipeline, readRows, readTold } from './tables.ts';
import { newestRun } from './timetable.ts';

/** What must not have happened, in the words of the figures. */
type Wrong =
  | 'double_debits'
  | 'unpaid_periods'
  | 'unpaid_requests'
  | 'lost_periods'
  | 'periods_after_closing'
  | 'lost_events'
  | 'lost_requests'
  | 'held_back_events'
  | 'misread_events';

/** What was found, for machines. */
export interface Findings extends Readonly<Record<Wrong | 'audit_violations', number>> {
  readonly charges: number;
  readonly events: number;
  readonly requests: number;
  readonly refused: number;
}

export interface Verdict {
  readonly findings: Findings;
  /** What must not have happened, one sentence each. None of the audit's, which tells of its own. */
  readonly violations: readonly string[];
  /** How many promises came to which end. */
  readonly endings: ReadonlyMap<string, number>;
}

interface Witnesses {
  readonly desk: ApiDesk;
  readonly book: Book;
  readonly out: Terminal;
}

/** What is stored, what the bank has, and what was written down on the way, held against each other. */
export async function reachVerdict(ground: Ground, { desk, book, out }: Witnesses): Promise<Verdict> {
  const evidence = await gather(ground, { desk, book });
  const { money, put, outcomes } = evidence;
  const wrongs = wrongsIn(evidence);
  const counts = Object.entries(wrongs).map(([wrong, sentences]) => [wrong, sentences.length]);
  return {
    findings: {
      charges: money.filter(({ effect }) => effect === 'debit').length,
      ...(Object.fromEntries(counts) as Record<Wrong, number>),
      audit_violations: await violationsOfAudit(ground, out),
      events: put.length,
      requests: book.promised.length,
      refused: book.refused,
    },
    violations: Object.values(wrongs).flat(),
    endings: endings(book.promised, outcomes),
  };
}

type Evidence = Awaited<ReturnType<typeof gather>>;

async function gather(ground: Ground, { desk, book }: Pick<Witnesses, 'desk' | 'book'>) {
  const outcomes = new Map<string, Outcome | null>();
  for (const { statusUrl } of book.promised) outcomes.set(statusUrl, await outcomeAt(desk, statusUrl));
  const pipeline = await readPipeline(ground);
  return {
    book,
    outcomes,
    money: await readMoney(ground),
    put: [...book.events, ...(await readCallbacks(ground))],
    dealtWith: pipeline.dealtWith,
    rows: await readRows(ground),
    told: await readTold(ground),
    lastRun: await lastRun(ground, desk),
    debtRuns: await lastDebtRuns(ground, desk, pipeline),
  };
}

function wrongsIn(evidence: Evidence): Record<Wrong, string[]> {
  const { book, outcomes, money, put, dealtWith, rows, told } = evidence;
  const { promised, paidBefore } = book;
  const owed = forgottenDebts(rows, evidence.debtRuns);
  return {
    double_debits: doubleDebits(money).map((what) => `debited twice: ${what}`),
    unpaid_periods: unpaidPeriods(rows, money, paidBefore).map((what) => `no money at the bank: ${what}`),
    unpaid_requests: unpaidRequests(promised, outcomes, money).map(
      ({ what, statusUrl }) => `no money at the bank: ${what} ${statusUrl}`,
    ),
    lost_periods: [...lostPeriods(rows, evidence.lastRun), ...owed].map((what) => `period lost: ${what}`),
    periods_after_closing: periodsAfterClosing(rows, put, dealtWith).map(
      (what) => `account closed, and a period to come: ${what}`,
    ),
    lost_events: [
      ...lostEvents(put, dealtWith).map((event) => `event lost: ${described(event)}`),
      ...untoldChanges(rows, told).map((change) => `change not told to others: ${change}`),
    ],
    lost_requests: lostRequests(promised, outcomes).map(
      ({ what, statusUrl }) => `${what} promised and lost: ${statusUrl}`,
    ),
    held_back_events: heldBackEvents(put, dealtWith).map(
      (event) => `event in quarantine with which nothing is wrong: ${described(event)}`,
    ),
    misread_events: misreadEvents(put, dealtWith).map(
      (event) => `event applied that nobody can read: ${described(event)}`,
    ),
  };
}

const described = ({ stream, identity, userId, type }: PutEvent): string =>
  `${type} of ${userId}, ${stream} ${identity}`;

const NOT_FOUND = 404;
const heard = z.object({
  status: z.string(),
  outcome: z.string().optional(),
  subscription_id: z.string().optional(),
  float_id: z.string().optional(),
});

async function outcomeAt(desk: ApiDesk, path: string): Promise<Outcome | null> {
  const { status, body } = await desk.ask({ method: 'GET', path });
  if (status === NOT_FOUND) return null;
  const { status: says, outcome = null, ...record } = heard.parse(body);
  return { status: says, outcome, about: nameAtBank(record) };
}

function nameAtBank({
  subscription_id,
  float_id,
}: Pick<z.infer<typeof heard>, 'subscription_id' | 'float_id'>): string | null {
  if (float_id !== undefined) return `FLOAT ${float_id}`;
  return subscription_id === undefined ? null : `SUBSCRIPTION ${subscription_id}`;
}

const verdictPage = z.object({
  verdicts: z.array(z.object({ subscription_id: z.string(), verdict: z.string() })),
  next: z.string().nullable(),
});

async function lastRun(ground: Ground, desk: ApiDesk): Promise<LastRun> {
  const { id, tick } = newestRun('scheduled', msOf((await ground.bank.time()).now));
  return { tick, verdicts: await verdictsOf(desk, id) };
}

async function lastDebtRuns(ground: Ground, desk: ApiDesk, { runs }: PipelineState): Promise<LastDebtRuns> {
  const nowMs = msOf((await ground.bank.time()).now);
  const ids = (['retry', 'stale'] as const).map((run) => newestRun(run, nowMs).id);
  const verdicts = await Promise.all(ids.map((id) => verdictsOf(desk, id)));
  // One that has not begun is found as still open; until it has, nothing can be asked of it.
  const began = ids.map((id) => Date.parse(runs.get(id) ?? '1970-01-01'));
  return { beganMs: Math.min(...began), considered: new Set(verdicts.flatMap((of) => [...of.keys()])) };
}

/** On each record that the run considered. */
async function verdictsOf(desk: ApiDesk, run: string): Promise<Map<string, string>> {
  const verdicts = new Map<string, string>();
  const path = `/ops/runs/${run}/verdicts`;
  for (let query: string | null = ''; query !== null;) {
    const answer = await desk.ask({ method: 'GET', path: path + query });
    if (answer.status === NOT_FOUND) return verdicts;
    const page: z.infer<typeof verdictPage> = verdictPage.parse(answer.body);
    for (const { subscription_id, verdict } of page.verdicts) verdicts.set(subscription_id, verdict);
    query = page.next === null ? null : `?after=${encodeURIComponent(page.next)}`;
  }
  return verdicts;
}

const audited = z.object({ violations: z.array(z.unknown()), unsettled: z.int() });

/** Users the audit could not settle count as violations: nothing writes any more, so nothing should change. */
async function violationsOfAudit(ground: Ground, out: Terminal): Promise<number> {
  let written = '';
  await runAudit(ground.environment, { json: true, write: (text) => (written += text) }, out);
  const { violations, unsettled } = audited.parse(JSON.parse(written));
  return violations.length + unsettled;
}
