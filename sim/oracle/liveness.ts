import type { Item } from './items.ts';
import { ms, text } from './items.ts';
import type { Neighbours } from './intent-checks.ts';
import type { MoneyOf } from './money-checks.ts';
import { refundsHaveEnded } from './refund-checks.ts';
import type { Report } from './verdict.ts';

const DAY_MS = 86_400_000;

export interface QuietWorld {
  readonly rows: Iterable<Item>;
  readonly pipeline: Iterable<Item>;
  readonly moneyOf: (recordId: string) => MoneyOf;
  readonly isGivenBack: (confirmationId: string) => boolean;
  readonly secondRail: { readonly declines: number; readonly turns: number };
  readonly openAttempts: ReadonlyMap<string, string>;
  readonly neighboursOf: (userId: string) => Neighbours;
  /** The house has been told that the member closed the account. */
  readonly hasClosed: (userId: string) => boolean;
  /** When the last scheduled run of the quiet days began. */
  readonly lastRunMs: number;
  readonly nowMs: number;
  readonly report: Report;
}

/**
 * When faults have stopped for some days, nothing is left over. Every due record was tried,
 * every attempt has its answer, every event is applied, every run has ended.
 */
export function checkLiveness(world: QuietWorld): void {
  for (const [recordId, attemptId] of world.openAttempts)
    world.report({ rule: '2', userId: null, recordId, detail: `attempt ${attemptId} never ended` });
  const rows = [...world.rows];
  const skipped = new Map<string, string>();
  const retried = new Set<string>();
  for (const item of world.pipeline) {
    leftOver(world, item);
    if (isSkipped(world, item)) skipped.set(text(item, 'subscriptionId'), text(item, 'reason'));
    if (isRetried(world, item)) retried.add(text(item, 'subscriptionId'));
  }
  for (const row of rows) {
    if (!mayBeLeft(world, rows, row, skipped.get(text(row, 'subscription_id')))) notTried(world, row);
    if (!retried.has(text(row, 'subscription_id'))) notRetried(world, row);
    notEnded(world, row);
    booksAgree(world, row);
    nothingToCome(world, row);
  }
  const movedMs = (recordId: string): number => world.moneyOf(recordId).lastMs;
  refundsHaveEnded({ ...world, movedMs, beforeMs: world.nowMs - TOLD_MS });
  const { declines, turns } = world.secondRail;
  if (declines >= ENOUGH_DECLINES && turns === 0)
    world.report({
      rule: '6',
      userId: null,
      recordId: null,
      detail: `after ${declines} cards without money no account was asked`,
    });
}

/** A freeze or an event that waits may stand against some of them, not against all. */
const ENOUGH_DECLINES = 10;
/** An event may be on its way for two days, and takes a day to be applied at the most. */
const TOLD_MS = 4 * DAY_MS;
/** Of an entry that the bank says nothing about it is asked after three banking days, with a long weekend among them. */
const ASKED_MS = 7 * DAY_MS;
/** After so long somebody must have asked what became of an entry. */
const ENTRY_MS = 14 * DAY_MS;

const PAID: ReadonlySet<string> = new Set(['COMPLETED', 'ACHSENT']);

/** What the row says of the money is what the bank says. */
function booksAgree({ report, moneyOf, nowMs }: QuietWorld, row: Item): void {
  const [recordId, status] = [text(row, 'subscription_id'), text(row, 'billing_status')];
  const { standing, lastMs } = moneyOf(recordId);
  const wrong = (detail: string): void =>
    report({ rule: '5', userId: text(row, 'user_id'), recordId, detail });
  if (status === 'ACHSENT' && nowMs - ms(text(row, 'last_run_date')) > ENTRY_MS)
    wrong(`is ACHSENT since ${text(row, 'last_run_date')}`);
  if (nowMs - lastMs < (status === 'ACHSENT' ? ASKED_MS : TOLD_MS)) return;
  if (standing > 0 && !PAID.has(status)) wrong(`is ${status}, and the bank has the money`);
  if (standing === 0 && lastMs > 0 && PAID.has(status))
    wrong(`is ${status}, and the bank has given the money back`);
}

const TO_COME: ReadonlySet<string> = new Set(['SCHEDULED', 'PAUSED']);

/** Who has closed the account is not billed for another period. */
function nothingToCome({ report, hasClosed }: QuietWorld, row: Item): void {
  const [userId, status] = [text(row, 'user_id'), text(row, 'billing_status')];
  if (!TO_COME.has(status) || !hasClosed(userId)) return;
  const detail = `is ${status}, and the member has closed the account`;
  report({ rule: '7', userId, recordId: text(row, 'subscription_id'), detail });
}

/** A retry run goes an hour before each scheduled one, and none for most of a day before that. Clocks may be off by an hour. */
const SAME_MORNING_MS = DAY_MS / 2;
const CLOCKS_OFF_MS = DAY_MS / 24;
/** Pauses and old debts have runs of their own, and none on weekends. */
const NEXT_RUN_MS = 4 * DAY_MS;

const isSkipped = ({ lastRunMs }: QuietWorld, item: Item): boolean =>
  /^VERDICT#(scheduled|pause)-/.test(text(item, 'sk')) &&
  text(item, 'verdict') === 'skipped' &&
  lastRunMs - ms(text(item, 'at')) < NEXT_RUN_MS;

/**
 * A period may be left for longer than that where no debit may go to the account, or while an older one is still to be tried
 * or was dealt with on the last day. That there is an older one is looked up, not believed.
 */
function mayBeLeft(
  { lastRunMs }: QuietWorld,
  rows: readonly Item[],
  row: Item,
  reason: string | undefined,
): boolean {
  if (reason !== 'older-period-first') return reason === 'ach-account-blocked';
  return rows.some(
    (other) =>
      text(other, 'user_id') === text(row, 'user_id') &&
      ms(text(other, 'billing_date')) < ms(text(row, 'billing_date')) &&
      (text(other, 'billing_status') === 'SCHEDULED' ||
        lastRunMs - ms(text(other, 'last_run_date')) < DAY_MS),
  );
}

function leftOver({ report, nowMs }: QuietWorld, item: Item): void {
  const [pk, sk] = [text(item, 'pk'), text(item, 'sk')];
  const userId = text(item, 'userId') || null;
  const wrong = (detail: string): void => report({ rule: 'left-over', userId, recordId: null, detail });
  if (pk.startsWith('INBOX#')) wrong(`an event is still in the inbox: ${pk} ${text(item, 'type')}`);
  if (pk === 'RUNS' && text(item, 'status') === 'running' && nowMs - ms(text(item, 'startedAt')) > DAY_MS)
    wrong(`run ${text(item, 'runId')} never ended`);
  if (pk.startsWith('USER#') && sk === 'MEMBERSHIP') wrong(`a member is still flagged: ${pk}`);
  if (pk.startsWith('USER#') && sk === 'QUARANTINED' && item['ids'] !== undefined)
    wrong(`a member is still in quarantine: ${pk}`);
}

/** After thirty days it is the stale run that looks. */
const isRetried = ({ lastRunMs }: QuietWorld, item: Item): boolean =>
  /^VERDICT#(retry|stale)-/.test(text(item, 'sk')) &&
  text(item, 'verdict') !== 'no-op' &&
  lastRunMs - ms(text(item, 'at')) <= SAME_MORNING_MS;

/** Whoever did not pay comes up in every retry run, whatever it makes of them, once the period has begun. */
function notRetried({ report, lastRunMs }: QuietWorld, row: Item): void {
  if (text(row, 'billing_status') !== 'ERROR') return;
  const sinceMs = Math.max(ms(text(row, 'last_run_date')), ms(text(row, 'billing_date')));
  if (lastRunMs - sinceMs <= SAME_MORNING_MS) return;
  const [userId, recordId] = [text(row, 'user_id'), text(row, 'subscription_id')];
  const detail = `is ERROR since ${text(row, 'last_run_date')} and no run looked at it`;
  report({ rule: 'left-over', userId, recordId, detail });
}

/** Old debts are written off after thirty days; a pause ends with its period. */
const ENDS_MS: Readonly<Record<string, number>> = { ERROR: 30 * DAY_MS + NEXT_RUN_MS, PAUSED: NEXT_RUN_MS };

function notEnded({ report, neighboursOf, lastRunMs }: QuietWorld, row: Item): void {
  const [userId, status] = [text(row, 'user_id'), text(row, 'billing_status')];
  const endsMs = ENDS_MS[status];
  if (endsMs === undefined || lastRunMs - ms(text(row, 'billing_date')) <= endsMs) return;
  if (neighboursOf(userId).status !== 'ACTIVE') return;
  const detail = `is ${status}, and of ${text(row, 'billing_date')}`;
  report({ rule: 'left-over', userId, recordId: text(row, 'subscription_id'), detail });
}

/** Of several periods the oldest goes first. */
function notTried({ report, neighboursOf, lastRunMs }: QuietWorld, row: Item): void {
  if (text(row, 'billing_status') !== 'SCHEDULED') return;
  const wantsItNow = text(row, 'updated_event') === 'pause-pending-resume';
  const dueMs = ms(text(row, wantsItNow ? 'last_run_date' : 'billing_date'));
  // What was written after the run was not there for it to find.
  const sinceMs = Math.max(dueMs, ms(text(row, 'last_run_date')) + CLOCKS_OFF_MS);
  if (lastRunMs - sinceMs <= (wantsItNow ? NEXT_RUN_MS : 0)) return;
  const { status } = neighboursOf(text(row, 'user_id'));
  if (status !== 'ACTIVE') return;
  report({
    rule: 'left-over',
    userId: text(row, 'user_id'),
    recordId: text(row, 'subscription_id'),
    detail: `is due since ${new Date(dueMs).toISOString()} and was not tried`,
  });
}
